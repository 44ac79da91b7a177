"""`fs/*`: text files as the client sees them, unsaved changes included."""

from accord.schema.struct import UNSET, AbsolutePath, Patch, Uint32, WireStruct


class ReadTextFileRequest(WireStruct, frozen=True, kw_only=True):
    """Read a file, or `limit` lines of it from `line` on; lines count from 1."""

    session_id: str
    path: AbsolutePath
    line: Patch[Uint32] = UNSET
    limit: Patch[Uint32] = UNSET


class ReadTextFileResponse(WireStruct, frozen=True, kw_only=True):
    content: str


class WriteTextFileRequest(WireStruct, frozen=True, kw_only=True):
    """Replace a file's text; the file is created when there is none."""

    session_id: str
    path: AbsolutePath
    content: str


class WriteTextFileResponse(WireStruct, frozen=True, kw_only=True):
    """The text is written."""
