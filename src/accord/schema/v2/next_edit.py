"""Suggestions of edits, and MCP connections with a life of their own: v2 of August 2026.

Nothing in v2 of today uses these types; they are for talking to peers of that time, and unstable
all of them.  Optional fields are read tolerantly, like everywhere.
"""

from typing import TYPE_CHECKING, ClassVar, Literal, TypeAlias

from accord.schema.struct import (
    UNSET,
    E,
    Int64,
    NonEmpty,
    Patch,
    Uint32,
    Uint64,
    UnknownVariant,
    WireStruct,
)
from accord.schema.v2.documents import Position, Range, WorkspaceFolder
from accord.schema.v2.identifiers import McpServerAcpId, SessionId

McpConnectionId: TypeAlias = str
NesSuggestionId: TypeAlias = str
NesDiagnosticSeverity: TypeAlias = Literal["error", "warning", "information", "hint"] | str
NesRejectReason: TypeAlias = Literal["rejected", "ignored", "replaced", "cancelled"] | str
NesTriggerKind: TypeAlias = Literal["automatic", "diagnostic", "manual"] | str


class AcceptNesNotification(WireStruct, frozen=True, kw_only=True):
    """The user took a suggestion."""

    __unstable__: ClassVar[bool] = True

    session_id: SessionId
    suggestion_id: NesSuggestionId


class CloseNesRequest(WireStruct, frozen=True, kw_only=True):
    """End a session of suggestions."""

    __unstable__: ClassVar[bool] = True

    session_id: SessionId


class CloseNesResponse(WireStruct, frozen=True, kw_only=True):
    __unstable__: ClassVar[bool] = True


class ConnectMcpRequest(WireStruct, frozen=True, kw_only=True):
    """Open a connection to an MCP server behind the client."""

    __unstable__: ClassVar[bool] = True

    server_id: McpServerAcpId


class ConnectMcpResponse(WireStruct, frozen=True, kw_only=True):
    """The connection that later messages name."""

    __unstable__: ClassVar[bool] = True

    connection_id: McpConnectionId


class DisconnectMcpRequest(WireStruct, frozen=True, kw_only=True):
    """Close such a connection."""

    __unstable__: ClassVar[bool] = True

    connection_id: McpConnectionId


class DisconnectMcpResponse(WireStruct, frozen=True, kw_only=True):
    __unstable__: ClassVar[bool] = True


class NesDiagnostic(WireStruct, frozen=True, kw_only=True):
    """A complaint of a compiler or linter."""

    __unstable__: ClassVar[bool] = True

    uri: str
    range: Range
    severity: NesDiagnosticSeverity
    message: str


class NesEditHistoryEntry(WireStruct, frozen=True, kw_only=True):
    """One of the latest edits."""

    __unstable__: ClassVar[bool] = True

    uri: str
    diff: str


class NesTextEdit(WireStruct, frozen=True, kw_only=True):
    """New text for a range."""

    __unstable__: ClassVar[bool] = True

    range: Range
    new_text: str


class NesEditSuggestion(WireStruct, frozen=True, kw_only=True, tag_field="kind", tag="edit"):
    __unstable__: ClassVar[bool] = True

    suggestion_id: NesSuggestionId
    uri: str
    edits: NonEmpty[NesTextEdit]
    cursor_position: E[Patch[Position]] = UNSET


class NesExcerpt(WireStruct, frozen=True, kw_only=True):
    """Some lines of a file."""

    __unstable__: ClassVar[bool] = True

    start_line: Uint32
    end_line: Uint32
    text: str


class NesJumpSuggestion(WireStruct, frozen=True, kw_only=True, tag_field="kind", tag="jump"):
    __unstable__: ClassVar[bool] = True

    suggestion_id: NesSuggestionId
    uri: str
    position: Position


class NesOpenFile(WireStruct, frozen=True, kw_only=True):
    """A file that is open."""

    __unstable__: ClassVar[bool] = True

    uri: str
    language_id: str
    visible_range: E[Patch[Range]] = UNSET
    last_focused_ms: E[Patch[Uint64]] = UNSET


class NesRecentFile(WireStruct, frozen=True, kw_only=True):
    """A file that was open lately."""

    __unstable__: ClassVar[bool] = True

    uri: str
    language_id: str
    text: str


class NesRelatedSnippet(WireStruct, frozen=True, kw_only=True):
    """Pieces of a file that may matter."""

    __unstable__: ClassVar[bool] = True

    uri: str
    excerpts: list[NesExcerpt]


