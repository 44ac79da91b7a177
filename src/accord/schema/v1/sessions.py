"""Creating, loading, listing and ending sessions."""

from typing import Literal, TypeAlias

from accord.schema.struct import (
    ES,
    UNSET,
    AbsolutePath,
    E,
    Omit,
    Patch,
    U,
    UnstableStruct,
    WireStruct,
    Z,
)
from accord.schema.v1.config_options import SessionConfigOption
from accord.schema.v1.content import ContentBlock
from accord.schema.v1.mcp import McpServer
from accord.schema.v1.models import SessionModelState
from accord.schema.v1.modes import SessionModeState

SessionId: TypeAlias = str
SystemPromptMode: TypeAlias = Literal["append", "override"] | str
SessionArchiveFilter: TypeAlias = Literal["exclude", "include", "only"] | str
SessionStatus: TypeAlias = Literal["open", "saved"] | str


class SystemPrompt(UnstableStruct, frozen=True, kw_only=True):
    """Instructions that the client adds to, or puts in place of, the agent's own."""

    mode: SystemPromptMode
    content: list[ContentBlock]


class NewSessionRequest(WireStruct, frozen=True, kw_only=True):
    """Open a session in a directory."""

    cwd: AbsolutePath
    additional_directories: Z[Omit[list[AbsolutePath]]] = UNSET
    mcp_servers: Z[list[McpServer]]
    system_prompt: U[Patch[SystemPrompt]] = UNSET


class NewSessionResponse(WireStruct, frozen=True, kw_only=True):
    """The new session.  `models` is an older form of a config option of category `model`."""

    session_id: SessionId
    modes: E[Patch[SessionModeState]] = UNSET
    config_options: ES[Patch[list[SessionConfigOption]]] = UNSET
    models: E[Patch[SessionModelState]] = UNSET


class LoadSessionRequest(WireStruct, frozen=True, kw_only=True):
    """Open a stored session and replay its history."""

    mcp_servers: Z[list[McpServer]]
    cwd: AbsolutePath
    additional_directories: Z[Omit[list[AbsolutePath]]] = UNSET
    session_id: SessionId
    system_prompt: U[Patch[SystemPrompt]] = UNSET


class LoadSessionResponse(WireStruct, frozen=True, kw_only=True):
    """The history has been sent."""

    modes: E[Patch[SessionModeState]] = UNSET
    config_options: ES[Patch[list[SessionConfigOption]]] = UNSET
    models: E[Patch[SessionModelState]] = UNSET


class ResumeSessionRequest(WireStruct, frozen=True, kw_only=True):
    """Open a stored session without replay."""

    session_id: SessionId
    cwd: AbsolutePath
    additional_directories: Z[Omit[list[AbsolutePath]]] = UNSET
    mcp_servers: Z[Omit[list[McpServer]]] = UNSET
    system_prompt: U[Patch[SystemPrompt]] = UNSET


class ResumeSessionResponse(WireStruct, frozen=True, kw_only=True):
    """The session can be prompted again."""

    modes: E[Patch[SessionModeState]] = UNSET
    config_options: ES[Patch[list[SessionConfigOption]]] = UNSET
    models: E[Patch[SessionModelState]] = UNSET


class ForkSessionRequest(UnstableStruct, frozen=True, kw_only=True):
    """Open a new session with the context of another."""

    session_id: SessionId
    cwd: AbsolutePath
    additional_directories: Z[Omit[list[AbsolutePath]]] = UNSET
    mcp_servers: Z[Omit[list[McpServer]]] = UNSET
    system_prompt: Patch[SystemPrompt] = UNSET


class ForkSessionResponse(UnstableStruct, frozen=True, kw_only=True):
    """The fork, which is active at once."""

    session_id: SessionId
    modes: E[Patch[SessionModeState]] = UNSET
    config_options: ES[Patch[list[SessionConfigOption]]] = UNSET


class ListSessionsRequest(WireStruct, frozen=True, kw_only=True):
    """Ask for one page of the agent's sessions."""

    cwd: Patch[AbsolutePath] = UNSET
    cursor: Patch[str] = UNSET
    archived: U[Patch[SessionArchiveFilter]] = UNSET


class SessionInfo(WireStruct, frozen=True, kw_only=True):
    """A session in the list.  Its paths are shown, not opened, so they are not checked."""

    session_id: SessionId
    cwd: str
    additional_directories: ES[Omit[list[str]]] = UNSET
    title: E[Patch[str]] = UNSET
    updated_at: E[Patch[str]] = UNSET
    archived: U[E[Patch[bool]]] = UNSET


class ListSessionsResponse(WireStruct, frozen=True, kw_only=True):
    """One page; no `next_cursor` means that it is the last one."""

    sessions: ES[list[SessionInfo]]
    next_cursor: E[Patch[str]] = UNSET


class CloseSessionRequest(WireStruct, frozen=True, kw_only=True):
    """Stop a session's work and free what it holds."""

    session_id: SessionId


class CloseSessionResponse(WireStruct, frozen=True, kw_only=True):
    """The session is closed."""


class DeleteSessionRequest(WireStruct, frozen=True, kw_only=True):
    """Take a session off the list for good."""

    session_id: SessionId


class DeleteSessionResponse(WireStruct, frozen=True, kw_only=True):
    """The session is off the list."""


class ArchiveSessionRequest(UnstableStruct, frozen=True, kw_only=True):
    """Hide a session from the default list."""

    session_id: SessionId


class ArchiveSessionResponse(UnstableStruct, frozen=True, kw_only=True):
    """The session is hidden."""


class UnarchiveSessionRequest(UnstableStruct, frozen=True, kw_only=True):
    """Show a hidden session again."""

    session_id: SessionId


class UnarchiveSessionResponse(UnstableStruct, frozen=True, kw_only=True):
    """The session is listed again."""


class SessionStatusRequest(UnstableStruct, frozen=True, kw_only=True):
    """Ask whether a session is in the agent's memory."""

    session_id: SessionId


class SessionStatusResponse(UnstableStruct, frozen=True, kw_only=True):
    """Where the session is; a status that is not understood means saved."""

    status: SessionStatus


class SetSessionTitleRequest(UnstableStruct, frozen=True, kw_only=True):
    session_id: SessionId
    title: str


class SetSessionTitleResponse(UnstableStruct, frozen=True, kw_only=True):
    """The title as the agent stored it."""

    title: str
