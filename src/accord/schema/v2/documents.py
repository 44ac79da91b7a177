"""Documents of an editor, as v2 of August 2026 reported them.  Unstable, and gone since."""

from typing import ClassVar, Literal, TypeAlias

from accord.schema.struct import UNSET, E, Int64, Patch, Uint32, WireStruct
from accord.schema.v2.identifiers import SessionId

PositionEncodingKind: TypeAlias = Literal["utf-16", "utf-32", "utf-8"] | str
TextDocumentSyncKind: TypeAlias = Literal["full", "incremental"] | str


class Position(WireStruct, frozen=True, kw_only=True):
    """A place in a document; both count from zero."""

    __unstable__: ClassVar[bool] = True

    line: Uint32
    character: Uint32


class Range(WireStruct, frozen=True, kw_only=True):
    """From one place to another."""

    __unstable__: ClassVar[bool] = True

    start: Position
    end: Position


class TextDocumentContentChangeEvent(WireStruct, frozen=True, kw_only=True):
    """One edit, or the whole text if there is no range."""

    __unstable__: ClassVar[bool] = True

    range: E[Patch[Range]] = UNSET
    text: str


class DidChangeDocumentNotification(WireStruct, frozen=True, kw_only=True):
    """A document has changed."""

    __unstable__: ClassVar[bool] = True

    session_id: SessionId
    uri: str
    version: Int64
    content_changes: list[TextDocumentContentChangeEvent]


class DidCloseDocumentNotification(WireStruct, frozen=True, kw_only=True):
    """A document was closed."""

    __unstable__: ClassVar[bool] = True

    session_id: SessionId
    uri: str


class DidFocusDocumentNotification(WireStruct, frozen=True, kw_only=True):
    """The user looks at a document."""

    __unstable__: ClassVar[bool] = True

    session_id: SessionId
    uri: str
    version: Int64
    position: Position
    visible_range: Range


class DidOpenDocumentNotification(WireStruct, frozen=True, kw_only=True):
    """A document was opened."""

    __unstable__: ClassVar[bool] = True

    session_id: SessionId
    uri: str
    language_id: str
    version: Int64
    text: str


class DidSaveDocumentNotification(WireStruct, frozen=True, kw_only=True):
    """A document was saved."""

    __unstable__: ClassVar[bool] = True

    session_id: SessionId
    uri: str


class WorkspaceFolder(WireStruct, frozen=True, kw_only=True):
    """A folder of the workspace."""

    __unstable__: ClassVar[bool] = True

    uri: str
    name: str


__all__ = [
    "DidChangeDocumentNotification",
    "DidCloseDocumentNotification",
    "DidFocusDocumentNotification",
    "DidOpenDocumentNotification",
    "DidSaveDocumentNotification",
    "Position",
    "PositionEncodingKind",
    "Range",
    "TextDocumentContentChangeEvent",
    "TextDocumentSyncKind",
    "WorkspaceFolder",
]
