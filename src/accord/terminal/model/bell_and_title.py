"""The bell and the window title, for a user who looks elsewhere.

This module does not know any screen: it is told about the focus, and returns what to write.

Invariants
    * The bell rings once per event, only if it is enabled, and only while the terminal has no
      focus.
    * The title is our own text and a safe folder name, so it cannot control the terminal.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from accord.terminal.model.chat import Chat
from accord.terminal.model.text.display_text import one_line

TITLE_COLUMNS_MAX = 80


@dataclass(frozen=True, slots=True)
class Signs:
    """Whether to ring, and the title sequence to write; None if it is unchanged."""

    bell: bool = False
    title: str | None = None


@dataclass(slots=True)
class _Known:
    """The last known state of a chat."""

    is_busy: bool = False
    questions: int = 0
    has_failed: bool = False


class Attention:
    """Decides when to call the user.  Guards the invariants of this module."""

    def __init__(self, *, bell: bool = False) -> None:
        self._bell = bell
        self._is_here = True
        self._known: dict[int, _Known] = {}
        self._is_wanted = False
        # What ended while the terminal had no focus.
        self._news = ""
        self._title = ""

    def focus(self, *, is_here: bool) -> None:
        """Note that the terminal got or lost the focus."""
        self._is_here = is_here
        if is_here:
            self._news = ""
            self._is_wanted = False

    def chat_changed(self, chat: Chat) -> None:
        """Check whether the user is needed in a chat, or waited for it."""
        known = self._known.setdefault(id(chat), _Known())
        questions = len(chat.questions.all)
        failed = chat.problem is not None
        news = ""
        if failed and not known.has_failed:
            news = "failed"
        elif known.is_busy and not chat.is_busy:
            news = "done"
        asked = questions > known.questions
        known.is_busy, known.questions, known.has_failed = chat.is_busy, questions, failed
        if self._is_here:
            return
        if news:
            self._news = news
        self._is_wanted = self._is_wanted or asked or bool(news)

    def take(self, chats: Sequence[Chat]) -> Signs:
        """The bell and title for the current state of all chats."""
        there = {id(chat) for chat in chats}
        for key in [one for one in self._known if one not in there]:
            del self._known[key]
        rings = self._bell and self._is_wanted and not self._is_here
        self._is_wanted = False
        title = self.title(chats)
        if title == self._title:
            return Signs(rings)
        self._title = title
        return Signs(rings, window_title(title))

    def title(self, chats: Sequence[Chat]) -> str:
        """The words of the title."""
        for chat in chats:
            if chat.needs_answer:
                return f"● needs you — {_folder(chat)}"
        if self._news and chats:
            mark = "✗" if self._news == "failed" else "✓"
            return f"{mark} {self._news} — {_folder(chats[0])}"
        for chat in chats:
            if chat.is_busy:
                return f"… working — {_folder(chat)}"
        return f"accord — {_folder(chats[0])}" if chats else "accord"


def _folder(chat: Chat) -> str:
    folder = chat.folder.rstrip("/")
    return one_line(folder.rpartition("/")[2] or chat.folder, TITLE_COLUMNS_MAX)


def window_title(text: str) -> str:
    """The escape sequence that sets the window title; the text is made safe once more."""
    return f"\x1b]2;{one_line(text, TITLE_COLUMNS_MAX)}\x1b\\"
