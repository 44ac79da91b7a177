"""Text of strangers made fit for a terminal or a page.

What always holds: what comes out has no control character, no escape sequence and no letter that
changes the direction of text.
"""

from __future__ import annotations

import unicodedata

TEXT_CHARACTERS_MAX = 2_000


def plain(text: str, *, characters_max: int = TEXT_CHARACTERS_MAX) -> str:
    """Text on one line, with everything that is not a visible character written as an escape."""
    shown = "".join(_shown(letter) for letter in text[: characters_max + 1])
    return shown if len(text) <= characters_max else shown[:characters_max] + " …"


def _shown(letter: str) -> str:
    if letter == " " or (letter.isprintable() and unicodedata.category(letter) != "Cf"):
        return letter
    code = ord(letter)
    short = {"\n": "\\n", "\r": "\\r", "\t": "\\t"}
    if letter in short:
        return short[letter]
    return (
        f"\\x{code:02x}"
        if code < 0x100
        else f"\\u{code:04x}"
        if code < 0x10000
        else f"\\U{code:08x}"
    )
