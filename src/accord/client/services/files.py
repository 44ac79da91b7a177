"""Files for agents that read and write through their client: `fs/read_text_file` and its sibling.

It must not know permissions (whoever serves the request asks first) or the wire's structs.
May be replaced by any object with `read_text` and `write_text`.

Always holds
    * A session reaches only what is beneath its own roots, by directory handles and not by
      comparing text; `accord.machine` sees to that.
    * Every failure is a RequestError that tells the agent what was wrong.
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

    _has_short_way: ClassVar[bool] = True

    def __init__(
        self,
        *,
        overlay: Overlay | None = None,
        bytes_max: int = FILE_BYTES_MAX,
        fsync: bool = False,
        cross_mounts: bool = False,
    ) -> None:
        """With `fsync` a write is on the disk before it is answered.

        With `cross_mounts` what is mounted beneath a root belongs to it.
        """
        self.overlay = Overlay() if overlay is None else overlay
        self._bytes_max = bytes_max
        self._fsync = fsync
        self._cross_mounts = cross_mounts
        self._sessions: dict[str, Files] = {}

    def __init_subclass__(cls) -> None:
        """Who reads in another way does so always: our short way would go past it."""
        super().__init_subclass__()
        if "read_text" in cls.__dict__:
            cls._has_short_way = False

    def for_connection(self) -> FileService:
        """The same with sessions of its own: two agents may use the same session id."""
        # A copy, so that a class of somebody else's stays what it is.
        other = copy(self)
        other._sessions = {}
        return other

    def capabilities(self) -> dict[str, bool]:
        """What an agent is told that there is."""
        return {"readTextFile": True, "writeTextFile": True}

    def add_session(self, session_id: str, roots: Sequence[str]) -> None:
        """Open the directories of a session; those it had before are replaced.

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
        """From now on every path is refused to this session."""
        files = self._sessions.pop(session_id, None)
        if files is not None:
            files.roots.close()

    async def read_text(
        self, session_id: str, path: str, line: int | None = None, limit: int | None = None
    ) -> str:
        """The text, unsaved changes included; `line` counts from 1, `limit` is in lines.

        Raises:
            RequestError: why it cannot be read.
        """
        files = self._files(session_id, path)
        try:
            return await files.read_text(path, line, limit)
        except FileFailure as error:
            raise _explain_reading(error) from error

    def read_now(
        self, session_id: str, path: str, line: int | None = None, limit: int | None = None
    ) -> str | None:
        """The same at once, for a file so small that a task would cost more; None for others."""
        if not self._has_short_way:
            return None
        files = self._files(session_id, path)
        try:
            return files.read_now(path, line, limit)
        except FileFailure as error:
            raise _explain_reading(error) from error

    def locate(self, session_id: str, path: str) -> str:
        """Where a file really is that may be written: the path without links.

        Raises:
            RequestError: it is not beneath the roots; nobody needs to be asked about it.
        """
        files = self._files(session_id, path)
        try:
            with files.roots.locate(path) as place:
                return place.real
        except FileMissing:
            # A directory on the way is still to be made.
            return os.path.realpath(path)
        except FileFailure as error:
            raise explain(error) from error

    async def write_text(
        self, session_id: str, path: str, content: str, *, at: str | None = None
    ) -> None:
        """Make this the text of the file, which is created when it is missing.

        With `at` only there: where `locate` found it before somebody was asked.  A link that was
        changed meanwhile makes it fail.

        Raises:
            RequestError: why it cannot be written.
        """
        files = self._files(session_id, path)
        try:
            await files.write_text(path, content, at=at)
        except FileFailure as error:
            raise explain(error) from error

    async def read_part(
        self, session_id: str, path: str, encoding: str, start: int | None, end: int | None
    ) -> TextPart:
        """Some lines of a file in any encoding, and how many there are.

        Raises:
            RequestError: why it cannot be read.
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
        """Make this the text of the file in this encoding; see `write_text`.

        Raises:
            RequestError: why it cannot be written.
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
    """The answer that tells an agent what happened to its file."""
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
