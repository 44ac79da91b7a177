"""Files of a client of the 2026-02 draft.  These requests name no session.

What always holds
    * A text that is returned is whole: what the client cut off is asked for, or it is an error.
    * Refusals of the client are the errors that our own files raise.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from accord.agent.serving.wire import FileDetails
from accord.agent.tools.files import READ, WRITE
from accord.errors import NotFound, RemoteProtocolError, RequestFailed
from accord.machine.errors import AccessDenied, AlreadyThere, FileFailure, NoSuchFile
from accord.schema import draft
from accord.schema.codec import Invalid, decode, encode
from accord.schema.struct import UNSET, Raw

if TYPE_CHECKING:
    from accord.connection import Connection

# How often the rest of a file is asked for before it is given up.
PARTS_MAX = 1000


async def read_text(
    connection: Connection, path: str, line: int | None, limit: int | None, details: FileDetails
) -> str:
    """The text of a file, or of so many lines of it."""
    if limit == 0:
        # The draft names the last line, so it has no word for none.
        return ""
    start = line or 1
    end = None if limit is None else start + limit - 1
    text = ""
    for _ in range(PARTS_MAX):
        part = await _read(connection, path, start, end, details)
        text += part.content
        if not _is_cut(part, start, end):
            return text
        lines = part.content.count("\n")
        if not lines:
            break
        # A line that was cut in the middle is read again from its start.
        text = text[: text.rindex("\n") + 1]
        start += lines
        if end is not None and start > end:
            return text
    raise FileFailure(path, "the client does not tell all of it")


def _is_cut(part: draft.ReadTextFileResponse, start: int, end: int | None) -> bool:
    """Whether lines that were asked for are missing."""
    if part.truncated is not True:
        return False
    lines = part.content.count("\n") + (not part.content.endswith("\n"))
    if end is not None and start + lines - 1 >= end and part.content.endswith("\n"):
        # Some clients call it truncated when there is more than what was asked for.
        return False
    total = part.total_lines
    return total is UNSET or start + lines - 1 < total or not part.content.endswith("\n")


async def _read(
    connection: Connection, path: str, start: int, end: int | None, details: FileDetails
) -> draft.ReadTextFileResponse:
    request = draft.ReadTextFileRequest(
        path=path,
        encoding=UNSET if details.encoding is None else details.encoding,
        start_line=UNSET if start == 1 and end is None else start,
        end_line=UNSET if end is None else end,
    )
    answer = await _ask(connection, READ, path, request)
    try:
        return decode(draft.ReadTextFileResponse, answer)
    except Invalid:
        raise RemoteProtocolError(f"the client answered {READ} without a text") from None


async def write_text(connection: Connection, path: str, text: str, details: FileDetails) -> bool:
    """Write a file; whether it is a new one."""
    request = draft.WriteTextFileRequest(
        path=path,
        content=text,
        encoding=UNSET if details.encoding is None else details.encoding,
        create_directories=details.create_directories,
        overwrite=details.overwrite,
    )
    try:
        answer = await _ask(connection, WRITE, path, request)
    except AccessDenied as error:
        if details.overwrite:
            raise
        raise AlreadyThere(path) from error
    try:
        return decode(draft.WriteTextFileResponse, answer).created
    except Invalid:
        raise RemoteProtocolError(f"the client answered {WRITE} without its facts") from None


async def _ask(connection: Connection, method: str, path: str, request: Any) -> Raw:
    try:
        return await connection.call(method, encode(request))
    except NotFound as error:
        raise NoSuchFile(path) from error
    except RequestFailed as error:
        if error.reason not in ("permission_denied", "access_denied"):
            raise
        raise AccessDenied(path, error.message) from error


__all__ = ["read_text", "write_text"]