class NesRenameSuggestion(WireStruct, frozen=True, kw_only=True, tag_field="kind", tag="rename"):
    """Rename what stands there."""

    __unstable__: ClassVar[bool] = True

    suggestion_id: NesSuggestionId
    uri: str
    position: Position
    new_name: str


class NesRepository(WireStruct, frozen=True, kw_only=True):
    """The repository that the workspace is a clone of."""

    __unstable__: ClassVar[bool] = True

    name: str
    owner: str
    remote_url: str


class NesSearchAndReplaceSuggestion(
    WireStruct, frozen=True, kw_only=True, tag_field="kind", tag="searchAndReplace"
):
    __unstable__: ClassVar[bool] = True

    suggestion_id: NesSuggestionId
    uri: str
    search: str
    replace: str
    is_regex: E[Patch[bool]] = UNSET


if TYPE_CHECKING:
    NesSuggestion: TypeAlias = (
        NesEditSuggestion
        | NesJumpSuggestion
        | NesRenameSuggestion
        | NesSearchAndReplaceSuggestion
        | UnknownVariant
    )
else:
    NesSuggestion = (
        NesEditSuggestion | NesJumpSuggestion | NesRenameSuggestion | NesSearchAndReplaceSuggestion
    )


class NesUserAction(WireStruct, frozen=True, kw_only=True):
    """Something that the user did."""

    __unstable__: ClassVar[bool] = True

    action: str
    uri: str
    position: Position
    timestamp_ms: Uint64


class NesSuggestContext(WireStruct, frozen=True, kw_only=True):
    """What the agent may want to know besides the cursor."""

    __unstable__: ClassVar[bool] = True

    recent_files: E[Patch[list[NesRecentFile]]] = UNSET
    related_snippets: E[Patch[list[NesRelatedSnippet]]] = UNSET
    edit_history: E[Patch[list[NesEditHistoryEntry]]] = UNSET
    user_actions: E[Patch[list[NesUserAction]]] = UNSET
    open_files: E[Patch[list[NesOpenFile]]] = UNSET
    diagnostics: E[Patch[list[NesDiagnostic]]] = UNSET


class RejectNesNotification(WireStruct, frozen=True, kw_only=True):
    """The user did not take a suggestion."""

    __unstable__: ClassVar[bool] = True

    session_id: SessionId
    suggestion_id: NesSuggestionId
    reason: E[Patch[NesRejectReason]] = UNSET


class StartNesRequest(WireStruct, frozen=True, kw_only=True):
    """Begin a session of suggestions."""

    __unstable__: ClassVar[bool] = True

    workspace_uri: E[Patch[str]] = UNSET
    workspace_folders: E[Patch[list[WorkspaceFolder]]] = UNSET
    repository: E[Patch[NesRepository]] = UNSET


class StartNesResponse(WireStruct, frozen=True, kw_only=True):
    """The session that later messages name."""

    __unstable__: ClassVar[bool] = True

    session_id: SessionId


class SuggestNesRequest(WireStruct, frozen=True, kw_only=True):
    """What could come next, here?"""

    __unstable__: ClassVar[bool] = True

    session_id: SessionId
    uri: str
    version: Int64
    position: Position
    selection: E[Patch[Range]] = UNSET
    trigger_kind: NesTriggerKind
    context: E[Patch[NesSuggestContext]] = UNSET


class SuggestNesResponse(WireStruct, frozen=True, kw_only=True):
    """What could come next."""

    __unstable__: ClassVar[bool] = True

    suggestions: list[NesSuggestion]


__all__ = [
    "AcceptNesNotification",
    "CloseNesRequest",
    "CloseNesResponse",
    "ConnectMcpRequest",
    "ConnectMcpResponse",
    "DisconnectMcpRequest",
    "DisconnectMcpResponse",
    "McpConnectionId",
    "NesDiagnostic",
    "NesDiagnosticSeverity",
    "NesEditHistoryEntry",
    "NesEditSuggestion",
    "NesExcerpt",
    "NesJumpSuggestion",
    "NesOpenFile",
    "NesRecentFile",
    "NesRejectReason",
    "NesRelatedSnippet",
    "NesRenameSuggestion",
    "NesRepository",
    "NesSearchAndReplaceSuggestion",
    "NesSuggestContext",
    "NesSuggestion",
    "NesSuggestionId",
    "NesTextEdit",
    "NesTriggerKind",
    "NesUserAction",
    "RejectNesNotification",
    "StartNesRequest",
    "StartNesResponse",
    "SuggestNesRequest",
    "SuggestNesResponse",
]
