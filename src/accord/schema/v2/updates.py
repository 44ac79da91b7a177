"""`session/update`: the stream in which everything visible of a session arrives.

This is the hot path.  The union is msgspec's own and decoded in C; none of the members that come
by the thousand (chunks, tool calls, terminal output) has a hook in Python.
"""

from typing import TYPE_CHECKING, Annotated, Literal, TypeAlias

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
from accord.schema.v2.commands import AvailableCommandsUpdate
from accord.schema.v2.config_options import ConfigOptionUpdate
from accord.schema.v2.content import ContentBlock
from accord.schema.v2.identifiers import CompactionId, MessageId, SessionId
from accord.schema.v2.plans import PlanRemoved, PlanUpdate
from accord.schema.v2.state import StateUpdate
from accord.schema.v2.subagents import SessionMessage, SessionMessageChunk, SubagentUpdate
from accord.schema.v2.terminals import TerminalOutputChunk, TerminalUpdate
from accord.schema.v2.tool_calls import ToolCallContentChunk, ToolCallUpdate

NoticeSeverity: TypeAlias = Literal["info", "warning", "error"] | str
CompactionStatus: TypeAlias = Literal["in_progress", "completed", "failed", "cancelled"] | str
NoticeTitle = Annotated[str, Meta(min_length=1)]


class ContentChunk(WireStruct, frozen=True, kw_only=True):
    """One more block at the end of a message; chunks of several messages may interleave."""

    message_id: MessageId
    content: ContentBlock


class UserMessageChunk(
    ContentChunk, frozen=True, kw_only=True, tag_field="sessionUpdate", tag="user_message_chunk"
):
    """A chunk of a user message."""


class AgentMessageChunk(
    ContentChunk, frozen=True, kw_only=True, tag_field="sessionUpdate", tag="agent_message_chunk"
):
    """A chunk of an agent message."""


class AgentThoughtChunk(
    ContentChunk, frozen=True, kw_only=True, tag_field="sessionUpdate", tag="agent_thought_chunk"
):
    """More of what the agent thinks."""


class MessagePatch(WireStruct, frozen=True, kw_only=True):
    """A whole message: its content replaces everything before it, `[]` and null clear it."""

    message_id: MessageId
    content: ES[Patch[list[ContentBlock]]] = UNSET


class UserMessage(
    MessagePatch, frozen=True, kw_only=True, tag_field="sessionUpdate", tag="user_message"
):
    """A message of the user: the echo of a prompt, or history."""


class AgentMessage(
    MessagePatch, frozen=True, kw_only=True, tag_field="sessionUpdate", tag="agent_message"
):
    """A message of the agent."""


class AgentThought(
    MessagePatch, frozen=True, kw_only=True, tag_field="sessionUpdate", tag="agent_thought"
):
    """A thought of the agent."""


class SessionInfoUpdate(
    WireStruct, frozen=True, kw_only=True, tag_field="sessionUpdate", tag="session_info_update"
):
    """The session's title or time of change is now another; null clears."""

    title: E[Patch[str]] = UNSET
    updated_at: E[Patch[str]] = UNSET


class Cost(WireStruct, frozen=True, kw_only=True):
    """What the session has cost so far, in a currency or any other unit."""

    amount: float
    currency: str


class UsageUpdate(
    WireStruct, frozen=True, kw_only=True, tag_field="sessionUpdate", tag="usage_update"
):
    """How full the context is; the cost stays when it is left out and goes when it is null."""

    used: Uint64
    size: Uint64
    cost: E[Patch[Cost]] = UNSET

    def __post_init__(self) -> None:
        check_uint64(self.used, self.size)


class Notice(WireStruct, frozen=True, kw_only=True, tag_field="sessionUpdate", tag="notice"):
    """A notice for the user; it has no id and is not replayed."""

    severity: NoticeSeverity
    title: NoticeTitle
    description: E[Patch[str]] = UNSET


class CompactionUpdate(
    WireStruct, frozen=True, kw_only=True, tag_field="sessionUpdate", tag="compaction_update"
):
    """The context is, or was, being compacted; the first sight of the id fixes its place."""

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
        | UserMessage
        | AgentMessageChunk
        | AgentMessage
        | AgentThoughtChunk
        | AgentThought
        | StateUpdate
        | ToolCallContentChunk
        | ToolCallUpdate
        | TerminalUpdate
        | TerminalOutputChunk
        | PlanUpdate
        | PlanRemoved
        | AvailableCommandsUpdate
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
        | UserMessage
        | AgentMessageChunk
        | AgentMessage
        | AgentThoughtChunk
        | AgentThought
        | StateUpdate
        | ToolCallContentChunk
        | ToolCallUpdate
        | TerminalUpdate
        | TerminalOutputChunk
        | PlanUpdate
        | PlanRemoved
        | AvailableCommandsUpdate
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


class UpdateSessionNotification(WireStruct, frozen=True, kw_only=True):
    """One update of one session; it may come at any time while the session exists."""

    session_id: SessionId
    update: SessionUpdate
