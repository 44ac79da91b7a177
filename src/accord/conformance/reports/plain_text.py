"""Makes untrusted text safe for a terminal or a page.

What always holds: what comes out has no control character, no escape sequence and no letter that
changes the direction of text.
"""

from __future__ import annotations

from accord.machine.console.control_characters import visible_line

TEXT_CHARACTERS_MAX = 2_000


def plain(text: str, *, characters_max: int = TEXT_CHARACTERS_MAX) -> str:
    """Text on one line, with everything that is not drawn written out."""
    shown = visible_line(text[: characters_max + 1])
    return shown if len(text) <= characters_max else shown[:characters_max] + " …"
