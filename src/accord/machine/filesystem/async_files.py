"""The async front of `local_files.py`.

It must not know more than that one: it only decides where the blocking work runs.

Opening and reading a small local file takes some ten microseconds, a trip to a worker thread
over a hundred, so small reads are done in place and everything else in a thread.  On network
file systems even opening may block: `inline_bytes_max=0` sends everything to threads there.
Cancelling waits for the step in the thread: a write has happened or it has not.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from functools import partial

from anyio import to_thread
from anyio.lowlevel import checkpoint_if_cancelled

from accord.machine.filesystem.local_files import FILE_BYTES_MAX, FileInfo, LocalFiles
from accord.machine.filesystem.roots import Roots
from accord.machine.filesystem.unsaved_text import Overlay

INLINE_BYTES_MAX = 64 * 1024
"""Files up to this size are read in the event loop's own thread."""


class Files:
    """Files beneath `roots`, for async code.  `blocking` is the same without async."""

    def __init__(
        self,
        roots: Roots | Sequence[str | os.PathLike[str]],
        *,
        overlay: Overlay | None = None,
        bytes_max: int = FILE_BYTES_MAX,
        fsync: bool = False,
        inline_bytes_max: int = INLINE_BYTES_MAX,
    ) -> None:
        self.blocking = LocalFiles(roots, overlay=overlay, bytes_max=bytes_max, fsync=fsync)
        self._inline_bytes_max = inline_bytes_max

    @property
    def roots(self) -> Roots:
        """The directories; `roots.replace` changes them for every later operation."""
        return self.blocking.roots

    @property
    def overlay(self) -> Overlay:
        """The unsaved buffers that reads see."""
        return self.blocking.overlay

    def read_now(
        self, path: str | os.PathLike[str], line: int | None = None, limit: int | None = None
    ) -> str | None:
        """The text of a file that is small enough to be read in place; None for any other."""
        blocking, text = self.blocking, os.fspath(path)
        if not self._inline_bytes_max or blocking.overlay:
            return None
        opened, size = blocking.open_regular(text)
        if size > self._inline_bytes_max:
            os.close(opened)
            return None
        return blocking.read_opened(text, opened, line, limit)

    async def read_text(
        self, path: str | os.PathLike[str], line: int | None = None, limit: int | None = None
    ) -> str:
        """Read text without blocking; see `LocalFiles.read_text`."""
        await checkpoint_if_cancelled()
        blocking, text = self.blocking, os.fspath(path)
        if not self._inline_bytes_max or blocking.overlay:
            return await to_thread.run_sync(blocking.read_text, text, line, limit)
        opened, size = blocking.open_regular(text)
        if size <= self._inline_bytes_max:
            return blocking.read_opened(text, opened, line, limit)
        started = False

        def read() -> str:
            nonlocal started
            started = True
            return blocking.read_opened(text, opened, line, limit)

        try:
            return await to_thread.run_sync(read)
        finally:
            if not started:
                os.close(opened)

    async def write_text(
        self, path: str | os.PathLike[str], content: str, *, at: str | None = None
    ) -> None:
        """Write text without blocking; see `LocalFiles.write_text`."""
        await to_thread.run_sync(partial(self.blocking.write_text, path, content, at=at))

    async def delete(self, path: str | os.PathLike[str]) -> None:
        """Delete a file without blocking; see `LocalFiles.delete`."""
        await to_thread.run_sync(self.blocking.delete, path)

    async def move(
        self,
        path: str | os.PathLike[str],
        target: str | os.PathLike[str],
        *,
        overwrite: bool = False,
    ) -> None:
        """Move a file without blocking; see `LocalFiles.move`."""
        work = partial(self.blocking.move, path, target, overwrite=overwrite)
        await to_thread.run_sync(work)

    async def stat(self, path: str | os.PathLike[str]) -> FileInfo:
        """Look at a path without blocking; see `LocalFiles.stat`."""
        return await to_thread.run_sync(self.blocking.stat, path)

    async def exists(self, path: str | os.PathLike[str]) -> bool:
        """Look for a path without blocking; see `LocalFiles.exists`."""
        return await to_thread.run_sync(self.blocking.exists, path)
