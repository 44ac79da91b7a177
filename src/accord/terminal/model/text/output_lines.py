"""The lines that a command's output leaves on a screen: colours kept, all else obeyed or dropped.

This module does not know widths or screens: a line is as long as it was written.  The cursor moves
within the line that is being written (carriage return, backspace, erase to the end), as progress
bars need it; what would move it elsewhere, and every other command, is dropped.  Blinking and
hidden text are read as plain: the one is restless, the other a lie.

Invariants
    * Each character is looked at once; feeding in pieces gives what feeding at once gives.
    * A line that was ended never changes again.
    * `lines` has no control or format character, whatever was fed.
    * An `Ink` written by `sequence` and read again by `ink_after` is the same ink.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import NamedTuple, TypeAlias

from accord.machine.console.control_characters import visible

# The colour of the terminal itself, one of 256, or red, green and blue.
Colour: TypeAlias = int | tuple[int, int, int] | None

PARAMETERS_MAX = 32
"""Parameters of one sequence; what follows is ignored."""


class Ink(NamedTuple):
    """How the next letter is written."""

    front: Colour = None
    back: Colour = None
    bold: bool = False
    dim: bool = False
    italic: bool = False
    underline: bool = False
    reverse: bool = False
    strike: bool = False


PLAIN = Ink()

_ON = {1: "bold", 2: "dim", 3: "italic", 4: "underline", 7: "reverse", 9: "strike", 21: "underline"}
_OFF = {
    22: ("bold", "dim"),
    23: ("italic",),
    24: ("underline",),
    27: ("reverse",),
    29: ("strike",),
    39: ("front",),
    49: ("back",),
}


def _number(digits: str) -> int:
    if not digits:
        return 0
    # A parameter that is not a number becomes -1, which changes nothing.
    return int(digits) if digits.isdecimal() and len(digits) < 4 else -1


def _numbers(parameters: str) -> list[int]:
    found: list[int] = []
    # `4:3` is a wavy underline and `4:0` none; the sub-parameters of all but colours are ignored.
    for part in parameters.split(";", PARAMETERS_MAX)[:PARAMETERS_MAX]:
        pieces = [_number(piece) for piece in part.split(":")]
        if pieces[0] in (38, 48) and len(pieces) > 1:
            # `38:2::r:g:b` names a colour space between the 2 and the red.
            found += [*pieces[:2], *pieces[-3:]] if pieces[1] == 2 else pieces[:3]
        elif pieces[:2] == [4, 0]:
            found.append(24)
        else:
            found.append(pieces[0])
    return found


def _level(number: int) -> int:
    return max(0, min(number, 255))


@lru_cache(maxsize=1024)
def ink_after(ink: Ink, parameters: str) -> Ink:
    """The ink after `ESC [ parameters m`; what is not known changes nothing."""
    values: dict[str, object] = ink._asdict()
    numbers = iter(_numbers(parameters))
    for number in numbers:
        if number == 0:
            values = PLAIN._asdict()
        elif number in _ON:
            values[_ON[number]] = True
        elif number in _OFF:
            for name in _OFF[number]:
                values[name] = None if name in ("front", "back") else False
        elif 30 <= number <= 37 or 90 <= number <= 97:
            values["front"] = number - 30 if number < 90 else number - 82
        elif 40 <= number <= 47 or 100 <= number <= 107:
            values["back"] = number - 40 if number < 100 else number - 92
        elif number in (38, 48):
            name = "front" if number == 38 else "back"
            form = next(numbers, 0)
            if form == 5:
                values[name] = _level(next(numbers, 0))
            elif form == 2:
                values[name] = tuple(_level(next(numbers, 0)) for _ in range(3))
    return Ink(**values)  # type: ignore[arg-type]


def _colour(colour: Colour, base: int) -> list[str]:
    if colour is None:
        return []
    if isinstance(colour, tuple):
        return [f"{base + 8};2;{colour[0]};{colour[1]};{colour[2]}"]
    if colour < 8:
        return [str(base + colour)]
    return [str(base + 52 + colour)] if colour < 16 else [f"{base + 8};5;{colour}"]


@lru_cache(maxsize=1024)
def sequence(ink: Ink) -> str:
    """The one sequence that sets this ink, whatever was set before."""
    on = [
        code
        for code, is_on in (
            ("1", ink.bold),
            ("2", ink.dim),
            ("3", ink.italic),
            ("4", ink.underline),
            ("7", ink.reverse),
            ("9", ink.strike),
        )
        if is_on
    ]
    return f"\x1b[{';'.join(['0', *on, *_colour(ink.front, 30), *_colour(ink.back, 40)])}m"


TAB_STOPS = 8
LINES_MAX = 10_000
"""Lines that are kept; the oldest go first."""
_COMMAND_MAX = 256
"""The longest terminal command that is parsed."""

# One command, the beginning of a string, or one control character.  No alternative can fail after
# it has read far: a text is read in one pass.
_COMMAND = re.compile(
    r"(?:\x1b\[|\x9b)(?P<parameters>[0-?]*)(?P<between>[ -/]*)(?P<final>[@-~])?"
    r"|(?P<osc>\x1b\]|\x9d)|(?P<string>\x1b[PX^_]|[\x90\x98\x9e\x9f])"
    r"|\x1b[ -/]*[0-~]?"
    r"|[\x00-\x1f\x7f-\x9f\u2028\u2029]"
)
# A possible start of a terminal command at the end of the input.
_UNENDED = re.compile(r"(?:\x1b\[|\x9b)[0-?]*[ -/]*|\x1b[ -/]*")
# A string runs to its end, or unended to the next escape; an OSC at most to the end of its line,
# so that one that was cut off does not eat what follows.  The escape of its end is read as a
# command of its own.
_OSC_END = re.compile(r"[\x07\x18\x1a\x9c]|(?=[\x1b\n])")
_STRING_END = re.compile(r"[\x18\x1a\x9c]|(?=\x1b)")
_NEW_LINES = frozenset("\n\x0b\x0c\x85\u2028\u2029")
_PRIVATE = frozenset("<=>?")


class Run(NamedTuple):
    """Letters of one ink."""

    text: str
    ink: Ink


Line: TypeAlias = tuple[Run, ...]


def _joined(runs: list[tuple[str, Ink]]) -> Line:
    found: list[Run] = []
    texts: list[str] = []
    ink = PLAIN
    for text, other in runs:
        if texts and other != ink:
            found.append(Run(visible("".join(texts)), ink))
            texts.clear()
        ink = other
        texts.append(text)
    if texts:
        found.append(Run(visible("".join(texts)), ink))
    return tuple(found)


class OutputLines:
    """Output as a terminal shows it.  Guards the invariants of this module."""

    def __init__(self, text: str = "", *, lines_max: int = LINES_MAX) -> None:
        self._lines_max = lines_max
        # Lines that were ended and are kept, and how many were dropped before them.
        self.ended: list[Line] = []
        self.dropped = 0
        self._ink = PLAIN
        # The line that is written: runs while the cursor is at its end, cells once it was not.
        self._runs: list[tuple[str, Ink]] = []
        self._length = 0
        self._cells: list[tuple[str, Ink]] | None = None
        self._cursor = 0
        self._waiting = ""
        self._string: re.Pattern[str] | None = None
        self.feed(text)
        # Text that is given whole has no more to come.
        if text:
            self._waiting = ""

    @property
    def last(self) -> Line:
        """The line that is not ended yet; empty after a line end."""
        return _joined(self._runs if self._cells is None else self._cells)

    @property
    def lines(self) -> list[Line]:
        """All lines that are kept."""
        last = self.last
        return [*self.ended, last] if last else list(self.ended)

    @property
    def count(self) -> int:
        """How many lines there were, the dropped ones included."""
        return self.dropped + len(self.ended) + (1 if self._length or self._cells else 0)

    @property
    def coloured(self) -> str:
        """All of it as text with colour sequences, plain at the end."""
        written: list[str] = []
        ink = PLAIN
        for number, line in enumerate([*self.ended, self.last]):
            if number:
                written.append("\n")
            for run in line:
                if run.ink != ink:
                    ink = run.ink
                    written.append(sequence(ink))
                written.append(run.text)
        if ink != PLAIN:
            written.append(sequence(PLAIN))
        return "".join(written)

    def feed(self, text: str) -> None:
        """Take more output; a command whose end has not come waits for it."""
        if self._waiting:
            text, self._waiting = self._waiting + text, ""
        at = 0
        while at < len(text):
            if self._string is not None:
                end = self._string.search(text, at)
                if end is None:
                    return
                at, self._string = end.end(), None
            match = _COMMAND.search(text, at)
            if match is None:
                self._write(text[at:])
                break
            if at < match.start():
                self._write(text[at : match.start()])
            at = match.end()
            if at == len(text) and _UNENDED.fullmatch(match[0]):
                self._waiting = match[0][:_COMMAND_MAX]
            else:
                self._obey(match)
        if len(self.ended) > 2 * self._lines_max:
            self._drop()

    def _drop(self) -> None:
        many = len(self.ended) - self._lines_max
        del self.ended[:many]
        self.dropped += many

    def _obey(self, match: re.Match[str]) -> None:
        command, parameters = match[0], match["parameters"] or ""
        if command in _NEW_LINES:
            self.ended.append(self.last)
            self._runs, self._length, self._cells, self._cursor = [], 0, None, 0
        elif command == "\r":
            self._move(0)
        elif command == "\b":
            self._move(self._position - 1)
        elif command == "\t":
            self._write(" " * (TAB_STOPS - self._position % TAB_STOPS))
        elif match["osc"] or match["string"]:
            self._string = _OSC_END if match["osc"] else _STRING_END
        elif match["final"] == "m" and not match["between"]:
            if not _PRIVATE.intersection(parameters):
                self._ink = ink_after(self._ink, parameters[:_COMMAND_MAX])
        elif match["final"] == "K":
            self._erase(parameters)

    @property
    def _position(self) -> int:
        return self._length if self._cells is None else self._cursor

    def _move(self, position: int) -> None:
        if self._cells is None:
            self._cells = [(letter, ink) for text, ink in self._runs for letter in text]
            self._runs = []
        self._cursor = max(position, 0)

    def _erase(self, how: str) -> None:
        if how == "2":
            # Erasing a line moves the cursor to its start.
            self._move(0)
        if how in ("", "0", "2") and self._cells is not None:
            del self._cells[self._cursor :]
            self._length = len(self._cells)

    def _write(self, text: str) -> None:
        if self._cells is None:
            self._runs.append((text, self._ink))
            self._length += len(text)
            return
        end = self._cursor + len(text)
        self._cells[self._cursor : end] = [(letter, self._ink) for letter in text]
        self._cursor = end
        self._length = len(self._cells)
