"""A client's requests about the files of a session: finding them by name, reading, writing.

They work with the rights of the gateway's own process, so an agent's settings must allow them
(`workspace`).

What always holds
    * A path is opened beneath the folders of its session, by handles: no link leads outside.
    * A file is written only if it still has the content that the client has seen.
"""

from __future__ import annotations

import os
from collections import OrderedDict
from collections.abc import Callable
from contextlib import contextmanager
from hashlib import sha256
from typing import TYPE_CHECKING, Any, Final, TypeVar

import anyio
import anyio.to_thread

from accord.errors import RequestError, RequestFailed
from accord.gateway.clients.allowed_params import refuse_folders
from accord.gateway.clients.session_requests import Following, Reply, SessionRequests
from accord.gateway.sessions.hosted_session import HostedSession
from accord.gateway.sessions.people.roles import require
from accord.jsonrpc.error_codes import (
    ACCESS_DENIED,
    INTERNAL_ERROR,
    INVALID_PARAMS,
    INVALID_SESSION_STATE,
    RESOURCE_NOT_FOUND,
)
from accord.machine.errors import (
    AccessDenied,
    FileFailure,
    FileMissing,
    NotAFile,
    NotText,
    OutsideRoots,
    TooLarge,
)
from accord.machine.file_search.file_index import FilesIndex
from accord.machine.filesystem.local_files import LocalFiles
from accord.machine.filesystem.newline_style import decode_text
from accord.proxy.hop import OpenRequest
from accord.schema.codec import encode
from accord.schema.struct import Raw

if TYPE_CHECKING:
    from collections.abc import Generator

    from anyio.abc import TaskGroup

FILE_BYTES_MAX: Final = 4 << 20
PATH_CHARACTERS_MAX: Final = 4096
FOUND_MAX: Final = 200
FOUND: Final = 50
INDEXES_MAX: Final = 8
"""So many sets of folders are kept in memory, those that were searched last."""

_T = TypeVar("_T")

# What a failure is called in `data.reason`, and its code.
_REASONS: Final[tuple[tuple[type[FileFailure], str, int], ...]] = (
    (OutsideRoots, "outside", ACCESS_DENIED),
    (FileMissing, "missing", RESOURCE_NOT_FOUND),
    (NotAFile, "not_a_file", INVALID_PARAMS),
    (NotText, "not_text", INVALID_PARAMS),
    (TooLarge, "too_large", INVALID_PARAMS),
    (AccessDenied, "denied", ACCESS_DENIED),
)


class FileIndexes:
    """The names of files that were searched for, shared by all clients of a gateway."""

    def __init__(self, tasks: TaskGroup) -> None:
        self._tasks = tasks
        self._indexes: OrderedDict[tuple[str, ...], tuple[FilesIndex, anyio.Lock]] = OrderedDict()
        # One at a time: of two clients that have seen the same content, one is told of the other.
        self.writing = anyio.Lock()

    async def find(self, folders: tuple[str, ...], query: str, most: int) -> list[str]:
        """Return the names that fit best, best first.

        The first search waits for the disk; later ones do not, and may miss the newest files.
        """
        if folders not in self._indexes:
            self._indexes[folders] = (FilesIndex(folders), anyio.Lock())
        self._indexes.move_to_end(folders)
        while len(self._indexes) > INDEXES_MAX:
            self._indexes.popitem(last=False)
        index, lock = self._indexes[folders]
        async with lock:
            if not index.was_read:
                await index.refresh()
            elif index.is_stale:
                self._tasks.start_soon(index.refresh, name="file index")
            # Some hundredths of a second among a hundred thousand names.
            return await anyio.to_thread.run_sync(index.find, query, most)


