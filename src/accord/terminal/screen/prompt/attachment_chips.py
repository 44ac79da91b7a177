"""A line of attachments above the prompt, each with its type, size and a remove mark.

This module does not know how a file is attached.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from textual.binding import Binding, BindingType
from textual.message import Message

from accord.terminal.model.prompt.attachments import kind_words, size_words
from accord.terminal.model.prompt.unsent_prompts import Attachment
from accord.terminal.model.text.display_text import one_line
from accord.terminal.render.text_runs import cut
from accord.terminal.screen.widgets.clickable_line import Part, PartsLine

_NAME_COLUMNS_MAX = 32


class Chips(PartsLine, can_focus=False):
    """The attachments.  By keys: arrows choose, Delete removes, Enter opens pasted text."""

    DEFAULT_CSS = """
    Chips { display: none; height: 1; background: $surface; }
    Chips.-shown { display: block; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("left", "move(-1)", show=False),
        Binding("right", "move(1)", show=False),
        Binding("delete,backspace,x", "remove", show=False),
        Binding("enter,space", "open", show=False),
    ]

    class Removed(Message):
        """The user removed an attachment."""

        def __init__(self, mark: str) -> None:
            super().__init__()
            self.mark = mark

    class Opened(Message):
        """The user wants to see pasted text in full."""

        def __init__(self, mark: str) -> None:
            super().__init__()
            self.mark = mark

    def __init__(self) -> None:
        super().__init__()
        self._attachments: tuple[Attachment, ...] = ()
        self._at = 0

    def show(self, attachments: Sequence[Attachment]) -> None:
        """Show a chip for each attachment."""
        if tuple(attachments) == self._attachments:
            return
        self._attachments = tuple(attachments)
        self._at = min(self._at, max(len(self._attachments) - 1, 0))
        self.set_class(bool(self._attachments), "-shown")
        if self.has_focus and not self._attachments:
            self.screen.focus_next()
        self.can_focus = bool(self._attachments)
        self.refresh()

    def parts(self, width: int) -> list[Part]:
        """`a.py python 1.2 kB ×`, one behind the other; the chosen one is always seen."""
        first = 0
        # From the left chips go until the chosen one is in.
        while first < self._at and _width(self._parts(self._attachments[first : self._at + 1])) > (
            width
        ):
            first += 1
        last = len(self._attachments)
        while last > max(first, self._at) + 1 and _width(self._some(first, last)) > width:
            last -= 1
        return self._some(first, last)

    def _some(self, first: int, last: int) -> list[Part]:
        """Some of them, and how many more there are."""
        found = self._parts(self._attachments[first:last], first)
        more = len(self._attachments) - last
        return [*found, Part(f"+{more} more", self.palette.dim)] if more else found

    def _parts(self, attachments: Sequence[Attachment], first: int = 0) -> list[Part]:
        palette = self.palette
        found: list[Part] = []
        for place, one in enumerate(attachments, first):
            is_chosen = self.has_focus and place == self._at
            name_style = palette.selected + palette.strong if is_chosen else palette.accent
            target = f"open {place}" if one.kind == "text" else f"choose {place}"
            name = cut(one_line(one.name), _NAME_COLUMNS_MAX)
            about = f" {one_line(kind_words(one))} {size_words(one.size)} "
            found.append(Part(name, name_style, target=target))
            found.append(Part(about, palette.dim, target=target))
            found.append(Part("×", palette.error, target=f"remove {place}"))
            found.append(Part("  ", palette.dim))
        return found

    def pressed(self, target: str) -> None:
        """A chip was clicked: its cross removes it, pasted text opens."""
        what, _, place = target.partition(" ")
        self._at = int(place)
        if what == "remove":
            self.action_remove()
        elif what == "open":
            self.action_open()
        else:
            self.refresh()

    def action_move(self, step: int) -> None:
        """Choose the next one."""
        self._at = min(max(self._at + step, 0), max(len(self._attachments) - 1, 0))
        self.refresh()

    def action_remove(self) -> None:
        """Remove the selected attachment."""
        if self._attachments:
            self.post_message(self.Removed(self._attachments[self._at].mark))

    def action_open(self) -> None:
        """Put pasted text into the prompt as it is."""
        if self._attachments and self._attachments[self._at].kind == "text":
            self.post_message(self.Opened(self._attachments[self._at].mark))

    def on_focus(self) -> None:
        """Show which is chosen."""
        self.refresh()

    def on_blur(self) -> None:
        """No chip is chosen anymore."""
        self.refresh()


def _width(parts: Sequence[Part]) -> int:
    # What is blank at the end may be cut off.
    blank = parts[-1].cells if parts and not parts[-1].text.strip() else 0
    return sum(part.cells for part in parts) - blank
