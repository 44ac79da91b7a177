"""The client's files in the 2026-02 draft.  These requests name no session.

Paths should be absolute; a relative one is legal in this dialect and counts from the session's
working directory, so paths are plain text here.
"""

from accord.schema.struct import UNSET, Omit, Uint32, Uint64, WireStruct, Z


class ReadTextFileRequest(WireStruct, frozen=True, kw_only=True):
    """Reads a file, or its lines from the first to the last named, both included, from 1."""

    path: str
    encoding: Z[Omit[str]] = UNSET
    start_line: Z[Omit[Uint32]] = UNSET
    end_line: Z[Omit[Uint32]] = UNSET


class ReadTextFileResponse(WireStruct, frozen=True, kw_only=True):
    """The text and the encoding it was read with."""

    content: str
    encoding: str
    total_lines: Z[Omit[Uint64]] = UNSET
    truncated: Z[Omit[bool]] = UNSET


class WriteTextFileRequest(WireStruct, frozen=True, kw_only=True):
    """Writes a file.  Without `overwrite` an existing one is replaced."""

    path: str
    content: str
    encoding: Z[Omit[str]] = UNSET
    create_directories: Z[Omit[bool]] = UNSET
    overwrite: Z[Omit[bool]] = UNSET


class WriteTextFileResponse(WireStruct, frozen=True, kw_only=True):
    """How much was written, and whether the file is new."""

    bytes_written: Uint64
    created: bool
