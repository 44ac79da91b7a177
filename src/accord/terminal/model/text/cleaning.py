"""Text of others, made fit for a terminal: it cannot move the cursor, nor hide or reorder letters.

Must not know agents, entries or screens.

What always holds
    * `harmless` leaves letters, marks, signs, spaces and line ends, and nothing that commands a
      terminal: no control or format character, none that is drawn by no terminal, no half of a
      surrogate pair.  Where terminals disagree about how wide a character sequence is (joined
      emoji, skin tones, variation selectors), the parts that join are gone: every letter that is
      left has the same width everywhere, so that a line is as wide as we think.
    * `sgr_only` leaves the same, and colours.
    * `exact` leaves the same, and nothing of the text out: what is not drawn is written out.
    * `exact_code` does so for a line of a file, whose own letters may be those that `exact` writes:
      in a file `\\x1b` is four letters, and the character itself is a picture of it.
    * Cleaning what is clean changes nothing, and cleaning costs the length of the text.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from unicodedata import category, east_asian_width

TAB_COLUMNS = 4
MARKS_MAX = 8
"""Accents on one letter; more would be drawn over the lines above and below."""

# Categories Cc, Cf and Cs, written out as ranges so that no table of a million must be made, and
# what else Unicode calls ignorable by default.  A test compares this with Python's own tables.
_UNSEEN = (
    "\x00-\x09\x0b-\x1f\x7f-\x9f\xad\u034f\u0600-\u0605\u061c\u06dd\u070f\u0890-\u0891\u08e2"
    "\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f\u3164"
    "\ud800-\udfff\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb\U000110bd\U000110cd"
    "\U00013430-\U0001343f\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U0001f3fb-\U0001f3ff"
    "\U000e0000-\U000e0fff"
    # Kitty draws an image where it finds this one.
    "\U0010eeee"
)
_NOT_SHOWN = re.compile(f"[{_UNSEEN}]+")
_SUSPECT = re.compile(
    f"[{_UNSEEN}\u2028\u2029\u0300-\u036f\u0483-\u0489\u1ab0-\u1aff]|[\u1dc0-\u1dff\u20d0-\u20ff\ufe20-\ufe2f]"
)
_ACCENT = "[\u0300-\u036f\u0483-\u0489\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20ff\ufe20-\ufe2f]"
_TOO_MANY_ACCENTS = re.compile(f"({_ACCENT}{{{MARKS_MAX}}}){_ACCENT}+")
# Whole commands, so that no rest of one is read as text.  No part can begin inside of another,
# so each character is looked at once.
_COMMANDS = re.compile(
    r"(?:\x1b\[|\x9b)[0-?]*[ -/]*[@-~]"
    r"|(?:\x1b[\]PX^_]|[\x90\x98\x9d-\x9f])[^\x07\x1b\x9c\n]*(?:\x07|\x1b\\|\x9c)"
    r"|\x1b[ -/]+[0-~]|\x1b[78=>DEHMNOZclmno|}~]"
)
# Blanks that are no space, so that two words of a command could be one.
_ODD_BLANKS = "\xa0\u1680\u2000-\u200a\u202f\u205f\u2800\u3000"
_WRITTEN_OUT = re.compile(
    f"[{_UNSEEN}{_ODD_BLANKS}\u2028\u2029]|(?<={_ACCENT * MARKS_MAX}){_ACCENT}"
)
_NOT_DRAWN = re.compile(
    f"[{_UNSEEN}\u2028\u2029]|(?<={_ACCENT * MARKS_MAX}){_ACCENT}".replace("\x00-\x09", "\x00-\x08")
)
# That a sign is drawn as an emoji changes nothing of what it says; alone, behind such a sign.
_AS_EMOJI = re.compile("(?<=[#*0-9\xa9\xae\u203c-\u3299\U0001f000-\U0001faff])\ufe0f(?!\ufe0f)")
_PICTURES = {**{n: chr(0x2400 + n) for n in range(0x20)}, 0x7F: "\u2421"}
WRITTEN_OUT = re.compile("[\u2400-\u241f\u2421]|⟨U\\+[0-9A-F]{4,6}⟩")
"""What `exact_code` writes for what is not drawn."""
_LINE_ENDS = re.compile(r"\r*\n|[\u2028\u2029]")
_BREAKS = re.compile(r"\s*\n\s*")


def harmless(text: str) -> str:
    """The text without anything that could command the terminal or deceive about the letters.

    Line ends stay, tabs become spaces.
    """
    if not _SUSPECT.search(text):
        return text
    text = _LINE_ENDS.sub("\n", text)
    if "\x1b" in text or "\x9b" in text:
        text = _COMMANDS.sub("", text)
    if "\t" in text:
        text = "\t".join(without_unseen(part) for part in text.split("\t")).expandtabs(TAB_COLUMNS)
    return _TOO_MANY_ACCENTS.sub(r"\1", without_unseen(text))


def without_unseen(text: str) -> str:
    """The text without control, format and other invisible characters, tabs too; line ends stay."""
    return _NOT_SHOWN.sub("", text)


def few_accents(text: str) -> str:
    """The text with at most `MARKS_MAX` accents in a row."""
    return text if text.isascii() else _TOO_MANY_ACCENTS.sub(r"\1", text)


def one_line(text: str, width: int | None = None) -> str:
    """The harmless text as one line; with a width, what is longer ends with an ellipsis."""
    text = _BREAKS.sub(" ", harmless(text)).strip()
    if width is None or columns(text) <= width:
        return text
    head = next(cut(text, width - 1)) if width > 1 else ""
    # A letter of two columns does not fit into one.
    return (head if columns(head) < width else "") + "…"[:width]


def exact(text: str) -> str:
    """The text with what a terminal would not draw written out; line ends stay."""
    return _WRITTEN_OUT.sub(_code, text)


def exact_line(text: str) -> str:
    """The exact text as one line: its line ends are written out too."""
    return exact(text).replace("\n", "\\n")


def exact_code(line: str) -> str:
    """A line of a file with all that it has: what is not drawn as a picture or by its number.

    Tabs become spaces.
    """
    if not _SUSPECT.search(line):
        return line
    line = _NOT_DRAWN.sub(_picture, _AS_EMOJI.sub("", line))
    return line.replace("\n", _PICTURES[0x0A]).expandtabs(TAB_COLUMNS)


def _picture(found: re.Match[str]) -> str:
    number = ord(found[0])
    return _PICTURES.get(number) or f"⟨U+{number:04X}⟩"


def _code(found: re.Match[str]) -> str:
    number = ord(found[0])
    if number > 0xFFFF:
        return f"\\U{number:08x}"
    return f"\\x{number:02x}" if number < 0x100 else f"\\u{number:04x}"


def sgr_only(text: str) -> str:
    """What stands on the screen after this output was written, with colours and nothing else.

    Carriage returns and backspaces have overwritten what they overwrite.
    """
    # Output lines are cleaned by what stands above.
    from accord.terminal.model.text.output_lines import OutputLines

    return OutputLines(text).coloured


def columns(text: str) -> int:
    """How many columns of a terminal a text takes."""
    return len(text) if text.isascii() else sum(map(_columns_of, text))


def _columns_of(character: str) -> int:
    if character.isascii():
        return 1
    if category(character)[0] == "M" or "\u1160" <= character <= "\u11ff":
        return 0
    return 2 if east_asian_width(character) in "WF" else 1


def cut(text: str, width: int) -> Iterator[str]:
    """The text in parts of at most this width, wherever that cuts it: for code and output."""
    if text.isascii() and width > 0:
        for at in range(0, len(text) or 1, width):
            yield text[at : at + width]
        return
    start = taken = 0
    for at, character in enumerate(text):
        wide = _columns_of(character)
        if at > start and taken + wide > width:
            yield text[start:at]
            start, taken = at, 0
        taken += wide
    yield text[start:]


__all__ = [
    "MARKS_MAX",
    "TAB_COLUMNS",
    "WRITTEN_OUT",
    "columns",
    "cut",
    "exact",
    "exact_code",
    "exact_line",
    "few_accents",
    "harmless",
    "one_line",
    "sgr_only",
    "without_unseen",
]
