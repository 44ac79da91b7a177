"""Render arbitrary JSON as indented, bounded lines."""

from __future__ import annotations

import json

from rich.style import Style
from textual.strip import Strip

from accord.machine.console.control_characters import visible
from accord.schema.struct import Raw
from accord.terminal.model.labels.tool_calls import plain_value
from accord.terminal.render.diff import more_line
from accord.terminal.render.render_options import Look
from accord.terminal.render.syntax_colours import Code
from accord.terminal.render.text_runs import broken, indented, strip_on

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
