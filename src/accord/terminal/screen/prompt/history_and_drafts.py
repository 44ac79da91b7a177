"""What the prompt remembers beyond a run: history and drafts, the same for all tabs.

Invariant: the disk is touched in threads; what fails there is not told, since nobody
could go on any better by knowing it.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import count
from pathlib import Path
from typing import TypeVar

import anyio.to_thread

from accord.discovery.user_paths import state_folder
from accord.errors import ConfigError
from accord.terminal.model.chat import Chat
from accord.terminal.model.prompt.draft import Draft
from accord.terminal.model.prompt.draft_store import Drafts, Writer
from accord.terminal.model.prompt.history import History

ResultT = TypeVar("ResultT")


class Memory:
    """History and drafts in one folder.  Guards: the last of what was typed is what is kept."""

    def __init__(self, folder: Path | None) -> None:
        """Without a folder nothing is kept."""
        self.history = History(None if folder is None else folder / "prompts.jsonl")
        self._drafts = None if folder is None else Drafts(folder / "drafts")
        self._is_read = False
        self._numbers = count()

    async def read(self) -> None:
        """Read what was said before, once."""
        if not self._is_read and self._drafts is not None:
            self._is_read = True
            await anyio.to_thread.run_sync(self.history.load)

    async def said(self, text: str, folder: str) -> None:
        """Write down what was said."""
        if self._drafts is not None:
            await _in_thread(lambda: self.history.add(text, folder), None)

    async def save(self, chat: Chat) -> None:
        """Keep what is typed."""
        drafts, writer, draft, number = self._drafts, _writer(chat), chat.draft, next(self._numbers)
        if drafts is not None:
            await _in_thread(lambda: drafts.save(writer, draft, number), None)

    def save_now(self, chat: Chat) -> None:
        """The same, at once: for leaving."""
        if self._drafts is not None:
            try:
                self._drafts.save(_writer(chat), chat.draft, next(self._numbers))
            except OSError:
                pass

    def release(self, chat: Chat) -> None:
        """The chat is not shown anymore; who opens its folder next gets what was typed."""
        if self._drafts is not None:
            self._drafts.release(_writer(chat).chat)

    async def restore(self, chat: Chat) -> Draft:
        """What was typed in this session and not sent; in a new one, what was in the folder."""
        drafts, writer = self._drafts, _writer(chat)
        if drafts is None:
            return Draft("")
        # Remarks of our own are no history.
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


__all__ = ["Memory", "memory_of_user"]
