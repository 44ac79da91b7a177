"""Text of agents made visible: what a terminal would obey, hide or reorder is written out.

Every output of text that an agent, a client, a file or a server chose goes through `visible`.
It must not know agents, screens or streams.

A character that is not drawn is written as its number, `⟨U+200B⟩`; of a run of the same one, the
count as well, `⟨U+200B ×12⟩`.  There is no second form.

What always holds
    * The result has no control, format or surrogate character and none that is drawn as nothing,
      except line ends.  Every character in it has the same width in all terminals.
    * "exact" leaves nothing out, and no text imitates what it writes: two texts that differ look
      different.  Numbers that Unicode has not assigned are written out too, since nobody knows how
      a terminal draws them.
    * "prose" and "code" leave out only what carries no letters: colours, and the joiners and
      variation selectors that choose how emoji and some scripts are drawn.
    * "prose" changes nothing of what any mode has made visible.
    * The time is linear in the length of the text, and one regular expression finds out that
      nothing has to be done.
"""

from __future__ import annotations

import codecs
import re
from collections.abc import Sequence
from itertools import groupby
from typing import Literal, TypeAlias
from unicodedata import category

Mode: TypeAlias = Literal["prose", "exact", "code"]

TAB_COLUMNS = 4
MARKS_MAX = 8
"""Marks (accents, vowels) on one letter; more would be drawn over the lines above and below."""
RUN_MIN = 4
"""So many of the same character that is not drawn are written once, with their number."""
SPACES_MIN = 40
"""So many spaces in a row are written as their number in an exact text."""
BLANK_LINES_MIN = 2
"""So many blank lines in a row are written as their number in an exact text."""
LINE_END = "⏎"
"""What stands for a line end in a text that is shown on one line."""

# How emoji and some scripts are drawn: joiners, variation selectors, skin tones.
_SHAPING = "\u200c\u200d\ufe00-\ufe0f\U0001f3fb-\U0001f3ff"
# Categories Cc, Cf and Cs, written out as ranges so that no table of a million must be made, and
# what else Unicode calls ignorable by default.  A test compares this with Python's own tables.
_UNSEEN = (
    "\x00-\x09\x0b-\x1f\x7f-\x9f\xad\u034f\u0600-\u0605\u061c\u06dd\u070f\u0890-\u0891\u08e2"
    "\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\u3164"
    "\ud800-\udfff\ufdd0-\ufdef\ufeff\uffa0\ufff0-\ufffb\ufffe\uffff\U000110bd\U000110cd"
    "\U00013430-\U0001343f\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff"
    # Kitty draws an image where it finds this one.
    "\U0010eeee"
)
# Blanks other than the space, so that two words could be one, and what each font draws differently.
_ODD_BLANKS = "\xa0\u1680\u2000-\u200a\u202f\u205f\u2800\u3000"
_PRIVATE = "\ue000-\uf8ff\U000f0000-\U0010ffff"
# Neither letters nor signs of ASCII: among them are all marks that are drawn on another letter.
_MAYBE_MARKS = re.compile(rf"[^\w\x00-\x7f]{{{MARKS_MAX + 1},}}")

_NO_LETTERS = re.compile(r"([^\w\x00-\x7f])\1*")

_SUSPECT = re.compile(rf"[{_UNSEEN}{_SHAPING}]|[^\w\x00-\x7f]{{{MARKS_MAX + 1}}}")
_NOT_DRAWN = re.compile(f"([{_UNSEEN}])\\1*")
_NOT_DRAWN_IN_CODE = re.compile(f"([{_UNSEEN}{_SHAPING}])\\1*")
# What imitates our own form is written out too, by its opening bracket.
_NOT_EXACT = re.compile(
    f"([{_UNSEEN}{_SHAPING}{_ODD_BLANKS}{_PRIVATE}]|⟨(?=U\\+|[0-9])|{LINE_END})\\1*"
    f"| {{{SPACES_MIN},}}"
)
# JSON has its line ends between values, and escapes them inside of strings.
_NOT_JSON = re.compile(f"[{_UNSEEN}{_SHAPING}]+".replace("\x00-\x09\x0b-\x1f", ""))
_NOT_IN_MESSAGES = re.compile(f"[{_UNSEEN}{_SHAPING}]+".replace("\x00-\x09", "\x00-\x08"))
_COLOURS = re.compile(r"\x1b\[[0-9;:]*m")
_SHAPING_ONLY = re.compile(f"[{_SHAPING}]")
# Drawing a sign as an emoji does not change its meaning; alone, after such a sign.
_AS_EMOJI = re.compile("(?<=[#*0-9\xa9\xae\u203c-\u3299\U0001f000-\U0001faff])\ufe0f(?!\ufe0f)")
_LINE_ENDS = re.compile(r"\r*\n|[\u2028\u2029]")
_MANY_LINE_ENDS = re.compile(f"\n{{{RUN_MIN},}}")
# A line with nothing to see.
_BLANK = re.compile(f"[ {_UNSEEN}{_SHAPING}{_ODD_BLANKS}]*")

