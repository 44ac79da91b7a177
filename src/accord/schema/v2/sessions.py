"""The life of a session: new, resume, list, close, delete, and the unstable rest."""

from typing import TYPE_CHECKING, ClassVar, Literal, TypeAlias

from accord.schema.struct import (
    ES,
    UNSET,
    AbsolutePath,
    E,
    Omit,
    Patch,
    U,
    UnknownVariant,
    UnstableStruct,
    WireStruct,
    Z,
)
from accord.schema.v2.commands import AvailableCommand
from accord.schema.v2.config_options import SessionConfigOption
from accord.schema.v2.content import ContentBlock
from accord.schema.v2.identifiers import SessionId, SessionListCursor
from accord.schema.v2.mcp import McpServer
from accord.schema.v2.state import StateSnapshot

SystemPromptMode: TypeAlias = Literal["append", "override"] | str
SessionArchiveFilter: TypeAlias = Literal["exclude", "include", "only"] | str
SessionStatus: TypeAlias = Literal["open", "saved"] | str


class SystemPrompt(UnstableStruct, frozen=True, kw_only=True):
    """Instructions for the agent; a mode it does not support is an error, never swapped."""

    mode: SystemPromptMode
    content: list[ContentBlock]


class NewSessionRequest(WireStruct, frozen=True, kw_only=True):
    """Start a session in a directory."""

    cwd: AbsolutePath
    additional_directories: Z[Omit[list[AbsolutePath]]] = UNSET
    mcp_servers: Z[Omit[list[McpServer]]] = UNSET
    system_prompt: U[Patch[SystemPrompt]] = UNSET


class NewSessionResponse(WireStruct, frozen=True, kw_only=True):
    """The session exists, and is idle unless an update has already reported another state."""

    session_id: SessionId
    config_options: ES[Omit[list[SessionConfigOption]]] = UNSET
    available_commands: ES[Omit[list[AvailableCommand]]] = UNSET


class ReplayFromStart(WireStruct, frozen=True, kw_only=True, tag_field="type", tag="start"):
    """Replay everything that was kept."""


class ReplayFromNowhere(WireStruct, frozen=True, kw_only=True, tag_field="type", tag=""):
    """Stands in no message.  A union of two makes the decoder insist on `type`: a cursor without
    it is malformed and must be refused, and msgspec does not ask a lone struct for its tag."""


if TYPE_CHECKING:
    ReplayFrom: TypeAlias = ReplayFromStart | ReplayFromNowhere | UnknownVariant
else:
    ReplayFrom = ReplayFromStart | ReplayFromNowhere


class ResumeSessionRequest(WireStruct, frozen=True, kw_only=True):
    """Go on with a session: its own directory, and the complete lists again.

    History is replayed only if `replay_from` says from where; every value of it but
    `ReplayFromStart` is refused.
    """

    session_id: SessionId
    cwd: AbsolutePath
    additional_directories: Z[Omit[list[AbsolutePath]]] = UNSET
    mcp_servers: Z[Omit[list[McpServer]]] = UNSET
    replay_from: Patch[ReplayFrom] = UNSET
    system_prompt: U[Patch[SystemPrompt]] = UNSET


class ResumeSessionResponse(WireStruct, frozen=True, kw_only=True):
    """Sent after the replay and one current state."""

    config_options: ES[Omit[list[SessionConfigOption]]] = UNSET
    available_commands: ES[Omit[list[AvailableCommand]]] = UNSET


class ListSessionsRequest(WireStruct, frozen=True, kw_only=True):
    """Ask for sessions, of one directory or of all, page by page."""

    cwd: Patch[AbsolutePath] = UNSET
    cursor: Patch[SessionListCursor] = UNSET
    archived: U[Patch[SessionArchiveFilter]] = UNSET


class SessionInfo(WireStruct, frozen=True, kw_only=True):
    """A session in the list."""

    session_id: SessionId
    cwd: str
    additional_directories: Z[Omit[list[str]]] = UNSET
    title: E[Patch[str]] = UNSET
    updated_at: E[Patch[str]] = UNSET
    archived: U[E[Patch[bool]]] = UNSET


class ListSessionsResponse(WireStruct, frozen=True, kw_only=True):
    """One page; it is the last if there is no cursor.  The empty string is a cursor."""

    sessions: ES[list[SessionInfo]]
    next_cursor: Patch[SessionListCursor] = UNSET


class CloseSessionRequest(WireStruct, frozen=True, kw_only=True):
    """Stop everything in a session and free what it holds."""

    session_id: SessionId


class CloseSessionResponse(WireStruct, frozen=True, kw_only=True):
    """Closed; nothing more follows for that session."""


class DeleteSessionRequest(WireStruct, frozen=True, kw_only=True):
    """Remove a session from the lists for good."""

    session_id: SessionId


class DeleteSessionResponse(WireStruct, frozen=True, kw_only=True):
    """Deleted, or it was not there."""


class ForkSessionRequest(UnstableStruct, frozen=True, kw_only=True):
    """Start a session that continues another's history on its own."""

    session_id: SessionId
    cwd: AbsolutePath
    additional_directories: Z[Omit[list[AbsolutePath]]] = UNSET
    mcp_servers: Z[Omit[list[McpServer]]] = UNSET
    system_prompt: Patch[SystemPrompt] = UNSET


class ForkSessionResponse(UnstableStruct, frozen=True, kw_only=True):
    """The fork is there and active."""

    session_id: SessionId
    config_options: ES[Omit[list[SessionConfigOption]]] = UNSET
    available_commands: ES[Omit[list[AvailableCommand]]] = UNSET


class ArchiveSessionRequest(UnstableStruct, frozen=True, kw_only=True):
    """Close a session if it lives, and hide it from lists."""

    session_id: SessionId


class ArchiveSessionResponse(UnstableStruct, frozen=True, kw_only=True):
    """Archived, now or before."""


class UnarchiveSessionRequest(UnstableStruct, frozen=True, kw_only=True):
    """Show a session in lists again, without loading it."""

    session_id: SessionId


class UnarchiveSessionResponse(WireStruct, frozen=True, kw_only=True):
    __unstable__: ClassVar[bool] = True


class SessionStatusRequest(UnstableStruct, frozen=True, kw_only=True):
    """Ask whether a session is in memory and what it is doing; asking changes nothing."""

    session_id: SessionId


class SessionStatusResponse(UnstableStruct, frozen=True, kw_only=True):
    """A missing `state` is not idle, and a status that we do not know is `saved`."""

    status: SessionStatus
    state: E[Patch[StateSnapshot]] = UNSET


class SetSessionTitleRequest(UnstableStruct, frozen=True, kw_only=True):
    session_id: SessionId
    title: str


class SetSessionTitleResponse(UnstableStruct, frozen=True, kw_only=True):
    """The stored title, which is the one to show."""

    title: str
