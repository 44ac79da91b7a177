"""Render arbitrary JSON as indented, bounded lines, at once or each when it comes into sight.

Text that is not JSON is shown as it is.
"""

from __future__ import annotations

import json
import re
from functools import lru_cache

from rich.cells import cell_len
from rich.style import Style
from textual.strip import Strip

from accord.machine.console.control_characters import visible
from accord.schema.struct import Raw
from accord.terminal.model.labels.tool_calls import plain_value
from accord.terminal.render.conversation_colours import Palette
from accord.terminal.render.diff import more_line
from accord.terminal.render.render_options import Look
from accord.terminal.render.syntax_colours import Code
from accord.terminal.render.text_runs import Run, broken, indented, strip_of, strip_on

PRETTY_BYTES_MAX = 200_000
"""Longer JSON is shown as it is, without indentation."""
CHARACTERS_MAX = 200_000
LINES_MAX = 400


def json_text(raw: Raw | bytes) -> str:
    """Return JSON for a user: indented and unescaped; unchanged if it cannot be parsed."""
    data = bytes(raw)
    if len(data) <= PRETTY_BYTES_MAX:
        value = plain_value(data)
        if value is not None:
            return json.dumps(value, indent=2, ensure_ascii=False)
    return data[:CHARACTERS_MAX].decode("utf-8", "replace")


def json_lines(
    raw: Raw | bytes, look: Look, limit: int = LINES_MAX, indent: str = ""
) -> list[Strip]:
    """Render JSON as at most `limit` lines, and a count of the others."""
    return verbatim_lines(json_text(raw), look, limit, indent, language="json")


def verbatim_lines(
    text: str, look: Look, limit: int = LINES_MAX, indent: str = "", *, language: str = ""
) -> list[Strip]:
    """Render text unchanged; long lines are broken."""
    whole = visible(text[:CHARACTERS_MAX]).rstrip("\n").split("\n")
    lines = whole[:limit]
    bar = f"{indent}{look.mark('│', '|')} "
    width = max(look.width - len(bar), 4)
    found: list[Strip] = []
    for runs in Code(language, look.palette).runs(lines):
        found += [strip_on(part, Style.null()) for part in broken(runs, width)]
        if len(found) >= limit:
            break
    border = (bar, look.palette.border)
    left_out = max(len(whole) - len(lines), 0) + max(len(found) - limit, 0)
    found = indented(found[:limit], border, border)
    if left_out or len(text) > CHARACTERS_MAX:
        found.append(more_line(max(left_out, 1), look, indent))
    return found


LINE_CHARACTERS_MAX = 10_000

_PARTS = re.compile(r'("(?:[^"\\]++|\\.)*+")(\s*:)?|(-?\d[\d.eE+-]*+)|(true|false|null)')


class JsonLines:
    """Break a text into lines of at most this many cells."""

    def __init__(self, text: str, width: int) -> None:
        self._lines = [
            visible(line[:LINE_CHARACTERS_MAX]).replace("\n", " ") for line in text.split("\n")
        ]
        self._width = max(width, 2)
        # By line on the screen: the line of the text, and how many cells come before.
        self._places: list[tuple[int, int]] = []
        for number, line in enumerate(self._lines):
            cells = len(line) if line.isascii() else cell_len(line)
            self._places += [(number, start) for start in range(0, max(cells, 1), self._width)]

    def __len__(self) -> int:
        return len(self._places)

    def strip(self, index: int, palette: Palette) -> Strip:
        """One line of the screen."""
        number, start = self._places[index]
        return _coloured(self._lines[number], palette).crop(start, start + self._width)


@lru_cache(maxsize=256)
def _coloured(line: str, palette: Palette) -> Strip:
    runs: list[Run] = []
    at = 0
    for match in _PARTS.finditer(line):
        if match.start() > at:
            runs.append((line[at : match.start()], palette.text))
        word, colon, number, _ = match.groups()
        if word is not None and colon is not None:
            runs += [(word, palette.accent), (colon, palette.text)]
        elif word is not None:
            runs.append((word, palette.success))
        else:
            runs.append((match[0], palette.code if number is not None else palette.warning))
        at = match.end()
    runs.append((line[at:], palette.text))
    return strip_of(*runs)