WRITTEN_OUT = re.compile("⟨U\\+[0-9A-F]{4,6}(?: ×[0-9]+)?⟩")
"""What stands for characters that are not drawn."""


def visible(text: str, mode: Mode = "prose") -> str:
    """The text with what a terminal would obey, hide or reorder written out; line ends stay.

    "prose" is for reading: tabs become spaces, colours are dropped.  "exact" is for what somebody
    decides about: all of it, and blanks in large numbers are counted.  "code" is for lines of
    files: exact, but tabs become spaces and blanks stay as they are.
    """
    if mode == "exact":
        return _exact(text)
    if not _SUSPECT.search(text):
        return text
    if mode == "prose":
        text = _LINE_ENDS.sub("\n", text)
        if "\x1b" in text:
            text = _COLOURS.sub("", text)
        text = _SHAPING_ONLY.sub("", text)
        found = _NOT_DRAWN
    else:
        text = _AS_EMOJI.sub("", text)
        found = _NOT_DRAWN_IN_CODE
    if "\t" in text:
        text = "\t".join(found.sub(_written, part) for part in text.split("\t"))
        text = text.expandtabs(TAB_COLUMNS)
    else:
        text = found.sub(_written, text)
    return _with_few_marks(text)


def unfinished(text: str) -> str:
    """The end of a text in pieces that cannot be judged alone: half a line end or a colour."""
    begun = _BEGUN.search(text[-UNFINISHED_MAX:])
    return begun[0] if begun else ""


def visible_line(text: str) -> str:
    """The exact text on one line: line ends are shown as a sign, many in a row are counted."""
    shown = _MANY_LINE_ENDS.sub(lambda run: f"⟨{len(run[0])} line ends⟩", _spelled(text))
    return shown.replace("\n", LINE_END)


def visible_json(text: str) -> str:
    """JSON with what a terminal would not draw as JSON's own escapes: the value stays."""
    return text if text.isascii() and "\x7f" not in text else _NOT_JSON.sub(_escape, text)


def _escape(found: re.Match[str]) -> str:
    units = found[0].encode("utf-16-be", "surrogatepass")
    return "".join(f"\\u{units[at]:02x}{units[at + 1]:02x}" for at in range(0, len(units), 2))


def _exact(text: str) -> str:
    if "\n" not in text:
        return _spelled(text)
    *lines, last = text.split("\n")
    # A text that ends with a line end has no blank line after it.
    lines += [last] if last else []
    shown: list[str] = []
    for is_blank, group in groupby(lines, lambda line: _BLANK.fullmatch(line) is not None):
        run = list(group)
        if is_blank and len(run) >= BLANK_LINES_MIN:
            shown.append(_counted(run))
        else:
            shown += map(_spelled, run)
    return "\n".join(shown) + ("" if last else "\n")


def _spelled(text: str) -> str:
    """Write out everything that is not a letter, sign, single space or line end."""
    shown = _with_few_marks(_NOT_EXACT.sub(_written, text))
    return shown if shown.isascii() else _NO_LETTERS.sub(_unassigned_written, shown)


def _unassigned_written(found: re.Match[str]) -> str:
    """A later Unicode may make a format character of a number that has no character yet."""
    return found[0] if found[1].isprintable() else _numbered(found[0])


def _with_few_marks(text: str) -> str:
    """Write out the marks beyond `MARKS_MAX` on one letter."""
    return text if text.isascii() else _MAYBE_MARKS.sub(_marks_written, text)


def _marks_written(found: re.Match[str]) -> str:
    parts: list[str] = []
    for is_mark, group in groupby(found[0], lambda one: category(one)[0] == "M"):
        run = "".join(group)
        if is_mark and len(run) > MARKS_MAX:
            parts.append(run[:MARKS_MAX])
            parts += (_numbered("".join(same)) for _, same in groupby(run[MARKS_MAX:]))
        else:
            parts.append(run)
    return "".join(parts)


