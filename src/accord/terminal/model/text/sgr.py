"""Colours of a terminal's output: what the `ESC [ … m` sequences of a text add up to.

This module does not know lines or screens.  Blinking and hidden text are read as plain: the one is
restless, the other a lie.

Invariant: an `Ink` written by `sequence` and read again by `ink_after` is the same ink.
"""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple, TypeAlias

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
