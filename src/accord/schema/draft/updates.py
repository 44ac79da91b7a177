"""The updates of an agent of the 2026-02 draft: nine kinds of `session/update`.

The envelope keeps the data as it was sent; `decode_update` reads it by the type beside it, and
`update_notification` is the way back.  The draft's list of types is closed, yet a type that we do
not know is kept whole rather than refused, as everywhere in this folder.
"""

from typing import Literal, TypeAlias

from accord.schema.codec import Invalid, decode, encode
from accord.schema.draft.tool_calls import ToolCall, ToolCallUpdate
from accord.schema.struct import UNSET, Omit, Raw, Uint64, UnknownVariant, WireStruct, Z

UpdateType: TypeAlias = (
    Literal[
        "plan",
        "agent_message_chunk",
        "user_message_chunk",
        "thought_message_chunk",
        "tool_call",
        "tool_call_update",
        "available_commands",
        "current_mode_update",
        "config_option_update",
    ]
    | str
)
# Other values than these occur, so that fields with one are plain texts.
PlanStepStatus: TypeAlias = Literal["pending", "in_progress", "completed"] | str
ConfigOptionSource: TypeAlias = Literal["user", "agent"] | str


class SessionNotification(WireStruct, frozen=True, kw_only=True):
    """The envelope of an update; `data` is an object whose form depends on `type`."""

    session_id: str
    type: UpdateType
    data: Raw
    timestamp: Z[Omit[str]] = UNSET


class PlanStep(WireStruct, frozen=True, kw_only=True):
    """One step of a plan."""

    id: str
    description: str
    status: str


class Plan(WireStruct, frozen=True, kw_only=True):
    """The whole plan as it stands."""

    plan_id: str
    steps: list[PlanStep]


class MessageChunk(WireStruct, frozen=True, kw_only=True):
    """A piece of a message.  An `index` of 0, or a piece after a final one, starts the next."""

    content: str
    index: Z[Omit[Uint64]] = UNSET
    final: Z[Omit[bool]] = UNSET


class AgentMessageChunk(MessageChunk, frozen=True, kw_only=True):
    """A chunk of the agent's message."""


class UserMessageChunk(MessageChunk, frozen=True, kw_only=True):
    """A chunk of the user's message."""


class ThoughtMessageChunk(WireStruct, frozen=True, kw_only=True):
    """A piece of what the agent thinks, which may not be meant for the user's eyes."""

    content: str
    index: Z[Omit[Uint64]] = UNSET
    visible: Z[Omit[bool]] = UNSET


class Command(WireStruct, frozen=True, kw_only=True):
    name: str
    description: str


class AvailableCommands(WireStruct, frozen=True, kw_only=True):
    """All slash commands that can be given now."""

    commands: list[Command]


class CurrentModeUpdate(WireStruct, frozen=True, kw_only=True):
    """The mode has changed, for whatever reason."""

    previous_mode: str
    current_mode: str
    reason: Z[Omit[str]] = UNSET


class ConfigOptionUpdate(WireStruct, frozen=True, kw_only=True):
    """An option has changed, for whatever reason."""

    key: str
    current_value: Raw
    previous_value: Omit[Raw] = UNSET
    source: Z[Omit[str]] = UNSET


UpdateData: TypeAlias = (
    Plan
    | AgentMessageChunk
    | UserMessageChunk
    | ThoughtMessageChunk
    | ToolCall
    | ToolCallUpdate
    | AvailableCommands
    | CurrentModeUpdate
    | ConfigOptionUpdate
)

UPDATE_TYPES: dict[str, type[UpdateData]] = {
    "plan": Plan,
    "agent_message_chunk": AgentMessageChunk,
    "user_message_chunk": UserMessageChunk,
    "thought_message_chunk": ThoughtMessageChunk,
    "tool_call": ToolCall,
    "tool_call_update": ToolCallUpdate,
    "available_commands": AvailableCommands,
    "current_mode_update": CurrentModeUpdate,
    "config_option_update": ConfigOptionUpdate,
}
_NAMES = {data: name for name, data in UPDATE_TYPES.items()}


def decode_update(
    notification: SessionNotification, *, notes: list[str] | None = None, strict: bool = False
) -> UpdateData | UnknownVariant:
    """Read the data of an update by its type; notes and `strict` are those of `codec.decode`.

    Raises:
        Invalid: the data is not what the type demands, with a path from the notification's root.
    """
    wanted = UPDATE_TYPES.get(notification.type)
    if wanted is None:
        if strict:
            raise Invalid("$.type", f"unknown variant {notification.type!r}")
        if notes is not None:
            notes.append(f"unknown variant {notification.type!r} (at $.type)")
        return UnknownVariant("type", notification.type, bytes(notification.data))
    found: list[str] = []
    try:
        value = decode(wanted, notification.data, notes=found, strict=strict)
    except Invalid as error:
        raise Invalid(f"$.data{error.path[1:]}", error.reason) from None
    if notes is not None:
        notes.extend("(at $.data".join(note.rsplit("(at $", 1)) for note in found)
    return value


def update_notification(
    session_id: str, data: UpdateData, *, timestamp: Omit[str] = UNSET
) -> SessionNotification:
    """The envelope for an update, its type taken from the class of the data."""
    return SessionNotification(
        session_id=session_id,
        type=_NAMES[type(data)],
        data=Raw(encode(data)),
        timestamp=timestamp,
    )