def _counted(blank: Sequence[str]) -> str:
    """A line that says how many blank lines are here, and whether there is more to them."""
    if any(line.strip(" ") for line in blank):
        return f"⟨{len(blank)} lines of characters that are not drawn⟩"
    return f"⟨{len(blank)} blank lines⟩"


def _written(found: re.Match[str]) -> str:
    run = found[0]
    if run[0] == " ":
        return f"⟨{len(run)} spaces⟩"
    return _numbered(run)


def _numbered(run: str) -> str:
    one = f"⟨U+{ord(run[0]):04X}"
    return f"{one} ×{len(run)}⟩" if len(run) >= RUN_MIN else f"{one}⟩" * len(run)


# ---- what a program prints


class VisibleOutput:
    """Bytes that a program prints, as text for a terminal: colours stay, the rest is made visible.

    Of the colours those stay that hide nothing on any background, and none is left on at the end.

    What a program draws over with a carriage return, such as a progress bar, is shown line by
    line.  Guards: characters and sequences that come in pieces are put together again.
    """

    def __init__(self) -> None:
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._begun = ""
        self._is_coloured = False

    def feed(self, data: bytes) -> str:
        """Take the next bytes and return the text that can be shown now."""
        text = self._begun + self._decoder.decode(data)
        # A sequence, or a line end, that may go on in the next piece.
        begun = _BEGUN.search(text)
        self._begun = begun[0] if begun else ""
        return self._noted(_printed(text[: begun.start()] if begun else text))

    def finish(self) -> str:
        """Return what was held back, and switch off a colour that is still on."""
        text, self._begun = self._begun + self._decoder.decode(b"", final=True), ""
        return self._noted(_printed(text)) + (_COLOUR_OFF if self._is_coloured else "")

    def _noted(self, text: str) -> str:
        """Return the text and note whether it leaves a colour switched on."""
        if last := text.rfind("\x1b[") + 1:
            words = text[last + 1 : text.index("m", last)].split(";")
            self._is_coloured = words[-1] != "0"
        return text


class VisibleMessages:
    """Bytes of messages in JSON, for a terminal: what it would obey or not draw is JSON's escapes.

    The values stay, so that a program that reads from a terminal understands them as well.
    """

    def __init__(self) -> None:
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")

    def feed(self, data: bytes) -> bytes:
        """The same bytes; a character that comes in pieces waits for the rest."""
        text = self._decoder.decode(data)
        # Between values it is a blank, and inside of them there is none.
        shown = _NOT_IN_MESSAGES.sub(_escape, text.replace("\r", " "))
        return shown.encode("utf-8", "replace")


_BEGUN = re.compile(r"(?:\x1b(?:\[[0-9;:]{0,32})?|\r)\Z")
UNFINISHED_MAX = 40
_PRINTED_COLOURS = re.compile(r"(\x1b\[[0-9;:]*m)")
# Erasing a line that is not written over has no effect.
_ERASED = re.compile(r"\x1b\[[0-2]?K")
# One at a time and not in runs, which would look different in pieces.
_NOT_PRINTED = re.compile(f"[{_UNSEEN}]".replace("\x00-\x09", "\x00-\x08"))
# Words of a colour sequence that hide nothing on any background: bold, dim, italic, underlined,
# reversed, the colours but black and white, and the way back.  Others are left out.
_SHOWING = frozenset(
    {*"0123479", "21", "22", "23", "24", "27", "29", "39", "49", "90"}
    | {str(tens + one) for tens in (30, 90) for one in range(1, 7)}
)
_COLOUR_OFF = "\x1b[0m"


def _printed(text: str) -> str:
    text = _ERASED.sub("", text.replace("\r\n", "\n").replace("\r", "\n"))
    parts = _PRINTED_COLOURS.split(_SHAPING_ONLY.sub("", text))
    parts[1::2] = map(_colour, parts[1::2])
    for at in range(0, len(parts), 2):
        parts[at] = _with_few_marks(_NOT_PRINTED.sub(_written, parts[at]))
    return "".join(parts)


def _colour(sequence: str) -> str:
    kept: list[str] = []
    # Numbers behind a colon belong to the word before it.
    words = iter([word.partition(":")[0].lstrip("0") or "0" for word in sequence[2:-1].split(";")])
    for word in words:
        if word in ("38", "48", "58") and ":" not in sequence:
            # The numbers of a colour follow it, and are not words of their own.
            for _ in range({"5": 1, "2": 3}.get(next(words, ""), 0)):
                next(words, None)
        elif word in _SHOWING:
            kept.append(word)
    return f"\x1b[{';'.join(kept)}m" if kept else ""
