"""Draw the screen as an SVG of exactly what is in its cells.

For the README and for tests that compare pictures.  This module does not know what is on the
screen.

Invariants
    * The same screen gives the same bytes: no ids, no dates, no order that changes.
    * It is self-contained: any fixed-width font works, since each run of text has its width.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any
from xml.sax.saxutils import escape

from rich.cells import cell_len
from rich.color import Color
from rich.segment import Segment
from rich.style import Style
from textual.app import App

CELL_WIDTH, CELL_HEIGHT = 8.4, 18
FONT_SIZE = 14
MARGIN = 10
_FONTS = "ui-monospace, 'DejaVu Sans Mono', Menlo, Consolas, monospace"


def picture_of(app: App[Any]) -> str:
    """Draw the current screen of an app."""
    width, height = app.size
    strips = app.screen._compositor.render_strips(app.size)  # pyright: ignore[reportPrivateUsage]
    background = app.screen.styles.background.rich_color
    return svg(strips, width, height, _named(background) or "#000000")


def svg(rows: Iterable[Iterable[Segment]], width: int, height: int, background: str) -> str:
    """Draw rows of cells as an SVG."""
    wide = MARGIN * 2 + width * CELL_WIDTH
    high = MARGIN * 2 + height * CELL_HEIGHT
    lines = [
        (
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {wide:g} {high:g}"'
            f' font-family="{_FONTS}" font-size="{FONT_SIZE}">'
        ),
        f'<rect width="{wide:g}" height="{high:g}" rx="8" fill="{background}"/>',
    ]
    for number, row in enumerate(rows):
        lines.extend(_row(row, MARGIN + number * CELL_HEIGHT, background))
    return "\n".join([*lines, "</svg>", ""])


def _row(row: Iterable[Segment], top: float, background: str) -> Iterator[str]:
    at = 0
    for segment in row:
        if segment.control or not segment.text:
            continue
        cells = cell_len(segment.text)
        yield from _run(segment.text, segment.style or Style.null(), at, cells, top, background)
        at += cells


def _run(
    text: str, style: Style, at: int, cells: int, top: float, background: str
) -> Iterator[str]:
    left, wide = MARGIN + at * CELL_WIDTH, cells * CELL_WIDTH
    front, behind = _named(style.color) or "#cccccc", _named(style.bgcolor) or background
    if style.reverse:
        front, behind = behind, front
    if behind != background:
        yield (
            f'<rect x="{left:g}" y="{top:g}" width="{wide:g}" height="{CELL_HEIGHT}"'
            f' fill="{behind}"/>'
        )
    if not text.strip():
        return
    # Drop blanks at both ends: some programs collapse them.
    shown = text.lstrip(" ")
    left += (len(text) - len(shown)) * CELL_WIDTH
    shown = shown.rstrip(" ")
    marks = [f'x="{left:g}" y="{top + CELL_HEIGHT * 0.75:g}" fill="{front}"']
    if cell_len(shown) > 1:
        marks.append(f'textLength="{cell_len(shown) * CELL_WIDTH:g}"')
    if style.bold:
        marks.append('font-weight="bold"')
    if style.italic:
        marks.append('font-style="italic"')
    if style.dim:
        marks.append('opacity="0.65"')
    lines = [
        word for word, on in (("underline", style.underline), ("line-through", style.strike)) if on
    ]
    if lines:
        marks.append(f'text-decoration="{" ".join(lines)}"')
    yield f'<text xml:space="preserve" {" ".join(marks)}>{escape(shown)}</text>'


def _named(color: Color | None) -> str | None:
    if color is None or color.is_default:
        return None
    return color.get_truecolor().hex
