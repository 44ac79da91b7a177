"""`session/update`: everything that an agent reports while it works.

This is the hot path: the union is msgspec's own, so a good update is decoded without a line of
Python.  None of the frequent members may have a `__post_init__`.
"""

from typing import TYPE_CHECKING, Annotated, ClassVar, Literal, TypeAlias

from msgspec import Meta

from accord.schema.struct import (
    ES,
    UNSET,
    E,
    Patch,
    Uint64,
    UnknownVariant,
    WireStruct,
    check_uint64,
)
from accord.schema.v1.commands import AvailableCommandsUpdate
from accord.schema.v1.config_options import SessionConfigOption
from accord.schema.v1.content import ContentBlock
from accord.schema.v1.modes import SessionModeId
from accord.schema.v1.plans import Plan, PlanRemoved, PlanUpdate
from accord.schema.v1.subagents import SessionMessage, SessionMessageChunk, SubagentUpdate
from accord.schema.v1.tool_calls import ToolCall, ToolCallUpdate

MessageId: TypeAlias = str
CompactionId: TypeAlias = str
NoticeSeverity: TypeAlias = Literal["info", "warning", "error"] | str
CompactionStatus: TypeAlias = Literal["in_progress", "completed", "failed", "cancelled"] | str


class ContentChunk(WireStruct, frozen=True, kw_only=True):
    """One more block of a message; the same id means the same message.

    Never sent as such: the three chunks below say whose message it is.
    """

    content: ContentBlock
    message_id: E[Patch[MessageId]] = UNSET


class UserMessageChunk(
    ContentChunk, frozen=True, kw_only=True, tag_field="sessionUpdate", tag="user_message_chunk"
):
    """A chunk of the user's message."""


class AgentMessageChunk(
    ContentChunk, frozen=True, kw_only=True, tag_field="sessionUpdate", tag="agent_message_chunk"
):
    """A piece of the agent's answer."""


class AgentThoughtChunk(
    ContentChunk, frozen=True, kw_only=True, tag_field="sessionUpdate", tag="agent_thought_chunk"
):
    """A piece of the agent's reasoning."""


class CurrentModeUpdate(
    WireStruct, frozen=True, kw_only=True, tag_field="sessionUpdate", tag="current_mode_update"
):
    """The mode changed.  Some agents follow an old example and call the key `modeId`."""

    __aliases__: ClassVar[dict[str, str]] = {"modeId": "currentModeId"}

    current_mode_id: SessionModeId


class ConfigOptionUpdate(
    WireStruct, frozen=True, kw_only=True, tag_field="sessionUpdate", tag="config_option_update"
):
    """All config options as they are now."""

    config_options: ES[list[SessionConfigOption]]


class SessionInfoUpdate(
    WireStruct, frozen=True, kw_only=True, tag_field="sessionUpdate", tag="session_info_update"
):
    """The session's entry in the list; absent keeps, null clears."""

    title: E[Patch[str]] = UNSET
    updated_at: E[Patch[str]] = UNSET


class Cost(WireStruct, frozen=True, kw_only=True):
    """What the session has cost so far."""

    amount: float
    currency: str


class UsageUpdate(
    WireStruct, frozen=True, kw_only=True, tag_field="sessionUpdate", tag="usage_update"
):
    """How full the context window is."""

    used: Uint64
    size: Uint64
    cost: E[Patch[Cost]] = UNSET

    def __post_init__(self) -> None:
        check_uint64(self.used, self.size)


class Notice(WireStruct, frozen=True, kw_only=True, tag_field="sessionUpdate", tag="notice"):
    """Something the user may want to know now; it is not replayed and fails nothing."""

    severity: NoticeSeverity
    title: Annotated[str, Meta(min_length=1)]
    description: E[Patch[str]] = UNSET


class CompactionUpdate(
    WireStruct, frozen=True, kw_only=True, tag_field="sessionUpdate", tag="compaction_update"
):
    """The agent shortens its context; absent keeps, null clears."""

    compaction_id: CompactionId
    status: CompactionStatus
    summary: ES[Patch[list[ContentBlock]]] = UNSET
    error: E[Patch[str]] = UNSET


class CompactionSummaryChunk(
    WireStruct,
    frozen=True,
    kw_only=True,
    tag_field="sessionUpdate",
    tag="compaction_summary_chunk",
):
    """One more block of a compaction's summary."""

    compaction_id: CompactionId
    content: ContentBlock


if TYPE_CHECKING:
    SessionUpdate: TypeAlias = (
        UserMessageChunk
        | AgentMessageChunk
        | AgentThoughtChunk
        | ToolCall
        | ToolCallUpdate
        | Plan
        | PlanUpdate
        | PlanRemoved
        | AvailableCommandsUpdate
        | CurrentModeUpdate
        | ConfigOptionUpdate
        | SessionInfoUpdate
        | UsageUpdate
        | Notice
        | CompactionUpdate
        | CompactionSummaryChunk
        | SubagentUpdate
        | SessionMessage
        | SessionMessageChunk
        | UnknownVariant
    )
else:
    SessionUpdate = (
        UserMessageChunk
        | AgentMessageChunk
        | AgentThoughtChunk
        | ToolCall
        | ToolCallUpdate
        | Plan
        | PlanUpdate
        | PlanRemoved
        | AvailableCommandsUpdate
        | CurrentModeUpdate
        | ConfigOptionUpdate
        | SessionInfoUpdate
        | UsageUpdate
        | Notice
        | CompactionUpdate
        | CompactionSummaryChunk
        | SubagentUpdate
        | SessionMessage
        | SessionMessageChunk
    )


class SessionNotification(WireStruct, frozen=True, kw_only=True):
    """One update of one session."""

    session_id: str
    update: SessionUpdate
