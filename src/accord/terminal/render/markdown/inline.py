"""Inline Markdown as styled runs, and runs wrapped into lines.

This module does not know blocks.  The text of every run is cleaned here, because an entity such as
`&#x202e;` can add a character that the source does not have.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from rich.cells import cell_len, chop_cells
from rich.segment import Segment
from rich.style import Style

from accord.machine.console.control_characters import visible
from accord.terminal.render.conversation_colours import Palette
from accord.terminal.render.text_runs import Line, Run

if TYPE_CHECKING:
    from markdown_it.token import Token

_WIDE = (
    r"\u2e80-\u303e\u3041-\u9fff\ua960-\ua97f\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe4f"
    r"\uff01-\uff60\uffe0-\uffe6\U0001b000-\U0001b16f\U00020000-\U0003fffd"
)
_OPENING = r"\u3008\u300a\u300c\u300e\u3010\u3014\uff08\uff3b\uff5b"
_CLOSING = (
    r"\u3001\u3002\u3009\u300b\u300d\u300f\u3011\u3015\u30fc\uff01\uff09\uff0c\uff0e\uff1a"
    r"\uff1b\uff1f\uff3d\uff5d"
)
# A line break, blanks, one wide character with its punctuation, or a word.
_PIECE_MAX = 1024
"""The longest part of a word that is broken at once."""
_PIECES = re.compile(
    rf"(?P<end>\n)|(?P<blank> +)|(?P<wide>[{_OPENING}]*[{_WIDE}][{_CLOSING}]*)|[^ \n{_WIDE}]+"
)
_BREAK_TAG = re.compile(r"<br\s*/?>", re.IGNORECASE)
_BLANKS = re.compile(r"[ \t]+")


def clean(text: str) -> str:
    """Return a clean text with line endings replaced by blanks."""
    return visible(text).replace("\n", " ")


class _Runs:
    """Converts inline tokens to runs."""

    def __init__(self, palette: Palette, base: Style, soft_break: str) -> None:
        self.palette = palette
        self.soft_break = soft_break
        self.found: list[Run] = []
        self.styles = [base]
        # For each open link: its address, and where its text starts in `found`.
        self.links: list[tuple[str, int]] = []

    def add(self, text: str, style: Style | None = None) -> None:
        if text:
            base = self.styles[-1]
            self.found.append((text, base if style is None else base + style))

    def take(self, token: Token) -> None:
        kind = token.type
        if kind in ("text", "text_special"):
            self.add(_BLANKS.sub(" ", clean(token.content)))
        elif kind == "code_inline":
            self.add(clean(token.content), self.palette.code)
        elif kind == "softbreak":
            self.add(self.soft_break)
        elif kind == "hardbreak":
            self.add("\n")
        elif kind == "html_inline":
            said = clean(token.content)
            self.add("\n" if _BREAK_TAG.fullmatch(said) else said)
        elif kind == "image":
            self._image(token)
        elif kind == "link_open":
            self.links.append((str(token.attrGet("href") or ""), len(self.found)))
            self.styles.append(self.styles[-1] + self.palette.link)
        elif kind == "link_close":
            self.styles.pop()
            self._address()
        elif kind.endswith("_open"):
            self.styles.append(self.styles[-1] + self._style_of(kind))
        elif kind.endswith("_close"):
            self.styles.pop()
        else:
            self.add(clean(token.content))

    def _style_of(self, kind: str) -> Style:
        palette = self.palette
        return {
            "strong_open": palette.strong,
            "em_open": palette.emphasis,
            "s_open": palette.struck,
        }.get(kind, palette.text)

    def _image(self, token: Token) -> None:
        # Images that an agent names are never fetched.
        alt, source = clean(token.content), clean(str(token.attrGet("src") or ""))
        self.add(f"[image: {alt}]" if alt else "[image]", self.palette.dim)
        self.add(f" ({source})" if source else "", self.palette.dim)

    def _address(self) -> None:
        href, begin = self.links.pop()
        words = "".join(text for text, _ in self.found[begin:])
        href = clean(href)
        if href and href not in (words, f"mailto:{words}", f"http://{words}", f"https://{words}"):
            self.add(f" ({href})", self.palette.dim)


def runs_of(
    tokens: Iterable[Any], palette: Palette, base: Style, *, soft_break: str = "\n"
) -> list[Run]:
    """Inline tokens of markdown-it as styled text; "\\n" in a run is a break."""
    runs = _Runs(palette, base, soft_break)
    for token in tokens:
        runs.take(token)
    return runs.found


class _Wrapper:
    """Fills lines with words.  Guards: no line is wider than `width`."""

    def __init__(self, width: int) -> None:
        self.width = width
        self.lines: list[Line] = []
        self.line: list[Run] = []
        self.x = 0
        self.word: list[Run] = []
        self.word_width = 0
        # The blanks before the word, if any.
        self.gap: Run | None = None

    def put(self, text: str, style: Style, width: int) -> None:
        """More of the line."""
        if self.line and self.line[-1][1] is style:
            self.line[-1] = (self.line[-1][0] + text, style)
        else:
            self.line.append((text, style))
        self.x += width

    def end_line(self) -> None:
        self.lines.append([Segment(text, style) for text, style in self.line])
        self.line, self.x, self.gap = [], 0, None

    def end_word(self) -> None:
        """Add the word to this line, or to the next one."""
        if not self.word:
            return
        gap = self.gap
        gap_width = len(gap[0]) if gap is not None and self.x else 0
        if self.x + gap_width + self.word_width > self.width and self.x:
            self.end_line()
        elif gap is not None and gap_width:
            self.put(gap[0], gap[1], gap_width)
        self.gap = None
        for text, style in self.word:
            # Avoid measuring a very long word again for each of its lines.
            for begin in range(0, len(text), _PIECE_MAX):
                self._put_piece(text[begin : begin + _PIECE_MAX], style)
        self.word, self.word_width = [], 0

    def _put_piece(self, text: str, style: Style) -> None:
        wide = cell_len(text)
        while self.x + wide > self.width and text:
            room = self.width - self.x
            head = chop_cells(text, room)[0] if room > 0 else ""
            if head and cell_len(head) <= room:
                self.put(head, style, cell_len(head))
                text = text[len(head) :]
            elif not self.x:
                # One character that is wider than the line.
                text = text[1:]
                continue
            wide = cell_len(text)
            if text:
                self.end_line()
        if text:
            self.put(text, style, wide)

    def take(self, text: str, style: Style) -> None:
        for piece in _PIECES.finditer(text):
            kind, said = piece.lastgroup, piece.group()
            if kind is None:
                self.word.append((said, style))
                self.word_width += len(said) if said.isascii() else cell_len(said)
                continue
            self.end_word()
            if kind == "blank":
                self.gap = (said, style) if self.gap is None else self.gap
            elif kind == "end":
                self.end_line()
            else:
                self.word, self.word_width = [(said, style)], cell_len(said)
                self.end_word()


def wrap(runs: list[Run], width: int) -> list[Line]:
    """Wrap runs into lines of at most `width` cells; at least one line."""
    if not runs:
        return [[]]
    whole = "".join([text for text, _ in runs])
    if "\n" not in whole and cell_len(whole) <= width:
        return [[Segment(text, style) for text, style in runs]]
    wrapper = _Wrapper(max(width, 1))
    for text, style in runs:
        wrapper.take(text, style)
    wrapper.end_word()
    if wrapper.line or not wrapper.lines:
        wrapper.end_line()
    return wrapper.lines
