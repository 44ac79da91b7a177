"""Child sessions of a session, and the messages that sessions send each other.  Unstable."""

from accord.schema.struct import EN, ES, UNSET, E, Patch, UnstableStruct
from accord.schema.v2.capabilities import SubagentSessionCapabilities
from accord.schema.v2.content import ContentBlock
from accord.schema.v2.identifiers import MessageId, SessionId
from accord.schema.v2.state import StateSnapshot


class SubagentUpdate(
    UnstableStruct, frozen=True, kw_only=True, tag_field="sessionUpdate", tag="subagent_update"
):
    """Announces a child session to its parent's readers, and patches what is known of it.

    A `state` of null is "activity unknown", not idle.
    """

    session_id: SessionId
    title: E[Patch[str]] = UNSET
    description: E[Patch[str]] = UNSET
    capabilities: EN[Patch[SubagentSessionCapabilities]] = UNSET
    state: E[Patch[StateSnapshot]] = UNSET
    cwd: Patch[str] = UNSET
    additional_directories: Patch[list[str]] = UNSET


class SessionMessage(
    UnstableStruct, frozen=True, kw_only=True, tag_field="sessionUpdate", tag="session_message"
):
    """A message between two sessions as one of them sees it; an upsert."""

    message_id: MessageId
    sender_session_id: E[Patch[SessionId]] = UNSET
    recipient_session_id: E[Patch[SessionId]] = UNSET
    sender_message_id: E[Patch[MessageId]] = UNSET
    recipient_message_id: E[Patch[MessageId]] = UNSET
    content: ES[Patch[list[ContentBlock]]] = UNSET


class SessionMessageChunk(
    UnstableStruct,
    frozen=True,
    kw_only=True,
    tag_field="sessionUpdate",
    tag="session_message_chunk",
):
    """One more block at the end of such a message."""

    message_id: MessageId
    content: ContentBlock
