"""The prompts on disk, shared by all tabs: the history of sent ones and the drafts of unsent ones.

Invariant: the disk is accessed in threads, and failures are not reported, because the user could
not do anything about them.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import count
from pathlib import Path
from typing import TypeVar

import anyio.to_thread

from accord.configuration.user_paths import state_folder
from accord.errors import ConfigError
from accord.terminal.model.chat import Chat
from accord.terminal.model.prompt.history import History
from accord.terminal.model.prompt.unsent_prompts import Draft, Drafts, Writer

ResultT = TypeVar("ResultT")


class Memory:
    """History and drafts in one folder.  Guards: the latest draft is the one that is kept."""

    def __init__(self, folder: Path | None) -> None:
        """Without a folder nothing is stored."""
        self.history = History(None if folder is None else folder / "prompts.jsonl")
        self._drafts = None if folder is None else Drafts(folder / "drafts")
        self._is_read = False
        self._numbers = count()

    async def read(self) -> None:
        """Load the history, once."""
        if not self._is_read and self._drafts is not None:
            self._is_read = True
            await anyio.to_thread.run_sync(self.history.load)

    async def said(self, text: str, folder: str) -> None:
        """Add a prompt to the history."""
        if self._drafts is not None:
            await _in_thread(lambda: self.history.add(text, folder), None)

    async def save(self, chat: Chat) -> None:
        """Save the draft of a chat."""
        drafts, writer, draft, number = self._drafts, _writer(chat), chat.draft, next(self._numbers)
        if drafts is not None:
            await _in_thread(lambda: drafts.save(writer, draft, number), None)

    def save_now(self, chat: Chat) -> None:
        """Save the draft at once, when quitting."""
        if self._drafts is not None:
            try:
                self._drafts.save(_writer(chat), chat.draft, next(self._numbers))
            except OSError:
                pass

    def release(self, chat: Chat) -> None:
        """Release the draft of a closed chat to the next chat in its folder."""
        if self._drafts is not None:
            self._drafts.release(_writer(chat).chat)

    async def restore(self, chat: Chat) -> Draft:
        """The unsent draft of this session; for a new session, that of its folder."""
        drafts, writer = self._drafts, _writer(chat)
        if drafts is None:
            return Draft("")
        # Our own remarks do not count as history.
        is_new = not chat.transcript.timeline

        def look() -> Draft:
            found = drafts.restore(writer, is_new=False)
            if found.is_empty and is_new:
                found = drafts.restore(writer, is_new=True)
            return found

        return await _in_thread(look, Draft(""))


def _writer(chat: Chat) -> Writer:
    return Writer(str(id(chat)), chat.agent, chat.folder, chat.session_id)


async def _in_thread(work: Callable[[], ResultT], otherwise: ResultT) -> ResultT:
    try:
        return await anyio.to_thread.run_sync(work)
    except OSError:
        return otherwise


_MEMORIES: dict[Path | None, Memory] = {}


def memory_of_user() -> Memory:
    """The memory in the user's state folder."""
    try:
        folder = state_folder()
    except ConfigError:
        folder = None
    return _MEMORIES.setdefault(folder, Memory(folder))
