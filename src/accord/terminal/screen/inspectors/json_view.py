"""Indented JSON in colours, broken to a width; each line is rendered only when visible.

This module does not know what the JSON says.  Text that is not JSON is shown as it is.
"""

from __future__ import annotations

import re
from functools import lru_cache

from rich.cells import cell_len
from textual.strip import Strip

from accord.machine.console.control_characters import visible
from accord.terminal.render.conversation_colours import Palette
from accord.terminal.render.text_runs import Run, strip_of

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
