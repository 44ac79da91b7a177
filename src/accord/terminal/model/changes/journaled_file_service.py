"""The file service of an agent, with every write in the journal of its chat.

This module does not know what the journal does with it.  It is a file service around another one:
whatever that one does (the audit log, other bounds) is still done.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractAsyncContextManager, nullcontext
from typing import TYPE_CHECKING

from accord.client.audit.log import AuditLog
from accord.client.services.files import FileService
from accord.terminal.model.changes.journal import Journal

if TYPE_CHECKING:
    from accord.machine.filesystem.encoded_files import TextPart
    from accord.machine.filesystem.local_files import Stored


class JournaledFiles(FileService):
    """Tells the journal that `journal_of` gives for a session; None leaves a write untold."""

    def __init__(
        self,
        journal_of: Callable[[str], Journal | None],
        log: AuditLog | None = None,
        *,
        inner: FileService | None = None,
    ) -> None:
        if inner is None:
            inner = _service(log)
        super().__init__(overlay=inner.overlay)
        self._journal_of = journal_of
        self._inner = inner

    def for_connection(self) -> FileService:
        """Forward to the wrapped service; see `FileService`."""
        return JournaledFiles(self._journal_of, inner=self._inner.for_connection())

    def capabilities(self) -> dict[str, bool]:
        """Forward to the wrapped service; see `FileService`."""
        return self._inner.capabilities()

    def add_session(self, session_id: str, roots: Sequence[str]) -> None:
        """Forward to the wrapped service; see `FileService`."""
        self._inner.add_session(session_id, roots)

    def remove_session(self, session_id: str) -> None:
        """Forward to the wrapped service; see `FileService`."""
        self._inner.remove_session(session_id)

    async def read_text(
        self, session_id: str, path: str, line: int | None = None, limit: int | None = None
    ) -> str:
        """Forward to the wrapped service; see `FileService`."""
        return await self._inner.read_text(session_id, path, line, limit)

    def read_now(
        self, session_id: str, path: str, line: int | None = None, limit: int | None = None
    ) -> str | None:
        """Forward to the wrapped service; see `FileService`."""
        return self._inner.read_now(session_id, path, line, limit)

    def locate(self, session_id: str, path: str) -> str:
        """Forward to the wrapped service; see `FileService`."""
        return self._inner.locate(session_id, path)

    async def write_text(
        self, session_id: str, path: str, content: str, *, at: str | None = None
    ) -> None:
        """Forward to the wrapped service; see `FileService`."""
        async with self._writing(session_id, path):
            await self._inner.write_text(session_id, path, content, at=at)

    async def read_part(
        self, session_id: str, path: str, encoding: str, start: int | None, end: int | None
    ) -> TextPart:
        """Forward to the wrapped service; see `FileService`."""
        return await self._inner.read_part(session_id, path, encoding, start, end)

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
        """Forward to the wrapped service; see `FileService`."""
        async with self._writing(session_id, path):
            return await self._inner.write_encoded(
                session_id,
                path,
                content,
                encoding,
                at=at,
                create_directories=create_directories,
                overwrite=overwrite,
            )

    def _writing(self, session_id: str, path: str) -> AbstractAsyncContextManager[None]:
        journal = self._journal_of(session_id)
        return nullcontext() if journal is None else journal.writing(path)


def _service(log: AuditLog | None) -> FileService:
    if log is None:
        return FileService()
    from accord.client.audit.services import AuditedFiles

    return AuditedFiles(log)
