"""Build lines from runs, and cut, wrap and indent them.  A run is safe text in one style.

This module does not know what the lines say.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TypeAlias

from rich.cells import cell_len, set_cell_size
from rich.segment import Segment
from rich.style import Style
from textual.strip import Strip

from accord.terminal.model.text.display_text import columns
from accord.terminal.model.text.display_text import cut as cut_anywhere

Run: TypeAlias = tuple[str, Style]
Line: TypeAlias = list[Segment]


def broken(runs: Sequence[Run], width: int) -> list[list[Run]]:
    """Break a line into parts of at most this many columns; at least one part."""
    width = max(width, 2)
    found: list[list[Run]] = [[]]
    room = width
    for text, style in runs:
        for number, piece in enumerate(_pieces(text, room, width)):
            if number:
                found.append([])
                room = width
            if piece:
                found[-1].append((piece, style))
                room -= columns(piece)
    return found


def _pieces(text: str, room: int, width: int) -> Iterator[str]:
    """Split a text: the first piece fills the rest of a line, the others a whole line each."""
    if text.isascii():
        yield text[:room]
        for at in range(room, len(text), width):
            yield text[at : at + width]
        return
    start = 0
    for at, letter in enumerate(text):
        wide = columns(letter)
        if wide > room:
            yield text[start:at]
            start, room = at, width
        room -= wide
    yield text[start:]


def width_of(runs: Iterable[Run]) -> int:
    """Return the width of the runs in cells."""
    return sum(cell_len(text) for text, _ in runs)


def shortened(runs: Sequence[Run], width: int, mark: str = "…") -> list[Run]:
    """Shorten the runs to this many cells, with a mark if something was left out."""
    if width_of(runs) <= width:
        return list(runs)
    found: list[Run] = []
    room = width
    for text, style in runs:
        wide = cell_len(text)
        # The run that crosses the edge, or ends there with more to come, gets the mark.
        if wide >= room:
            found.append((cut(text + mark if wide == room else text, room, mark), style))
            break
        found.append((text, style))
        room -= wide
    return found


def restyled(runs: Sequence[Run], spans: Sequence[tuple[int, int]], style: Style) -> list[Run]:
    """Apply a style to these spans of characters, counted from the start of the line."""
    if not spans:
        return list(runs)
    found: list[Run] = []
    at = 0
    for text, under in runs:
        start = at
        at += len(text)
        for begin, end in spans:
            if end <= start or begin >= at:
                continue
            if begin > start:
                found.append((text[: begin - start], under))
                text, start = text[begin - start :], begin
            taken = min(end, at) - start
            found.append((text[:taken], under + style))
            text, start = text[taken:], start + taken
        if text:
            found.append((text, under))
    return found


def strip_on(runs: Sequence[Run], under: Style, width: int | None = None) -> Strip:
    """Return a line on a background that fills the width."""
    segments = [Segment(text, under + style) for text, style in runs if text]
    if width is not None:
        free = width - width_of(runs)
        if free > 0:
            segments.append(Segment(" " * free, under))
    return Strip(segments)


def strip_of(*pieces: tuple[str, Style]) -> Strip:
    """Return a line of styled texts that are already safe."""
    return Strip([Segment(text, style) for text, style in pieces if text])


def cut(text: str, width: int, mark: str = "…") -> str:
    """Cut a text to a number of cells, with an ellipsis if it is too long."""
    if cell_len(text) <= width:
        return text
    if width <= cell_len(mark):
        return set_cell_size(text, max(width, 0)).rstrip()
    return set_cell_size(text, width - cell_len(mark)).rstrip() + mark


def wrapped(text: str, width: int) -> list[str]:
    """Wrap a safe text to a number of columns, between words if possible.

    Counts the maximum width that any terminal uses for a character.
    """
    found: list[str] = []
    for line in text.split("\n"):
        rest = ""
        for word in line.split(" "):
            joined = f"{rest} {word}" if rest else word
            if columns(joined) <= width:
                rest = joined
                continue
            if rest:
                found.append(rest)
            *full, rest = cut_anywhere(word, max(width, 2))
            found.extend(full)
        found.append(rest)
    return found


def indented(
    strips: Iterable[Strip], first: tuple[str, Style], rest: tuple[str, Style] | None = None
) -> list[Strip]:
    """Prefix the first line with a mark, and the others with `rest` or blanks."""
    text, style = first
    other = rest or (" " * cell_len(text), Style.null())
    begin, go_on = Segment(text, style), Segment(*other)
    found: list[Strip] = []
    for number, strip in enumerate(strips):
        found.append(Strip([go_on if number else begin, *strip]))
    return found


def fitted(strips: Sequence[Strip], width: int) -> list[Strip]:
    """Cut lines that are too wide after all."""
    return [strip if strip.cell_length <= width else strip.crop(0, width) for strip in strips]


def lines_needed(text: str, width: int) -> int:
    """Estimate the number of lines of a text without wrapping it."""
    return text.count("\n") + 1 + len(text) // max(width, 1)