class WorkspaceRequests:
    """Answers them for one client."""

    def __init__(self, client: Following, requests: SessionRequests, indexes: FileIndexes) -> None:
        self._client = client
        self._requests = requests
        self._indexes = indexes

    def replies(self) -> dict[str, Reply]:
        """Return what answers each method; nothing where the agent's settings do not allow it."""
        if not self._client.agent.settings.workspace:
            return {}
        return {
            "_accord.workspace/read": self.read,
            "_accord.workspace/search": self.search,
            "_accord.workspace/write": self.write,
        }

    async def _session(self, request: OpenRequest, params: Raw) -> tuple[HostedSession, Any]:
        session, read = await self._requests.find(request, params)
        require(self._client.role_in(session.facts), request.method)
        # Again, since a link on the way may have been changed.
        refuse_folders(self._client.agent.settings, request.method, session.facts.opened_with)
        return session, read

    async def search(self, request: OpenRequest, params: Raw) -> None:
        """Answer the files whose names fit a query best."""
        session, read = await self._session(request, params)
        query, most = read.get("query", ""), read.get("limit", FOUND)
        if not isinstance(query, str):
            raise RequestError.invalid_params("Expected `str`", "$.query")
        if not isinstance(most, int) or not 0 < most <= FOUND_MAX:
            said = f"Expected a whole number from 1 to {FOUND_MAX}"
            raise RequestError.invalid_params(said, "$.limit")
        names = await self._indexes.find(_folders_of(session), query, most)
        files = [{"path": name, "kind": "file"} for name in names if _is_text(name)]
        request.answer(encode({"files": files}))

    async def read(self, request: OpenRequest, params: Raw) -> None:
        """Answer the text of a file, and the hash of its bytes."""
        session, read = await self._session(request, params)
        path = _path_in(read, session)
        with _told(request.method):
            data = await _in_thread(session, lambda files: files.read_bytes(path))
        if b"\0" in data:
            said = f"{path}: is not a text file"
            raise RequestFailed(request.method, INVALID_PARAMS, said, {"reason": "not_text"})
        request.answer(encode({"text": decode_text(data, from_start=True), "hash": _hash_of(data)}))

    async def write(self, request: OpenRequest, params: Raw) -> None:
        """Write a file that is as the client has seen it; a text of null deletes it."""
        session, read = await self._session(request, params)
        path, text, expected = _path_in(read, session), read.get("text"), read.get("expectedHash")
        for name, value in (("text", text), ("expectedHash", expected)):
            if name not in read or not (value is None or isinstance(value, str)):
                raise RequestError.invalid_params("Expected `str | null`", f"$.{name}")

        def work(files: LocalFiles) -> str | None:
            found = _hash_or_none(files, path)
            if found != expected:
                raise _changed(request.method, path, found)
            if text is not None:
                files.write_text(path, text)
                return _hash_of(files.read_bytes(path))
            if found is not None:
                files.delete(path)
            return None

        with _told(request.method):
            async with self._indexes.writing:
                written = await _in_thread(session, work)
        request.answer(encode({"hash": written}))


def _folders_of(session: HostedSession) -> tuple[str, ...]:
    more = session.facts.opened_with.get("additionalDirectories")
    named = (session.facts.cwd, *(more if isinstance(more, list) else ()))
    return tuple(dict.fromkeys(one for one in named if isinstance(one, str) and one))


def _path_in(params: dict[str, Any], session: HostedSession) -> str:
    """Return the path that params name, which may be relative to the session's first folder."""
    path = params.get("path")
    if not isinstance(path, str) or not 0 < len(path) <= PATH_CHARACTERS_MAX or "\0" in path:
        said = f"Expected a path of at most {PATH_CHARACTERS_MAX} characters"
        raise RequestError.invalid_params(said, "$.path")
    return os.path.join(session.facts.cwd, path)


async def _in_thread(session: HostedSession, work: Callable[[LocalFiles], _T]) -> _T:
    """Do something with the files of a session's folders."""

    def run() -> _T:
        files = LocalFiles(_folders_of(session), bytes_max=FILE_BYTES_MAX)
        try:
            return work(files)
        finally:
            files.roots.close()

    return await anyio.to_thread.run_sync(run)


@contextmanager
def _told(method: str) -> Generator[None]:
    """Make answers of what goes wrong with a file."""
    try:
        yield
    except FileFailure as failure:
        for kind, reason, code in _REASONS:
            if isinstance(failure, kind):
                raise RequestFailed(method, code, str(failure), {"reason": reason}) from None
        raise RequestFailed(method, INTERNAL_ERROR, str(failure), {"reason": "failed"}) from None


def _changed(method: str, path: str, found: str | None) -> RequestFailed:
    what = "is not there any more" if found is None else "has changed meanwhile"
    said = f"{path}: {what}; read it again before you write it"
    data = {"reason": "changed", "hash": found}
    return RequestFailed(method, INVALID_SESSION_STATE, said, data)


def _hash_or_none(files: LocalFiles, path: str) -> str | None:
    try:
        return _hash_of(files.read_bytes(path))
    except FileMissing:
        return None


def _hash_of(data: bytes) -> str:
    return sha256(data).hexdigest()


def _is_text(name: str) -> bool:
    """Whether a name can be sent: others are not UTF-8 on disk."""
    try:
        name.encode()
    except UnicodeEncodeError:
        return False
    return True


__all__ = ["FileIndexes", "WorkspaceRequests"]
