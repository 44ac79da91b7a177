"""Build lines from runs; a run is safe text in one style.

This module does not know what the lines say.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from rich.cells import cell_len
from rich.segment import Segment
from rich.style import Style
from textual.strip import Strip

from accord.terminal.model.text.display_text import columns
from accord.terminal.render.block import cut
from accord.terminal.render.markdown.inline import Run


def broken(runs: Sequence[Run], width: int) -> list[list[Run]]:
    """A line in parts of at most so many columns, wherever that cuts it; at least one part."""
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
    """The text in pieces: the first in the room that is left, the others in a whole line each."""
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
    """How many cells the runs take."""
    return sum(cell_len(text) for text, _ in runs)


def shortened(runs: Sequence[Run], width: int, mark: str = "…") -> list[Run]:
    """The runs in so many cells, with a mark where something was left out."""
    if width_of(runs) <= width:
        return list(runs)
    found: list[Run] = []
    room = width
    for text, style in runs:
        wide = cell_len(text)
        # The one that crosses the edge, or ends on it with more to come, gets the mark.
        if wide >= room:
            found.append((cut(text + mark if wide == room else text, room, mark), style))
            break
        found.append((text, style))
        room -= wide
    return found


def restyled(runs: Sequence[Run], spans: Sequence[tuple[int, int]], style: Style) -> list[Run]:
    """The runs with a style laid over these characters, counted from the front of the line."""
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
    """A line on a background, filled up with it to a width."""
    segments = [Segment(text, under + style) for text, style in runs if text]
    if width is not None:
        free = width - width_of(runs)
        if free > 0:
            segments.append(Segment(" " * free, under))
    return Strip(segments)


__all__ = ["broken", "restyled", "shortened", "strip_on", "width_of"]
