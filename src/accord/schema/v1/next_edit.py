"""`nes/*`: an agent suggests the next edit while the user types.

The official schema has dropped it.  Kept behind a switch.
"""

from typing import TYPE_CHECKING, ClassVar, Literal, TypeAlias

from accord.schema.struct import (
    UNSET,
    Int64,
    Patch,
    Uint32,
    Uint64,
    UnknownVariant,
    WireStruct,
    check_uint64,
)
from accord.schema.v1.documents import Position, Range, WorkspaceFolder

NesSuggestionId: TypeAlias = str
NesDiagnosticSeverity: TypeAlias = Literal["error", "warning", "information", "hint"] | str
NesRejectReason: TypeAlias = Literal["rejected", "ignored", "replaced", "cancelled"] | str
NesTriggerKind: TypeAlias = Literal["automatic", "diagnostic", "manual"] | str


class NesRepository(WireStruct, frozen=True, kw_only=True):
    """The repository of the workspace."""

    __unstable__: ClassVar[bool] = True

    name: str
    owner: str
    remote_url: str


class StartNesRequest(WireStruct, frozen=True, kw_only=True):
    """Open a session for suggestions."""

    __unstable__: ClassVar[bool] = True

    workspace_uri: Patch[str] = UNSET
    workspace_folders: Patch[list[WorkspaceFolder]] = UNSET
    repository: Patch[NesRepository] = UNSET


class StartNesResponse(WireStruct, frozen=True, kw_only=True):
    """The session for suggestions."""

    __unstable__: ClassVar[bool] = True

    session_id: str


class CloseNesRequest(WireStruct, frozen=True, kw_only=True):
    """End a session for suggestions."""

    __unstable__: ClassVar[bool] = True

    session_id: str


class CloseNesResponse(WireStruct, frozen=True, kw_only=True):
    """The session for suggestions is over."""

    __unstable__: ClassVar[bool] = True


class NesRecentFile(WireStruct, frozen=True, kw_only=True):
    """A file that was used lately, with its text."""

    __unstable__: ClassVar[bool] = True

    uri: str
    language_id: str
    text: str


class NesExcerpt(WireStruct, frozen=True, kw_only=True):
    """Some lines of a file."""

    __unstable__: ClassVar[bool] = True

    start_line: Uint32
    end_line: Uint32
    text: str


class NesRelatedSnippet(WireStruct, frozen=True, kw_only=True):
    """Excerpts of a file that have to do with the place."""

    __unstable__: ClassVar[bool] = True

    uri: str
    excerpts: list[NesExcerpt]


class NesEditHistoryEntry(WireStruct, frozen=True, kw_only=True):
    """A recent edit, as a diff."""

    __unstable__: ClassVar[bool] = True

    uri: str
    diff: str


class NesUserAction(WireStruct, frozen=True, kw_only=True):
    """Something the user did."""

    __unstable__: ClassVar[bool] = True

    action: str
    uri: str
    position: Position
    timestamp_ms: Uint64

    def __post_init__(self) -> None:
        check_uint64(self.timestamp_ms)


class NesOpenFile(WireStruct, frozen=True, kw_only=True):
    """A file that is open."""

    __unstable__: ClassVar[bool] = True

    uri: str
    language_id: str
    visible_range: Patch[Range] = UNSET
    last_focused_ms: Patch[Uint64] = UNSET

    def __post_init__(self) -> None:
        check_uint64(self.last_focused_ms)


class NesDiagnostic(WireStruct, frozen=True, kw_only=True):
    """A finding of a compiler or linter."""

    __unstable__: ClassVar[bool] = True

    uri: str
    range: Range
    severity: NesDiagnosticSeverity
    message: str


class NesSuggestContext(WireStruct, frozen=True, kw_only=True):
    """What the agent asked to be told with a request."""

    __unstable__: ClassVar[bool] = True

    recent_files: Patch[list[NesRecentFile]] = UNSET
    related_snippets: Patch[list[NesRelatedSnippet]] = UNSET
    edit_history: Patch[list[NesEditHistoryEntry]] = UNSET
    user_actions: Patch[list[NesUserAction]] = UNSET
    open_files: Patch[list[NesOpenFile]] = UNSET
    diagnostics: Patch[list[NesDiagnostic]] = UNSET


class SuggestNesRequest(WireStruct, frozen=True, kw_only=True):
    """Ask for suggestions at a place."""

    __unstable__: ClassVar[bool] = True

    session_id: str
    uri: str
    version: Int64
    position: Position
    selection: Patch[Range] = UNSET
    trigger_kind: NesTriggerKind
    context: Patch[NesSuggestContext] = UNSET


class NesTextEdit(WireStruct, frozen=True, kw_only=True):
    """Replace a stretch of text."""

    __unstable__: ClassVar[bool] = True

    range: Range
    new_text: str


class NesEditSuggestion(WireStruct, frozen=True, kw_only=True, tag_field="kind", tag="edit"):
    __unstable__: ClassVar[bool] = True

    id: NesSuggestionId
    uri: str
    edits: list[NesTextEdit]
    cursor_position: Patch[Position] = UNSET


class NesJumpSuggestion(WireStruct, frozen=True, kw_only=True, tag_field="kind", tag="jump"):
    """Go to a place."""

    __unstable__: ClassVar[bool] = True

    id: NesSuggestionId
    uri: str
    position: Position


class NesRenameSuggestion(WireStruct, frozen=True, kw_only=True, tag_field="kind", tag="rename"):
    __unstable__: ClassVar[bool] = True

    id: NesSuggestionId
    uri: str
    position: Position
    new_name: str


class NesSearchAndReplaceSuggestion(
    WireStruct, frozen=True, kw_only=True, tag_field="kind", tag="searchAndReplace"
):
    """Search and replace in a file."""

    __unstable__: ClassVar[bool] = True

    id: NesSuggestionId
    uri: str
    search: str
    replace: str
    is_regex: Patch[bool] = UNSET


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


class SuggestNesResponse(WireStruct, frozen=True, kw_only=True):
    """The suggestions, best first."""

    __unstable__: ClassVar[bool] = True

    suggestions: list[NesSuggestion]


class AcceptNesNotification(WireStruct, frozen=True, kw_only=True):
    """The user took a suggestion."""

    __unstable__: ClassVar[bool] = True

    session_id: str
    id: NesSuggestionId


class RejectNesNotification(WireStruct, frozen=True, kw_only=True):
    """The user did not take a suggestion."""

    __unstable__: ClassVar[bool] = True

    session_id: str
    id: NesSuggestionId
    reason: Patch[NesRejectReason] = UNSET


__all__ = [
    "AcceptNesNotification",
    "CloseNesRequest",
    "CloseNesResponse",
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
