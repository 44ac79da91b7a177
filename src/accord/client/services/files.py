"""Files for agents that read and write through their client: `fs/*`.

It must not know permissions, which the gate asks first, or the wire's structs.  It may be replaced
by any object with `read_text` and `write_text`.

Always holds
    * A session reaches only files in its own roots; `accord.machine` checks that by directory
      handles and not by comparing text.
    * Every failure is a RequestError that says what was wrong.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from copy import copy
from typing import TYPE_CHECKING, ClassVar
from urllib.parse import quote

from accord.errors import RequestError
from accord.jsonrpc.error_codes import ACCESS_DENIED
from accord.machine import (
    FILE_BYTES_MAX,
    AccessDenied,
    AlreadyThere,
    FileFailure,
    FileMissing,
    Files,
    NotAFile,
    NotText,
    OutsideRoots,
    Overlay,
    Roots,
    TooLarge,
)

if TYPE_CHECKING:
    from accord.machine.filesystem.encoded_files import TextPart
    from accord.machine.filesystem.local_files import Stored


def _explain_reading(error: FileFailure) -> RequestError:
    if isinstance(error, TooLarge):
        reason = f"{error}; ask for a part of it with line and limit"
        return RequestError.invalid_params(reason, "$.path")
    return explain(error)


class FileService:
    """The files of this computer.  `overlay` has the unsaved buffers that agents must see."""

    _reads_at_once: ClassVar[bool] = True

    def __init__(
        self,
        *,
        overlay: Overlay | None = None,
        bytes_max: int = FILE_BYTES_MAX,
        fsync: bool = False,
        cross_mounts: bool = False,
    ) -> None:
        """With `fsync`, a write is on the disk before it is answered.

        With `cross_mounts`, file systems that are mounted in a root belong to it.
        """
        self.overlay = Overlay() if overlay is None else overlay
        self._bytes_max = bytes_max
        self._fsync = fsync
        self._cross_mounts = cross_mounts
        self._sessions: dict[str, Files] = {}

    def __init_subclass__(cls) -> None:
        """Switch `read_now` off for subclasses with their own `read_text`."""
        super().__init_subclass__()
        if "read_text" in cls.__dict__:
            cls._reads_at_once = False

    def for_connection(self) -> FileService:
        """A copy with its own sessions, since two agents may use the same session id."""
        # A copy keeps the class of a subclass.
        other = copy(self)
        other._sessions = {}
        return other

    def capabilities(self) -> dict[str, bool]:
        """The capabilities to offer to the agent."""
        return {"readTextFile": True, "writeTextFile": True}

    def add_session(self, session_id: str, roots: Sequence[str]) -> None:
        """Open the directories of a session, in place of earlier ones.

        Raises:
            FileFailure: one is missing, not absolute or not a directory.
        """
        self._sessions[session_id] = Files(
            Roots(roots, cross_mounts=self._cross_mounts),
            overlay=self.overlay,
            bytes_max=self._bytes_max,
            fsync=self._fsync,
        )

    def remove_session(self, session_id: str) -> None:
        """Refuse every path of this session from now on."""
        files = self._sessions.pop(session_id, None)
        if files is not None:
            files.roots.close()

    async def read_text(
        self, session_id: str, path: str, line: int | None = None, limit: int | None = None
    ) -> str:
        """The text with unsaved changes; `line` counts from 1, `limit` is in lines.

        Raises:
            RequestError: the file cannot be read.
        """
        files = self._files(session_id, path)
        try:
            return await files.read_text(path, line, limit)
        except FileFailure as error:
            raise _explain_reading(error) from error

    def read_now(
        self, session_id: str, path: str, line: int | None = None, limit: int | None = None
    ) -> str | None:
        """The text at once, if the file is so small that a task would cost more; else None."""
        if not self._reads_at_once:
            return None
        files = self._files(session_id, path)
        try:
            return files.read_now(path, line, limit)
        except FileFailure as error:
            raise _explain_reading(error) from error

    def locate(self, session_id: str, path: str) -> str:
        """The real path of a file to be written, without links.

        Raises:
            RequestError: it is outside the roots.
        """
        files = self._files(session_id, path)
        try:
            with files.roots.locate(path) as place:
                return place.real
        except FileMissing:
            # A parent directory is missing.
            return os.path.realpath(path)
        except FileFailure as error:
            raise explain(error) from error

    async def write_text(
        self, session_id: str, path: str, content: str, *, at: str | None = None
    ) -> None:
        """Write the text of a file, which is created if it is missing.

        With `at`, the result of `locate`, it is written only there: if a link on the way has
        changed meanwhile, writing fails.

        Raises:
            RequestError: the file cannot be written.
        """
        files = self._files(session_id, path)
        try:
            await files.write_text(path, content, at=at)
        except FileFailure as error:
            raise explain(error) from error

    async def read_part(
        self, session_id: str, path: str, encoding: str, start: int | None, end: int | None
    ) -> TextPart:
        """Some lines of a file in any encoding, and the number of all lines.

        Raises:
            RequestError: the file cannot be read.
        """
        from anyio import to_thread

        from accord.machine.filesystem.encoded_files import read_part

        files = self._files(session_id, path).blocking
        try:
            return await to_thread.run_sync(read_part, files, path, encoding, start, end)
        except FileFailure as error:
            raise _explain_reading(error) from error

    async def write_encoded(
        self,
        session_id: str,
        path: str,
        content: str,
        encoding: str,
        *,
        at: str | None = None,
        create_directories: bool = True,
        overwrite: bool = True,
    ) -> Stored:
        """Write the text of a file in this encoding; see `write_text`.

        Raises:
            RequestError: the file cannot be written.
        """
        from functools import partial

        from anyio import to_thread

        from accord.machine.filesystem.encoded_files import write_encoded

        files = self._files(session_id, path).blocking
        work = partial(
            write_encoded,
            files,
            path,
            content,
            encoding,
            at=at,
            create_parents=create_directories,
            overwrite=overwrite,
        )
        try:
            return await to_thread.run_sync(work)
        except FileFailure as error:
            raise explain(error) from error

    def _files(self, session_id: str, path: str) -> Files:
        files = self._sessions.get(session_id)
        if files is None:
            raise RequestError.session_missing(session_id)
        if not path.startswith("/"):
            raise RequestError.invalid_params(f"the path is not absolute: {path}", "$.path")
        if "\0" in path:
            raise RequestError.invalid_params("the path has a NUL character", "$.path")
        return files


def explain(error: FileFailure) -> RequestError:
    """The answer to the agent for a failure."""
    match error:
        case FileMissing():
            return RequestError.resource_missing(_uri(error.path))
        case OutsideRoots():
            return RequestError.permission_denied(
                f"{error.path} is not in a directory of this session: {error.reason}", "roots"
            )
        case AlreadyThere():
            return RequestError(ACCESS_DENIED, str(error), {"reason": "access_denied"})
        case AccessDenied():
            return RequestError.permission_denied(str(error), "system")
        case NotAFile():
            return RequestError.invalid_params(str(error), "$.path")
        case TooLarge() | NotText():
            return RequestError.invalid_params(str(error), "$.content")
        case _:
            return RequestError(-32603, str(error), {"reason": "io_error", "uri": _uri(error.path)})


def _uri(path: str) -> str:
    return "file://" + quote(path)


__all__ = ["FileService", "explain"]
