"""The tab bar: one tab per chat, with marks where the user is needed.

This module does not know what is in a chat.

Invariants
    * The tab in front is always visible.
    * A chat that needs an answer is marked, even if its tab does not fit.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.style import Style
from textual.message import Message

from accord.terminal.model.chat import Chat
from accord.terminal.model.text.display_text import one_line
from accord.terminal.screen.widgets.clickable_line import Part, PartsLine

if TYPE_CHECKING:
    from accord.terminal.engine.chat_controller import ChatController

TITLE_COLUMNS_MAX = 24
_TITLE_COLUMNS_MIN = 8
# The columns of a tab besides its title: blanks, the mark, the close mark.
_AROUND = 6
_MORE_COLUMNS = 6

NEEDS, FAILED, WORKS, NEWS, CALM = "◆", "✗", "●", "•", " "


class TabBar(PartsLine):
    """The tabs of all chats; the one in front with as many neighbours as fit."""

    DEFAULT_CSS = """
    TabBar { height: 1; dock: top; background: $panel; }
    """

    class TabChosen(Message):
        """The user wants this chat in front."""

        def __init__(self, chat: Chat) -> None:
            super().__init__()
            self.chat = chat

    class TabClosed(Message):
        """The user wants this chat closed."""

        def __init__(self, chat: Chat) -> None:
            super().__init__()
            self.chat = chat

    def __init__(self, controller: ChatController) -> None:
        super().__init__()
        self._controller = controller
        self._front: Chat | None = None
        # By chat: its revision when it was last in front.
        self._seen: dict[int, int] = {}

    def show(self, chat: Chat) -> None:
        """Note that this chat came to the front."""
        self._front = chat
        self.refresh_chat()

    def refresh_chat(self) -> None:
        """Draw the tabs again if a mark changed."""
        there = {id(chat) for chat in self._controller.chats}
        for key in [one for one in self._seen if one not in there]:
            del self._seen[key]
        if self._front is not None:
            self._seen[id(self._front)] = len(self._front.entries)
        self.renew()

    def mark(self, chat: Chat) -> str:
        """The mark of a chat that is not in front."""
        if chat.needs_answer:
            return NEEDS
        if chat.problem is not None or chat.phase == "lost":
            return FAILED
        if chat.is_busy or chat.works_alone:
            return WORKS
        is_seen = chat is self._front or len(chat.entries) <= self._seen.get(id(chat), 0)
        return CALM if is_seen else NEWS

    def parts(self, width: int) -> list[Part]:
        """The visible tabs, and the numbers of hidden ones on both sides."""
        chats = list(self._controller.chats)
        if not chats:
            return []
        share = width // len(chats) - _AROUND
        columns = min(max(share, _TITLE_COLUMNS_MIN), TITLE_COLUMNS_MAX)
        tabs = [self._tab(chat, at, columns) for at, chat in enumerate(chats)]
        front = chats.index(self._front) if self._front in chats else 0
        first, last = _window([sum(p.cells for p in tab) for tab in tabs], front, width)
        found = self._more(chats[:first], "‹ {}", "first")
        for tab in tabs[first:last]:
            found += tab
        return found + self._more(chats[last:], "{} ›", "last")

    def _tab(self, chat: Chat, at: int, columns: int) -> list[Part]:
        palette = self.palette
        is_front = chat is self._front
        title = one_line(chat.title) or f"{one_line(chat.agent_name) or 'chat'} {at + 1}"
        title = one_line(title, columns)
        style = palette.strong + palette.selected if is_front else palette.dim
        if is_front and palette.name in ("none", "contrast"):
            style = palette.strong + palette.marked
        mark = self.mark(chat)
        marks = {NEEDS: palette.waiting, FAILED: palette.error, WORKS: palette.running}
        found = [Part(" ", style), Part(mark, _on(marks.get(mark, palette.accent), style))]
        found.append(Part(f" {title} ", style, target=f"show {at}"))
        found.append(Part("×", style, target=f"close {at}"))
        found.append(Part(" ", style))
        return found

    def _more(self, hidden: list[Chat], words: str, target: str) -> list[Part]:
        if not hidden:
            return []
        needed = any(chat.needs_answer for chat in hidden)
        text = words.format(f"{NEEDS}{len(hidden)}" if needed else len(hidden))
        style = self.palette.waiting if needed else self.palette.dim
        at = 0 if target == "first" else len(self._controller.chats) - 1
        for index, chat in enumerate(self._controller.chats):
            if needed and chat.needs_answer and chat in hidden:
                at = index
                break
        return [Part(f" {text} ", style, target=f"show {at}")]

    def pressed(self, target: str) -> None:
        """Handle a click on a tab, its close mark or a count of hidden tabs."""
        what, _, at = target.partition(" ")
        if int(at) >= len(self._controller.chats):
            return
        chat = self._controller.chats[int(at)]
        self.post_message(self.TabClosed(chat) if what == "close" else self.TabChosen(chat))


def _window(widths: list[int], front: int, width: int) -> tuple[int, int]:
    """The range of visible tabs around the one in front."""
    if sum(widths) <= width:
        return 0, len(widths)
    first, last = front, front + 1
    used = widths[front] + 2 * _MORE_COLUMNS
    while True:
        if last < len(widths) and used + widths[last] <= width:
            used += widths[last]
            last += 1
        elif first > 0 and used + widths[first - 1] <= width:
            first -= 1
            used += widths[first]
        else:
            return first, last


def _on(mark: Style, tab: Style) -> Style:
    """A mark in the background colour of its tab."""
    if tab.reverse:
        return tab
    return mark if mark.reverse else mark + Style(bgcolor=tab.bgcolor)
