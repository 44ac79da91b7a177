"""A line editor: keys go in, terminal output comes out.

Pure.  This module does not know the terminal, nor what the line is for.

Invariants
    * Output is only text, backspaces and line endings, so every terminal can show it and screen
      readers can read it.
    * A line that is wider than the terminal is changed at its end, or written again below.
    * An unknown key changes nothing.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from accord.machine.console.control_characters import visible
from accord.terminal.model.text.display_text import columns

HISTORY_MAX = 1000
"""Lines of history; the oldest are dropped first."""

LINE_CHARACTERS_MAX = 65_536
"""The maximum length of a line."""

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
    """Split input into keys; a special key is its whole sequence."""
    return _KEYS.findall(text)


def name_of(key: str) -> str | None:
    """The command of a special key; None for a letter or an unknown key."""
    return _NAMES.get(key)


@dataclass(frozen=True, slots=True)
class Pressed:
    """The effect of a key: output, and whether and how it ended the line."""

    echo: str = ""
    line: str | None = None
    is_end: bool = False
    is_escape: bool = False


class LineEditor:
    """One line and its history.  Guards: `cursor` is within `text`."""

    def __init__(self, complete: Callable[[str], Sequence[str]] | None = None) -> None:
        """`complete` returns the completions of a prefix."""
        self.text = ""
        self.cursor = 0
        # The width of the terminal, and the mark before the line.
        self.width = 80
        self.mark = "> "
        # Whether the input is hidden because it is a secret.
        self.is_secret = False
        # What an empty line means.
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
        """The mark and the line, to be written at the start of a row."""
        self.cursor = len(self.text)
        return self.mark + ("" if self.is_secret else self.text)

    def take(self, text: str) -> None:
        """Set the text without showing it."""
        self.text, self.cursor = text, len(text)

    def drop(self) -> None:
        """Clear the text without showing it, and keep it as the latest history entry."""
        self._keep()
        self.take("")

    def _keep(self) -> None:
        recalled = None if self._at is None else self._history[self._at]
        if self.keeps_history and recalled is not None:
            # What was typed before the user went back in the history.
            self.remember(self._kept)
        if self.keeps_history and self.text != recalled:
            self.remember(self.text)
        self._at = None

    def remember(self, line: str) -> None:
        """Add a line to the history."""
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

    # ---- output

    def _become(self, text: str, cursor: int | None = None) -> str:
        """Set another text and return the output that shows it."""
        old, before = self.text, self.cursor
        self.text = text
        self.cursor = len(text) if cursor is None else min(max(cursor, 0), len(text))
        if self.is_secret:
            return ""
        longest = columns(self.mark) + max(columns(old), columns(text))
        if longest >= self.width:
            return self._become_long(old)
        if old == text:
            # Only the cursor moves, by rewriting text or by backspaces.
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
        # Backspace does not reach the row above.
        return "\n" + self.shown()


def _same(old: str, new: str) -> int:
    """The length of the common prefix."""
    for at, (one, other) in enumerate(zip(old, new, strict=False)):
        if one != other:
            return at
    return min(len(old), len(new))
