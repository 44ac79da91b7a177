"""What editors and agents can do about next-edit suggestions.

The official schema has dropped them.  Kept behind a switch.
"""

from typing import ClassVar

from accord.schema.struct import UNSET, Patch, Uint32, WireStruct
from accord.schema.v1.documents import TextDocumentSyncKind


class NesJumpCapabilities(WireStruct, frozen=True, kw_only=True):
    """Marker: the client can jump to a place."""

    __unstable__: ClassVar[bool] = True


class NesRenameCapabilities(WireStruct, frozen=True, kw_only=True):
    """Marker: the client can rename a symbol."""

    __unstable__: ClassVar[bool] = True


class NesSearchAndReplaceCapabilities(WireStruct, frozen=True, kw_only=True):
    """Marker: the client can search and replace."""

    __unstable__: ClassVar[bool] = True


class ClientNesCapabilities(WireStruct, frozen=True, kw_only=True):
    """Which kinds of suggestion the client can apply besides edits."""

    __unstable__: ClassVar[bool] = True

    jump: Patch[NesJumpCapabilities] = UNSET
    rename: Patch[NesRenameCapabilities] = UNSET
    search_and_replace: Patch[NesSearchAndReplaceCapabilities] = UNSET


class NesDocumentDidOpenCapabilities(WireStruct, frozen=True, kw_only=True):
    """Marker: tell when a document is opened."""

    __unstable__: ClassVar[bool] = True


class NesDocumentDidChangeCapabilities(WireStruct, frozen=True, kw_only=True):
    """Tell when a document changes, and how."""

    __unstable__: ClassVar[bool] = True

    sync_kind: TextDocumentSyncKind


class NesDocumentDidCloseCapabilities(WireStruct, frozen=True, kw_only=True):
    """Marker: tell when a document is closed."""

    __unstable__: ClassVar[bool] = True


class NesDocumentDidSaveCapabilities(WireStruct, frozen=True, kw_only=True):
    """Marker: tell when a document is saved."""

    __unstable__: ClassVar[bool] = True


class NesDocumentDidFocusCapabilities(WireStruct, frozen=True, kw_only=True):
    """Marker: tell when a document is looked at."""

    __unstable__: ClassVar[bool] = True


class NesDocumentEventCapabilities(WireStruct, frozen=True, kw_only=True):
    """Which document events the agent wants."""

    __unstable__: ClassVar[bool] = True

    did_open: Patch[NesDocumentDidOpenCapabilities] = UNSET
    did_change: Patch[NesDocumentDidChangeCapabilities] = UNSET
    did_close: Patch[NesDocumentDidCloseCapabilities] = UNSET
    did_save: Patch[NesDocumentDidSaveCapabilities] = UNSET
    did_focus: Patch[NesDocumentDidFocusCapabilities] = UNSET


class NesEventCapabilities(WireStruct, frozen=True, kw_only=True):
    """Which events the agent wants."""

    __unstable__: ClassVar[bool] = True

    document: Patch[NesDocumentEventCapabilities] = UNSET


class NesRecentFilesCapabilities(WireStruct, frozen=True, kw_only=True):
    """Send recently used files, so many at most."""

    __unstable__: ClassVar[bool] = True

    max_count: Patch[Uint32] = UNSET


class NesRelatedSnippetsCapabilities(WireStruct, frozen=True, kw_only=True):
    """Marker: send snippets that have to do with the place."""

    __unstable__: ClassVar[bool] = True


class NesEditHistoryCapabilities(WireStruct, frozen=True, kw_only=True):
    """Send recent edits, so many at most."""

    __unstable__: ClassVar[bool] = True

    max_count: Patch[Uint32] = UNSET


class NesUserActionsCapabilities(WireStruct, frozen=True, kw_only=True):
    """Send recent actions, so many at most."""

    __unstable__: ClassVar[bool] = True

    max_count: Patch[Uint32] = UNSET


class NesOpenFilesCapabilities(WireStruct, frozen=True, kw_only=True):
    """Marker: send the open files."""

    __unstable__: ClassVar[bool] = True


class NesDiagnosticsCapabilities(WireStruct, frozen=True, kw_only=True):
    """Marker: send the diagnostics."""

    __unstable__: ClassVar[bool] = True


class NesContextCapabilities(WireStruct, frozen=True, kw_only=True):
    """Which context the agent wants with a request."""

    __unstable__: ClassVar[bool] = True

    recent_files: Patch[NesRecentFilesCapabilities] = UNSET
    related_snippets: Patch[NesRelatedSnippetsCapabilities] = UNSET
    edit_history: Patch[NesEditHistoryCapabilities] = UNSET
    user_actions: Patch[NesUserActionsCapabilities] = UNSET
    open_files: Patch[NesOpenFilesCapabilities] = UNSET
    diagnostics: Patch[NesDiagnosticsCapabilities] = UNSET


class NesCapabilities(WireStruct, frozen=True, kw_only=True):
    """The agent suggests edits, and what it needs for that."""

    __unstable__: ClassVar[bool] = True

    events: Patch[NesEventCapabilities] = UNSET
    context: Patch[NesContextCapabilities] = UNSET


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
