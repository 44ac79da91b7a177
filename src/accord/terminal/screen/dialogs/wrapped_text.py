"""Clean text as the lines of a dialog; what stands for other characters is in reverse video."""

from __future__ import annotations

import re

from rich.style import Style
from textual.strip import Strip

from accord.terminal.render.render_options import Look
from accord.terminal.render.text_runs import strip_of, wrapped

_STANDS_FOR_OTHERS = re.compile(r"(⟨(?:U\+[0-9A-F]+(?: ×[0-9]+)?|[0-9,]+ [a-z ]+)⟩)")


def text_lines(text: str, look: Look, style: Style, *, indent: int = 0) -> list[Strip]:
    """Clean text, wrapped; indentation of its own lines stays."""
    width = max(look.width - indent, 2)
    found: list[Strip] = []
    for line in text.split("\n"):
        bare = line.lstrip(" ")
        lead = " " * min(len(line) - len(bare), width // 2)
        parts = wrapped(bare, width - len(lead))
        found += [strip_of((lead, style), *_marked(part, style)) for part in parts]
    return found


def _marked(part: str, style: Style) -> list[tuple[str, Style]]:
    """A line in which placeholders for other characters are shown in reverse video."""
    if "⟨" not in part:
        return [(part, style)]
    over = style + Style(reverse=True)
    pieces = _STANDS_FOR_OTHERS.split(part)
    return [(piece, over if at % 2 else style) for at, piece in enumerate(pieces)]
