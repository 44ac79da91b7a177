"""Text selection in the conversation.

A Textual selection uses columns and line numbers.  Our line numbers change when lines above grow,
but places do not.  So a place is encoded as one number, in the order of places.
"""

from __future__ import annotations

from rich.cells import cell_len
from rich.style import Style
from textual.selection import Selection
from textual.strip import Strip

from accord.terminal.screen.conversation.rows import Place, Rows

_ROWS_MAX = 1 << 24
"""The maximum number of rows of a block in the encoding."""


def offset_of(place: Place) -> int:
    """A place as one number."""
    return place.block * _ROWS_MAX + place.row


def place_of(offset: int) -> Place:
    """The place that a number encodes."""
    return Place(*divmod(offset, _ROWS_MAX))


def marked_line(line: Strip, selection: Selection, place: Place, style: Style) -> Strip:
    """A painted line with its selected part highlighted."""
    span = selection.get_span(offset_of(place))
    if span is None:
        return line
    text = line.text
    begin, end = span
    end = len(text.rstrip()) if end == -1 else end
    begin, end = cell_len(text[:begin]), cell_len(text[:end])
    if end <= begin:
        return line
    middle = [
        part._replace(style=(part.style or Style()) + style) for part in line.crop(begin, end)
    ]
    return Strip.join([line.crop(0, begin), Strip(middle), line.crop(end, line.cell_length)])


def text_between(rows: Rows, selection: Selection, gutter: int) -> str:
    """The selected text by lines; for the whole conversation, the text of all blocks."""
    if selection.start is None and selection.end is None:
        return "\n\n".join(filter(None, (block.text() for block in rows.blocks)))
    last = len(rows.blocks) - 1
    begin = place_of(selection.start.y) if selection.start is not None else Place(0, 0)
    end = place_of(selection.end.y) if selection.end is not None else Place(last, _ROWS_MAX)
    found: list[str] = []
    for index in range(begin.block, min(end.block, last) + 1):
        count = rows.rows(index)
        first = begin.row if index == begin.block else 0
        after = min(count, end.row + 1) if index == end.block else count
        for row in range(first, after):
            place = Place(index, row)
            strip = rows.strip_at(place)
            text = " " * gutter + strip.text if strip is not None else ""
            left, right = selection.get_span(offset_of(place)) or (0, -1)
            right = len(text) if right == -1 else right
            found.append(text[max(left, gutter) : right].rstrip())
    return "\n".join(found)
