"""What either side of v2 of August 2026 said about suggestions of edits.  Gone since."""

from typing import ClassVar

from accord.schema.struct import UNSET, E, Patch, Uint32, WireStruct
from accord.schema.v2.documents import TextDocumentSyncKind


class NesJumpCapabilities(WireStruct, frozen=True, kw_only=True):
    """The client can show jumps."""

    __unstable__: ClassVar[bool] = True


class NesRenameCapabilities(WireStruct, frozen=True, kw_only=True):
    """The client can show renames."""

    __unstable__: ClassVar[bool] = True


class NesSearchAndReplaceCapabilities(WireStruct, frozen=True, kw_only=True):
    """The client can show search and replace."""

    __unstable__: ClassVar[bool] = True


class ClientNesCapabilities(WireStruct, frozen=True, kw_only=True):
    """Which kinds of suggestion the client can show besides edits."""

    __unstable__: ClassVar[bool] = True

    jump: E[Patch[NesJumpCapabilities]] = UNSET
    rename: E[Patch[NesRenameCapabilities]] = UNSET
    search_and_replace: E[Patch[NesSearchAndReplaceCapabilities]] = UNSET


class NesDocumentDidOpenCapabilities(WireStruct, frozen=True, kw_only=True):
    """It wants to know of opened documents."""

    __unstable__: ClassVar[bool] = True


class NesDocumentDidChangeCapabilities(WireStruct, frozen=True, kw_only=True):
    """It wants changes of documents, whole or as edits."""

    __unstable__: ClassVar[bool] = True

    sync_kind: TextDocumentSyncKind


class NesDocumentDidCloseCapabilities(WireStruct, frozen=True, kw_only=True):
    """It wants to know of closed documents."""

    __unstable__: ClassVar[bool] = True


class NesDocumentDidSaveCapabilities(WireStruct, frozen=True, kw_only=True):
    """It wants to know of saved documents."""

    __unstable__: ClassVar[bool] = True


class NesDocumentDidFocusCapabilities(WireStruct, frozen=True, kw_only=True):
    """It wants to know what the user looks at."""

    __unstable__: ClassVar[bool] = True


class NesDocumentEventCapabilities(WireStruct, frozen=True, kw_only=True):
    """Which events of documents it wants."""

    __unstable__: ClassVar[bool] = True

    did_open: E[Patch[NesDocumentDidOpenCapabilities]] = UNSET
    did_change: E[Patch[NesDocumentDidChangeCapabilities]] = UNSET
    did_close: E[Patch[NesDocumentDidCloseCapabilities]] = UNSET
    did_save: E[Patch[NesDocumentDidSaveCapabilities]] = UNSET
    did_focus: E[Patch[NesDocumentDidFocusCapabilities]] = UNSET


class NesEventCapabilities(WireStruct, frozen=True, kw_only=True):
    """Which events it wants."""

    __unstable__: ClassVar[bool] = True

    document: E[Patch[NesDocumentEventCapabilities]] = UNSET


class NesRecentFilesCapabilities(WireStruct, frozen=True, kw_only=True):
    """It wants files that were open lately."""

    __unstable__: ClassVar[bool] = True

    max_count: E[Patch[Uint32]] = UNSET


class NesRelatedSnippetsCapabilities(WireStruct, frozen=True, kw_only=True):
    """It wants related pieces of code."""

    __unstable__: ClassVar[bool] = True


class NesEditHistoryCapabilities(WireStruct, frozen=True, kw_only=True):
    """It wants the latest edits."""

    __unstable__: ClassVar[bool] = True

    max_count: E[Patch[Uint32]] = UNSET


class NesUserActionsCapabilities(WireStruct, frozen=True, kw_only=True):
    """It wants the latest actions of the user."""

    __unstable__: ClassVar[bool] = True

    max_count: E[Patch[Uint32]] = UNSET


class NesOpenFilesCapabilities(WireStruct, frozen=True, kw_only=True):
    """It wants the open files."""

    __unstable__: ClassVar[bool] = True


class NesDiagnosticsCapabilities(WireStruct, frozen=True, kw_only=True):
    __unstable__: ClassVar[bool] = True


class NesContextCapabilities(WireStruct, frozen=True, kw_only=True):
    """What it wants to be told with each question."""

    __unstable__: ClassVar[bool] = True

    recent_files: E[Patch[NesRecentFilesCapabilities]] = UNSET
    related_snippets: E[Patch[NesRelatedSnippetsCapabilities]] = UNSET
    edit_history: E[Patch[NesEditHistoryCapabilities]] = UNSET
    user_actions: E[Patch[NesUserActionsCapabilities]] = UNSET
    open_files: E[Patch[NesOpenFilesCapabilities]] = UNSET
    diagnostics: E[Patch[NesDiagnosticsCapabilities]] = UNSET


class NesCapabilities(WireStruct, frozen=True, kw_only=True):
    """What an agent that suggests edits wants to be told."""

    __unstable__: ClassVar[bool] = True

    events: E[Patch[NesEventCapabilities]] = UNSET
    context: E[Patch[NesContextCapabilities]] = UNSET


__all__ = [
    "ClientNesCapabilities",
    "NesCapabilities",
    "NesContextCapabilities",
    "NesDiagnosticsCapabilities",
    "NesDocumentDidChangeCapabilities",
    "NesDocumentDidCloseCapabilities",
    "NesDocumentDidFocusCapabilities",
    "NesDocumentDidOpenCapabilities",
    "NesDocumentDidSaveCapabilities",
    "NesDocumentEventCapabilities",
    "NesEditHistoryCapabilities",
    "NesEventCapabilities",
    "NesJumpCapabilities",
    "NesOpenFilesCapabilities",
    "NesRecentFilesCapabilities",
    "NesRelatedSnippetsCapabilities",
    "NesRenameCapabilities",
    "NesSearchAndReplaceCapabilities",
    "NesUserActionsCapabilities",
]
