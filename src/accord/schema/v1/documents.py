"""Places in texts and `document/*`: an editor tells an agent what happens to its documents.

Part of next-edit suggestions, which the official schema has dropped.  Kept behind a switch.
"""

from typing import ClassVar, Literal, TypeAlias

from accord.schema.struct import UNSET, Int64, Patch, Uint32, WireStruct

PositionEncodingKind: TypeAlias = Literal["utf-16", "utf-32", "utf-8"] | str
TextDocumentSyncKind: TypeAlias = Literal["full", "incremental"] | str


class Position(WireStruct, frozen=True, kw_only=True):
    """A place in a text; line and character count from 0."""

    __unstable__: ClassVar[bool] = True

    line: Uint32
    character: Uint32


class Range(WireStruct, frozen=True, kw_only=True):
    """A stretch of text, its end excluded."""

    __unstable__: ClassVar[bool] = True

    start: Position
    end: Position


class WorkspaceFolder(WireStruct, frozen=True, kw_only=True):
    """A folder that is open in the editor."""

    __unstable__: ClassVar[bool] = True

    uri: str
    name: str


class TextDocumentContentChangeEvent(WireStruct, frozen=True, kw_only=True):
    """A change of a document; without `range` the text is all of it."""

    __unstable__: ClassVar[bool] = True

    range: Patch[Range] = UNSET
    text: str


class DidOpenDocumentNotification(WireStruct, frozen=True, kw_only=True):
    """A document was opened."""

    __unstable__: ClassVar[bool] = True

    session_id: str
    uri: str
    language_id: str
    version: Int64
    text: str


class DidChangeDocumentNotification(WireStruct, frozen=True, kw_only=True):
    """A document was changed."""

    __unstable__: ClassVar[bool] = True

    session_id: str
    uri: str
    version: Int64
    content_changes: list[TextDocumentContentChangeEvent]


class DidCloseDocumentNotification(WireStruct, frozen=True, kw_only=True):
    """A document was closed."""

    __unstable__: ClassVar[bool] = True

    session_id: str
    uri: str


class DidSaveDocumentNotification(WireStruct, frozen=True, kw_only=True):
    """A document was saved."""

    __unstable__: ClassVar[bool] = True

    session_id: str
    uri: str


class DidFocusDocumentNotification(WireStruct, frozen=True, kw_only=True):
    """A document was looked at."""

    __unstable__: ClassVar[bool] = True

    session_id: str
    uri: str
    version: Int64
    position: Position
    visible_range: Range


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
