"""Child sessions, their state, and messages between sessions.  All of it is unstable in v1."""

from typing import TYPE_CHECKING, ClassVar, Literal, TypeAlias

from accord.schema.struct import ES, UNSET, E, Patch, UnknownVariant, UnstableStruct, WireStruct
from accord.schema.v1.content import ContentBlock
from accord.schema.v1.errors import Error
from accord.schema.v1.prompt import Usage

IdleStopReason: TypeAlias = (
    Literal["end_turn", "max_tokens", "max_turn_requests", "refusal", "cancelled", "error"] | str
)


class RunningStateUpdate(WireStruct, frozen=True, kw_only=True, tag_field="state", tag="running"):
    __unstable__: ClassVar[bool] = True


class IdleStateUpdate(UnstableStruct, frozen=True, kw_only=True, tag_field="state", tag="idle"):
    """The child waits for more; why it stopped, if it said so.  `error` goes with that reason."""

    usage: E[Patch[Usage]] = UNSET
    stop_reason: E[Patch[IdleStopReason]] = UNSET
    error: E[Patch[Error]] = UNSET


class RequiresActionStateUpdate(
    UnstableStruct, frozen=True, kw_only=True, tag_field="state", tag="requires_action"
):
    """The child waits for the user."""


class UnknownStateUpdate(
    UnstableStruct, frozen=True, kw_only=True, tag_field="state", tag="unknown"
):
    """The agent does not know the state."""


if TYPE_CHECKING:
    StateUpdate: TypeAlias = (
        RunningStateUpdate
        | IdleStateUpdate
        | RequiresActionStateUpdate
        | UnknownStateUpdate
        | UnknownVariant
    )
else:
    StateUpdate = (
        RunningStateUpdate | IdleStateUpdate | RequiresActionStateUpdate | UnknownStateUpdate
    )


class SessionCancelCapabilities(UnstableStruct, frozen=True, kw_only=True):
    """Marker: the client may cancel the child."""


class SubagentSessionCapabilities(UnstableStruct, frozen=True, kw_only=True):
    """What the client may do to a child."""

    cancel: E[Patch[SessionCancelCapabilities]] = UNSET


class SubagentUpdate(
    UnstableStruct, frozen=True, kw_only=True, tag_field="sessionUpdate", tag="subagent_update"
):
    """A child session, new or changed; absent keeps, null clears."""

    session_id: str
    title: E[Patch[str]] = UNSET
    description: E[Patch[str]] = UNSET
    capabilities: E[Patch[SubagentSessionCapabilities]] = UNSET
    state: E[Patch[StateUpdate]] = UNSET
    cwd: Patch[str] = UNSET
    additional_directories: Patch[list[str]] = UNSET


class SessionMessage(
    UnstableStruct, frozen=True, kw_only=True, tag_field="sessionUpdate", tag="session_message"
):
    """A message between sessions, new or changed, as one of them sees it."""

    message_id: str
    sender_session_id: E[Patch[str]] = UNSET
    recipient_session_id: E[Patch[str]] = UNSET
    sender_message_id: E[Patch[str]] = UNSET
    recipient_message_id: E[Patch[str]] = UNSET
    content: ES[Patch[list[ContentBlock]]] = UNSET


class SessionMessageChunk(
    UnstableStruct,
    frozen=True,
    kw_only=True,
    tag_field="sessionUpdate",
    tag="session_message_chunk",
):
    """One more block of a message between sessions."""

    message_id: str
    content: ContentBlock
