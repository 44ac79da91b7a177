"""The journal of the agent's file changes, with undo and redo.

Its sources are the writes that agents request from us (`journaled_file_service.py`), and the diffs
that they report when they write files themselves.  This module does not know any screen.

Invariants
    * Of each file the first known text stays, however often it is changed; each difference from it
      is pending, kept or undone.
    * Undo overwrites only the expected content; lines that were changed in the meantime are left
      alone and reported.
    * Every undo can be redone.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncGenerator, Callable, Collection, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from functools import partial
from typing import TypeVar

import anyio
from anyio import to_thread

from accord.errors import AccordError
from accord.machine.errors import FileFailure
from accord.terminal.model.changes.file_change import (
    FileChange,
    change_of,
    changed_again,
    unknown_change,
)
from accord.terminal.model.changes.git_state import GitMark, GitState, read_git_state
from accord.terminal.model.changes.tool_call_reports import (
    ReportedDiff,
    Reports,
    UpcomingChange,
    texts_of_all,
)
from accord.terminal.model.changes.undo_redo import (
    ChangedSince,
    JournalFiles,
    Outcome,
    Unreadable,
    switched,
)
from accord.terminal.model.chat import Chat
from accord.transcript import ToolCall, Update
from accord.transcript.items.tool_call import FileDiff

FILES_MAX = 2000
"""The number of files in the journal; the oldest is dropped first."""

FILE_BYTES_MAX = 2 * 1024 * 1024
"""Changes of larger files are not journaled."""

CHARACTERS_MAX = 32 * 1024 * 1024
"""Characters kept for all files together."""

T = TypeVar("T")


class Journal:
    """The files of one chat.  Guards the invariants of this module."""

    def __init__(self, chat: Chat, roots: Sequence[str] | None = None) -> None:
        self.chat = chat
        # Incremented with every change.
        self.revision = 0
        # Called after each change, while a screen shows it.
        self.on_change: Callable[[], None] | None = None
        # The git state before the agent's first action.
        self.git: GitState | None = None
        self._roots = tuple(roots or (chat.folder,))
        self._files: JournalFiles | None = None
        self._changes: dict[str, FileChange] = {}
        self._lock = anyio.Lock()
        self._reports = Reports()
        # Files whose last change the agent reported; the others were written through us.
        self._reported: set[str] = set()
        self._task: asyncio.Task[None] | None = None
        self._is_watching = self._is_git_due = False

    # ---- content

    @property
    def changes(self) -> tuple[FileChange, ...]:
        """The files, in the order of their first change."""
        return tuple(self._changes.values())

    def change(self, path: str) -> FileChange | None:
        """The change of a file, by its path in `changes`."""
        return self._changes.get(path)

    def git_mark(self, change: FileChange) -> GitMark | None:
        """What git knew of the file before; None if there is no git, or was no file."""
        if self.git is None or (change.before is None and not change.why):
            return None
        return self.git.mark(change.old_path or change.path)

    def set_roots(self, roots: Sequence[str]) -> None:
        """Set the session's folders."""
        if tuple(roots) != self._roots:
            self._roots, self._files = tuple(roots), None

    # ---- recording

    def hear(self, update: Update) -> None:
        """Handle an update of the chat; replayed history is ignored."""
        self.watch()
        call = update.item
        if not isinstance(call, ToolCall) or not self.chat.is_busy:
            return
        self._reports.hear(call)
        if self._reports.is_waiting:
            self._begin()

    def watch(self) -> None:
        """Read the git state, once, as early as possible."""
        if not self._is_watching:
            self._is_watching = self._is_git_due = True
            self._begin()

    def _begin(self) -> None:
        if self._task is None or self._task.done():
            self._task = asyncio.get_running_loop().create_task(self.settle())

    async def settle(self) -> None:
        """Process all updates received so far."""
        async with self._lock:
            while self._is_git_due or self._reports.is_waiting:
                if self._is_git_due:
                    self._is_git_due = False
                    self.git = await to_thread.run_sync(read_git_state, self._roots[0])
                    self._changed()
                for key in self._reports.take_looks():
                    await self._glimpse(key)
                # All reports about a file are combined: the file may be newer than the first one.
                files: dict[str, list[ReportedDiff]] = {}
                for told in self._reports.take_told():
                    path = await self._place(self._absolute(told.diff.path))
                    files.setdefault(path, []).append(told)
                for path, told_of_it in files.items():
                    await self._take(path, told_of_it)

    async def _glimpse(self, key: UpcomingChange) -> None:
        try:
            text = await self._do(JournalFiles.read, self._absolute(key.path))
        except Unreadable:
            return
        self._reports.saw(key, text)

    async def _take(self, path: str, told: Sequence[ReportedDiff]) -> None:
        seen = [self._reports.seen(one) for one in told]
        diffs = [one.diff for one in told]
        known = self._changes.get(path)
        try:
            disk = await self._do(JournalFiles.read, path)
        except Unreadable as error:
            if known is None:
                self._put(path, unknown_change(path, error.reason))
            return
        if known is not None and not known.why and known.text == disk:
            self._told_late(path, known, diffs)
            return
        texts = await to_thread.run_sync(texts_of_all, diffs, disk, seen[0])
        if texts is None:
            if known is None:
                self._put(path, unknown_change(path, "the agent did not report the old content"))
            return
        moved = next((one.old_path for one in diffs if one.operation == "move"), None)
        source = None if moved is None else self._absolute(moved)
        await self._note(path, texts.before, texts.after, source)
        self._reported.add(path)

    def _told_late(self, path: str, known: FileChange, diffs: Sequence[FileDiff]) -> None:
        """Handle a report about a change that the known content already has.

        Many agents also report writes that they requested from us.  But if an agent made two
        changes before it reported the first, the text that we took for the first has both.
        """
        if path not in self._reported or known.before is None:
            return
        texts = texts_of_all(diffs, known.before, None)
        if texts is not None and texts.before is not None:
            self._put(path, change_of(path, texts.before, known.after, known.old_path))

    async def _note(
        self, path: str, before: str | None, after: str | None, old_path: str | None = None
    ) -> None:
        known = self._changes.get(path)
        if known is None and old_path is not None and old_path in self._changes:
            # The file was changed before it was moved.
            earlier = self._changes.pop(old_path)
            known = replace(earlier, path=path, old_path=earlier.old_path or old_path)
        if known is None:
            work = partial(change_of, path, before, after, old_path)
        else:
            work = partial(changed_again, known, before, after, old_path)
        self._put(path, await to_thread.run_sync(work))

    @asynccontextmanager
    async def writing(self, path: str) -> AsyncGenerator[None]:
        """Journal a write that the agent requests from us; used around the write."""
        self.watch()
        # Earlier reports come first, and the git state before the write.
        await self.settle()
        async with self._lock:
            place = await self._place(path)
            try:
                before = await self._do(JournalFiles.read, place)
            except Unreadable as error:
                yield
                if place not in self._changes:
                    self._put(place, unknown_change(place, error.reason))
                return
            try:
                yield
            finally:
                # Even if the caller was cancelled: a write in a thread is not undone.
                with anyio.CancelScope(shield=True):
                    await self._wrote(place, before)

    async def _wrote(self, path: str, before: str | None) -> None:
        # The content on disk, not as it was sent: line endings may have been preserved.
        try:
            after = await self._do(JournalFiles.read, path)
        except Unreadable as error:
            self._put(path, unknown_change(path, error.reason))
            return
        if after != before:
            await self._note(path, before, after)
            self._reported.discard(path)

    # ---- keep, undo, redo

    def keep(self, path: str, hunk: int | None = None) -> None:
        """Keep one hunk, or all hunks of a file that are not undone."""
        change = self._changes[path]
        numbers = change.applied if hunk is None else {hunk} & change.applied
        self._put(path, change.with_states(numbers, "kept"))

    def keep_all(self) -> None:
        """Keep everything that is pending."""
        for change in self.changes:
            if not change.why:
                self.keep(change.path)

    async def undo(self, path: str, hunk: int | None = None) -> Outcome:
        """Undo one hunk, or all hunks of a file.

        Raises:
            ChangedSince: all lines of the hunks were changed in the meantime.
            AccordError: it cannot be undone, with the reason.
        """
        change = self._changes[path]
        numbers = change.applied if hunk is None else {hunk} & change.applied
        async with self._lock:
            return await self._switch(path, numbers, whole=hunk is None, applied=False)

    async def redo(self, path: str, hunk: int | None = None) -> Outcome:
        """Redo what was undone.  Raises the same as `undo`."""
        change = self._changes[path]
        undone = frozenset(range(len(change.hunks))) - change.applied
        numbers = undone if hunk is None else {hunk} & undone
        async with self._lock:
            return await self._switch(path, numbers, whole=hunk is None, applied=True)

    async def undo_all(self) -> Outcome:
        """Undo everything that is not kept."""
        done = refused = 0
        for change in reversed(self.changes):
            pending = [n for n, state in enumerate(change.states) if state == "pending"]
            if change.why or not pending:
                continue
            whole = len(pending) == len(change.hunks)
            try:
                async with self._lock:
                    found = await self._switch(change.path, pending, whole=whole, applied=False)
            except AccordError:
                found = Outcome(0, len(pending))
            done, refused = done + found.done, refused + found.refused
        return Outcome(done, refused)

    async def _switch(
        self, path: str, numbers: Collection[int], *, whole: bool, applied: bool
    ) -> Outcome:
        change = self._changes[path]
        if change.why:
            raise AccordError(f"{path} cannot be undone: {change.why}")
        moves = change.old_path is not None and (whole or len(change.hunks) == 1)
        if moves and applied and change.is_moved_back:
            await self._move(change.place, path)
            change = replace(change, is_moved_back=False)
            self._put(path, change)
        work = partial(switched, self._disk(), change, sorted(numbers), applied=applied)
        change, outcome = await to_thread.run_sync(work)
        self._put(path, change)
        if numbers and not outcome.done:
            raise ChangedSince(path)
        if moves and not applied and not change.is_moved_back:
            assert change.old_path is not None
            await self._move(change.place, change.old_path)
            self._put(path, replace(change, is_moved_back=True))
        return outcome

    async def _move(self, path: str, target: str) -> None:
        await to_thread.run_sync(self._disk().move, path, target)

    # ---- internals

    def _disk(self) -> JournalFiles:
        if self._files is None:
            self._files = JournalFiles(self._roots, FILE_BYTES_MAX)
        return self._files

    async def _do(self, work: Callable[[JournalFiles, str], T], path: str) -> T:
        def run() -> T:
            try:
                return work(self._disk(), path)
            except FileFailure as error:
                # Not even the folder exists.
                raise Unreadable(path, error.reason) from error

        return await to_thread.run_sync(run)

    async def _place(self, path: str) -> str:
        try:
            return await self._do(JournalFiles.real, path)
        except Unreadable:
            return path

    def _absolute(self, path: str) -> str:
        return os.path.normpath(os.path.join(self._roots[0], path))

    def _put(self, path: str, change: FileChange | None) -> None:
        if change is None:
            self._changes.pop(path, None)
        else:
            self._changes[path] = change
        if len(self._changes) > FILES_MAX:
            del self._changes[next(iter(self._changes))]
        self._shorten()
        self._changed()

    def _shorten(self) -> None:
        """Drop the texts of the oldest files if there are too many."""
        total = sum(one.characters for one in self._changes.values())
        for path, change in list(self._changes.items()):
            if total <= CHARACTERS_MAX:
                return
            total -= change.characters
            if change.characters:
                self._changes[path] = unknown_change(path, "too much was changed in the meantime")

    def _changed(self) -> None:
        self.revision += 1
        self.chat.changed()
        if self.on_change is not None:
            self.on_change()


__all__ = ["Journal", "Outcome"]
