"""One message of the traffic as a line: time, direction, method, size and duration."""

from __future__ import annotations

from rich.cells import cell_len
from rich.style import Style
from textual.strip import Strip

from accord.terminal.model.labels.amounts import size_words
from accord.terminal.model.text.display_text import one_line
from accord.terminal.model.traffic import Item
from accord.terminal.render.conversation_colours import Palette
from accord.terminal.render.text_runs import cut, strip_of

SIZE_COLUMNS_MIN = 80
"""On a narrower screen the size is left out."""


def row_of(item: Item, width: int, palette: Palette) -> Strip:
    """One message as a line of the list."""
    time = f"{item.time:>9.3f} "
    arrow, side = ("→ ", palette.accent) if item.way == "sent" else ("← ", palette.success)
    words, style = _what(item, palette)
    state, state_style = _state(item, palette)
    size = f" {size_words(item.size):>9} " if width >= SIZE_COLUMNS_MIN else " "
    tail = f"{size}{state:>9} "
    room = max(width - len(time) - len(arrow) - len(tail), 4)
    words = cut(one_line(words), room)
    return strip_of(
        (time, palette.dim),
        (arrow, side),
        (words, style),
        (" " * (room - cell_len(words)), palette.text),
        (size, palette.dim),
        (f"{state:>9} ", state_style),
    )


def _what(item: Item, palette: Palette) -> tuple[str, Style]:
    if item.kind == "noise":
        return item.raw[:200].decode("utf-8", "replace"), palette.warning
    if item.kind == "end":
        return "— connection closed —", palette.dim
    if item.kind == "gap":
        return "a message too long to keep", palette.warning
    if item.kind == "answer":
        return f"✓ {item.method or 'an unexpected response'}", palette.dim
    if item.kind == "error":
        return f"✗ {item.method or 'an unexpected error'}", palette.error
    if item.kind == "batch":
        return "a batch of messages", palette.text
    if item.detail:
        return f"{item.method} {item.detail}", palette.text
    return item.method, palette.strong if item.kind == "request" else palette.text


def _state(item: Item, palette: Palette) -> tuple[str, Style]:
    if item.latency is not None:
        seconds = item.latency
        words = f"{seconds * 1000:.0f} ms" if seconds < 1 else f"{seconds:.1f} s"
        return words, palette.dim
    if item.kind == "request":
        return "waiting", palette.waiting
    return ("noise", palette.warning) if item.kind == "noise" else ("", palette.dim)
