"""A line that a user writes: keys go in, what the terminal is to show comes out.

Pure.  This module does not know which terminal it is, nor what the line is for.

Invariants
    * Nothing is written but letters, backspaces and line endings, so every terminal can show it and
      a screen reader reads it: no cursor is moved by commands.
    * A line that is wider than the terminal is changed at its end, or written again below.
    * A key that is not known changes nothing.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from accord.machine.console.control_characters import visible
from accord.terminal.model.text.display_text import columns

HISTORY_MAX = 1000
"""Lines that are remembered; the oldest are forgotten first."""

LINE_CHARACTERS_MAX = 65_536
"""A longer line takes no more letters."""

# A sequence of a special key, Escape with a letter, or one character.
_KEYS = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|O[ -~]|[^\x1b\[O])|.", re.DOTALL)
_WORD = re.compile(r"\S+\s*$")

_NAMES = {
    "\x1b[D": "left", "\x1bOD": "left", "\x02": "left",
    "\x1b[C": "right", "\x1bOC": "right", "\x06": "right",
    "\x1b[A": "up", "\x1bOA": "up", "\x10": "up",
    "\x1b[B": "down", "\x1bOB": "down", "\x0e": "down",
    "\x1b[H": "home", "\x1bOH": "home", "\x1b[1~": "home", "\x01": "home",
    "\x1b[F": "end", "\x1bOF": "end", "\x1b[4~": "end", "\x05": "end",
    "\x7f": "backspace", "\x08": "backspace", "\x1b[3~": "delete",
    "\x15": "clear", "\x0b": "cut", "\x17": "word", "\x1b": "escape", "\x1b\x7f": "word",
    "\n": "enter", "\r": "enter", "\x04": "end_of_input", "\t": "tab",
}  # fmt: skip


def keys_of(text: str) -> list[str]:
    """The keys that were pressed; a special one is its whole sequence."""
    return _KEYS.findall(text)


def name_of(key: str) -> str | None:
    """What a special key does, or None for a letter and for what is not known."""
    return _NAMES.get(key)


@dataclass(frozen=True, slots=True)
class Pressed:
    """What a key did: what is to be written, and whether it ended the line and how."""

    echo: str = ""
    line: str | None = None
    is_end: bool = False
    is_escape: bool = False


class LineEditor:
    """One line, and those before it.  Guards: `cursor` is within `text`."""

    def __init__(self, complete: Callable[[str], Sequence[str]] | None = None) -> None:
        """`complete` knows the words that a beginning may become."""
        self.text = ""
        self.cursor = 0
        # How wide the terminal is, and the mark before the line.
        self.width = 80
        self.mark = "> "
        # Not shown: what is typed is a secret.
        self.is_secret = False
        # What Enter alone says.
        self.suggestion: str | None = None
        self.keeps_history = True
        self._complete = complete
        self._history: list[str] = []
        self._at: int | None = None
        self._kept = ""

    def press(self, key: str) -> Pressed:
        """Handle one key press."""
        match name_of(key):
            case "enter":
                return self._enter()
            case "end_of_input" if not self.text:
                return Pressed(is_end=True)
            case "escape":
                self._keep()
                return Pressed(self._become(""), is_escape=True)
            case "tab":
                return Pressed(self._tab())
            case None:
                return Pressed(self._insert(key))
            case name:
                return Pressed(self._edit(name))

    def shown(self) -> str:
        """The mark and the line, to be written at the beginning of a line."""
        self.cursor = len(self.text)
        return self.mark + ("" if self.is_secret else self.text)

    def take(self, text: str) -> None:
        """Hold this, without showing it."""
        self.text, self.cursor = text, len(text)

    def drop(self) -> None:
        """Hold nothing, without showing it; one step back in the history is what was here."""
        self._keep()
        self.take("")

    def _keep(self) -> None:
        recalled = None if self._at is None else self._history[self._at]
        if self.keeps_history and recalled is not None:
            # What was begun before they looked back.
            self.remember(self._kept)
        if self.keeps_history and self.text != recalled:
            self.remember(self.text)
        self._at = None

    def remember(self, line: str) -> None:
        """A line that was said."""
        if line.strip() and not self.is_secret and self._history[-1:] != [line]:
            self._history.append(line)
            del self._history[:-HISTORY_MAX]

    def _enter(self) -> Pressed:
        line, echo = self.text, ""
        if not line and self.suggestion is not None:
            line = echo = self.suggestion
        if self.keeps_history:
            self.remember(line)
        self.text, self.cursor, self._at = "", 0, None
        return Pressed(echo, line)

    def _insert(self, key: str) -> str:
        letters = "" if key.startswith("\x1b") else visible(key).replace("\n", " ")
        if not letters or len(self.text) >= LINE_CHARACTERS_MAX:
            return ""
        text = self.text[: self.cursor] + letters + self.text[self.cursor :]
        return self._become(text, self.cursor + len(letters))

    def _edit(self, name: str) -> str:
        text, cursor = self.text, self.cursor
        if name in ("up", "down"):
            return self._recall(-1 if name == "up" else 1)
        if name == "backspace" and cursor:
            return self._become(text[: cursor - 1] + text[cursor:], cursor - 1)
        if name == "delete" or name == "end_of_input":
            return self._become(text[:cursor] + text[cursor + 1 :], cursor)
        if name == "clear":
            return self._become(text[cursor:], 0)
        if name == "cut":
            return self._become(text[:cursor], cursor)
        if name == "word":
            left = _WORD.sub("", text[:cursor])
            return self._become(left + text[cursor:], len(left))
        places = {"left": cursor - 1, "right": cursor + 1, "home": 0, "end": len(text)}
        return self._become(text, places.get(name, cursor))

    def _recall(self, step: int) -> str:
        if not self.keeps_history:
            return ""
        count = len(self._history)
        at = (count if self._at is None else self._at) + step
        if not 0 <= at <= count:
            return ""
        if self._at is None:
            self._kept = self.text
        self._at = None if at == count else at
        return self._become(self._kept if at == count else self._history[at])

    def _tab(self) -> str:
        if self._complete is None or self.cursor < len(self.text) or not self.text:
            return ""
        found = self._complete(self.text)
        if len(found) != 1:
            return ""
        return self._become(found[0])

    # ---- what is written

    def _become(self, text: str, cursor: int | None = None) -> str:
        """Hold another text; what makes the terminal show it."""
        old, before = self.text, self.cursor
        self.text = text
        self.cursor = len(text) if cursor is None else min(max(cursor, 0), len(text))
        if self.is_secret:
            return ""
        longest = columns(self.mark) + max(columns(old), columns(text))
        if longest >= self.width:
            return self._become_long(old)
        if old == text:
            # Only the cursor moves: by writing what it passes, or by backspaces.
            if self.cursor <= before:
                return "\b" * columns(text[self.cursor : before])
            return text[before : self.cursor]
        same = _same(old, text)
        start = "\b" * columns(old[same:before]) if before > same else old[before:same]
        gone = max(columns(old) - columns(text), 0)
        return start + text[same:] + " " * gone + "\b" * (columns(text[self.cursor :]) + gone)

    def _become_long(self, old: str) -> str:
        if self.text.startswith(old):
            self.cursor = len(self.text)
            return self.text[len(old) :]
        if self.text == old[:-1]:
            wide = columns(old[-1])
            left = (columns(self.mark) + columns(old)) % self.width
            if left > wide:
                self.cursor = len(self.text)
                return "\b" * wide + " " * wide + "\b" * wide
        # No backspace leads up into the row above.
        return "\n" + self.shown()


def _same(old: str, new: str) -> int:
    """How many letters both begin with."""
    for at, (one, other) in enumerate(zip(old, new, strict=False)):
        if one != other:
            return at
    return min(len(old), len(new))


__all__ = ["HISTORY_MAX", "LineEditor", "Pressed", "keys_of", "name_of"]
