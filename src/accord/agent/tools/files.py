"""Files of a session: through the client if it offers them, else on disk, within the roots."""

import os
from typing import TYPE_CHECKING

from accord.agent.serving.client_answer_checks import heard
from accord.agent.serving.outgoing_checks import check_text
from accord.agent.serving.wire import FileDetails
from accord.agent.session.paths import absolute, relative
from accord.agent.tools.tool_call import new_tool_call
from accord.errors import LocalProtocolError, NotFound, RemoteProtocolError, RequestFailed
from accord.machine.errors import (
    AccessDenied,
    AlreadyThere,
    FileFailure,
    FileMissing,
    NoSuchFile,
    OutsideRoots,
)
from accord.schema.codec import encode, to_python
from accord.schema.struct import Raw
from accord.translate.diffs import deletion_of, diff_of, move_of

if TYPE_CHECKING:
    from accord.agent.session.session_state import SessionState
    from accord.agent.session.turn_state import TurnState
    from accord.machine.filesystem.async_files import Files

READ = "fs/read_text_file"
WRITE = "fs/write_text_file"


PLAIN = FileDetails()
_UTF_8 = frozenset({"utf-8", "utf8"})


async def read_text(
    session: "SessionState",
    path: str,
    line: int | None,
    limit: int | None,
    details: FileDetails = PLAIN,
) -> str:
    """The text of a file.

    Raises:
        NoSuchFile: the file does not exist; this is also a FileNotFoundError.
        FileFailure: it cannot be read, or not as text: `OutsideRoots`, `AccessDenied`, ...
        LocalProtocolError: the line or the limit is out of range.
    """
    if line is not None and line < 1:
        raise LocalProtocolError(f"lines count from 1, there is no line {line}")
    if limit is not None and limit < 0:
        raise LocalProtocolError(f"a number of lines cannot be negative: {limit}")
    full = absolute(session, path)
    requests = session.wire.client_requests
    if requests is not None and session.wire.features.read_files:
        return await requests.read_text(session, full, line, limit, details)
    _require_utf_8(details)
    if not session.wire.features.read_files:
        with _OwnFiles(session) as files:
            try:
                return await files.read_text(full, line, limit)
            except FileMissing as error:
                raise NoSuchFile(full, error.reason) from error
    params: dict[str, object] = {"sessionId": session.id, "path": full}
    if line is not None:
        params["line"] = line
    if limit is not None:
        params["limit"] = limit
    answer = to_python(await _ask(session, READ, full, params))
    content = answer.get("content") if isinstance(answer, dict) else None
    if not isinstance(content, str):
        raise RemoteProtocolError(f"the client answered {READ} without text")
    return content


def _require_utf_8(details: FileDetails) -> None:
    if details.encoding is not None and details.encoding.lower() not in _UTF_8:
        raise LocalProtocolError(f"files are read and written as UTF-8, not as {details.encoding}")


async def write_text(
    session: "SessionState", path: str, text: str, details: FileDetails = PLAIN
) -> bool | None:
    """Write a file; return whether it is new, if that is known.  Raises as `read_text` does.

    Raises:
        AlreadyThere: it exists, and `details` forbid to replace it.
    """
    check_text("the text of a file", text)
    full = absolute(session, path)
    requests = session.wire.client_requests
    if requests is not None and session.wire.features.write_files:
        return await requests.write_text(session, full, text, details)
    _require_utf_8(details)
    if not details.overwrite and await _exists(session, full):
        raise AlreadyThere(full)
    if session.wire.features.write_files:
        params = {"sessionId": session.id, "path": full, "content": text}
        await _ask(session, WRITE, full, params)
        return None if details.overwrite else True
    with _OwnFiles(session) as files:
        try:
            is_new = not await files.exists(full)
            if not details.create_directories and not await files.exists(os.path.dirname(full)):
                raise FileMissing(full, "its folder is missing")
            await files.write_text(full, text)
        except FileMissing as error:
            raise NoSuchFile(full, error.reason) from error
    return is_new


async def _exists(session: "SessionState", full: str) -> bool:
    try:
        await read_text(session, full, 1, 1)
    except FileNotFoundError:
        return False
    return True


async def _ask(session: "SessionState", method: str, path: str, params: object) -> Raw:
    """Call the client; its refusals become the errors that files on disk raise."""
    try:
        answer = await session.connection.call(method, encode(params))
        heard(session, method, answer)
        return answer
    except RequestFailed as error:
        if isinstance(error, NotFound):
            raise NoSuchFile(path) from error
        if error.reason != "permission_denied":
            raise
        scope = error.data.get("scope") if isinstance(error.data, dict) else None
        kind = OutsideRoots if scope == "roots" else AccessDenied
        raise kind(path, error.message) from error


async def edit_file(
    turn: "TurnState", path: str, text: str, title: str | None, reason: str | None
) -> bool:
    """Change a file as one tool call with its diff; nothing happens if it has that text."""
    check_text("the text of a file", text)
    session = turn.session
    full = absolute(session, path)
    try:
        old: str | None = await read_text(session, full, None, None)
    except FileNotFoundError:
        old = None
    if old == text:
        return True
    shown = relative(session, full)
    call = new_tool_call(
        turn,
        title or (f"Create {shown}" if old is None else f"Edit {shown}"),
        kind="edit",
        name="edit",
        locations=[full],
        content=[diff_of(full, old, text)],
        raw_input={"path": full},
    )
    async with call:
        if not await call.ask(reason):
            return False
        await call.start()
        await write_text(session, full, text)
    return True


async def delete_file(turn: "TurnState", path: str, reason: str | None) -> bool:
    """Delete a file as one tool call that shows its content."""
    session = turn.session
    full = absolute(session, path)
    with _OwnFiles(session) as files:
        try:
            text: str | None = await files.read_text(full)
        except FileMissing as error:
            raise NoSuchFile(full, error.reason) from error
        except FileFailure:
            text = None
        if text is not None and not text.isprintable() and ("\0" in text or "\ufffd" in text):
            text = None
        shown = relative(session, full)
        call = new_tool_call(
            turn,
            f"Delete {shown}",
            kind="delete",
            name="delete",
            locations=[full],
            content=[deletion_of(full, text)],
            raw_input={"path": full},
        )
        async with call:
            if not await call.ask(reason):
                return False
            await call.start()
            await files.delete(full)
    return True


async def move_file(turn: "TurnState", path: str, target: str, reason: str | None) -> bool:
    """Move a file as one tool call with both names."""
    session = turn.session
    full, goal = absolute(session, path), absolute(session, target)
    shown = f"{relative(session, full)} to {relative(session, goal)}"
    with _OwnFiles(session) as files:
        if not await files.exists(full):
            raise NoSuchFile(full)
        call = new_tool_call(
            turn,
            f"Move {shown}",
            kind="move",
            name="move",
            locations=[full, goal],
            content=[move_of(full, goal)],
            raw_input={"path": full, "target": goal},
        )
        async with call:
            if not await call.ask(reason):
                return False
            await call.start()
            await files.move(full, goal)
    return True


class _OwnFiles:
    """The files on disk for one operation; the handles are closed after it."""

    def __init__(self, session: "SessionState") -> None:
        # Imported here because most clients offer their own files.
        from accord.machine.filesystem.roots import Roots

        self._roots = Roots(session.roots)

    def __enter__(self) -> "Files":
        from accord.machine.filesystem.async_files import Files

        return Files(self._roots)

    def __exit__(self, *exc: object) -> None:
        self._roots.close()
