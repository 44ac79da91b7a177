"""Render growing Markdown as lines.

A message comes in thousands of small pieces and is drawn while it comes.  Blocks that cannot
change anymore are frozen as strips, and so are items of a list and pieces of code in a block that
goes on; only the rest is read and laid out again.

Invariants
    * The lines depend on the text alone, never on the pieces it came in.
    * No line is wider than the look; nothing but the text gets through, no control character.
    * No text makes it raise.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import islice
from typing import TYPE_CHECKING, Any

from markdown_it.common.utils import normalizeReference
from rich.style import Style
from textual.strip import Strip

from accord.machine.console.control_characters import visible
from accord.terminal.render.markdown.inline import wrap
from accord.terminal.render.markdown.layout import Layout, code_of, end_of
from accord.terminal.render.render_options import Look
from accord.terminal.render.syntax import PIECE_LINES, Code, code_lines
from accord.terminal.render.text_runs import Line

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.token import Token

NESTING_MAX = 40
"""Quotes and lists in each other; what goes deeper is shown as it was written."""

_LINE_ENDS = re.compile("[\n\u2028\u2029]")
_LABELS = re.compile(r"\[((?:[^\[\]\\]|\\.)+)\]")
_BLANK = Strip([])
_STUMBLES = (RecursionError, ValueError, LookupError, TypeError, AttributeError, AssertionError)


@lru_cache(maxsize=1)
def _parser() -> MarkdownIt:
    from markdown_it import MarkdownIt

    # Tables and strikethrough are GFM's; addresses are not guessed, HTML is shown as text.
    parser = MarkdownIt("commonmark", {"maxNesting": NESTING_MAX})
    return parser.enable(["table", "strikethrough"])


@dataclass(frozen=True, slots=True)
class _Begun:
    """What the rest of the text goes on with: a list, code, or nothing."""

    # The number of the next item.
    number: int | None = None
    # The line of the fence that is still open.
    opening: str = ""
    # Whether a blank line stands between what is frozen and the rest.
    has_gap: bool = True


_NOTHING = _Begun()


@dataclass(slots=True)
class _Part:
    """A block, or some of it, as lines, with what is needed to lay it out again."""

    source: str
    strips: list[Strip]
    # Link definitions that it might use.
    labels: frozenset[str]
    begun: _Begun


class MarkdownLines:
    """One text of Markdown as strips.  Guards the invariants of this module."""

    def __init__(self, look: Look, base: Style | None = None, *, breaks: bool = True) -> None:
        self.look = look
        self.base = look.palette.text if base is None else base
        self._parser = _parser()
        self._breaks = breaks
        self._reset()

    def _reset(self) -> None:
        self._layout = Layout(self._parser, self.look, self.base, breaks=self._breaks)
        # So much of the text is frozen.
        self._done = ""
        self._frozen: list[_Part] = []
        self._strips: list[Strip] = []
        self._begun = _NOTHING
        # Link definitions in what is frozen, and all that were known the last time.
        self._definitions: dict[str, Any] = {}
        self._known: dict[str, tuple[str, str]] = {}

    def set(self, text: str) -> list[Strip]:
        """The lines of a text; cheap where it begins as the last one did."""
        if not text.startswith(self._done):
            self._reset()
        try:
            found = self._grow(text)
        except _STUMBLES:
            # No text is known that does it.  If there is one, it is shown as it was written.
            raw = text[len(self._done) :]
            found = self._strips + _strips(wrap([(visible(raw), self.base)], self.look.width))
        self._layout.end_round()
        return found

    def _grow(self, text: str) -> list[Strip]:
        """Freeze what is finished in the rest of the text; all lines."""
        while True:
            source = self._begun.opening + visible(text[len(self._done) :])
            blocks = self._read(source)
            complete = source.count("\n")
            finished = _finished([_span(block)[0] for block in blocks], complete)
            for number, block in enumerate(blocks[:finished]):
                self._freeze(self._lay_out(block, is_first=number == 0))
            if finished:
                self._pass(text, _span(blocks[finished - 1])[1], _NOTHING)
            elif not blocks or not self._freeze_some(text, blocks[0], complete):
                break
        found = list(self._strips)
        for number, block in enumerate(blocks):
            _stack(found, self._lay_out(block, is_first=number == 0))
        return found

    def _read(self, source: str) -> list[Sequence[Token]]:
        """The blocks of a text, with what is known of links."""
        tokens: list[Token] = []
        env: dict[str, Any] = {"references": dict(self._definitions)}
        self._parser.block.parse(source, self._parser, env, tokens)
        self._layout.env = env
        self._define(env["references"])
        self._layout.source = source.split("\n")
        return _top_blocks(tokens)

    def _lay_out(self, block: Sequence[Token], *, is_first: bool) -> _Part:
        """A block, of which the first one may go on with what is frozen already."""
        begun = self._begun if is_first else _NOTHING
        begin, end = _span(block)
        source, labels = "", frozenset[str]()
        if block[0].type not in ("fence", "code_block"):
            source = "\n".join(self._layout.source[begin:end]) + "\n"
            labels = frozenset(map(normalizeReference, _LABELS.findall(source)))
        return _Part(source if labels else "", self._strips_of(block, begun), labels, begun)

    def _strips_of(self, block: Sequence[Token], begun: _Begun) -> list[Strip]:
        width = self.look.width
        if any(token.level >= NESTING_MAX - 2 for token in block):
            # The parser leaves out what lies deeper; so all of it is shown as it was written.
            source = "\n".join(self._layout.source[slice(*_span(block))])
            return _strips(wrap([(source, self.base)], width))
        if begun.number is not None:
            return _strips(self._layout.items(block, begun.number, width, self.base))
        return _strips(self._layout.block(block, width, self.base))

    # ---- freezing

    def _freeze(self, part: _Part) -> None:
        self._frozen.append(part)
        _stack(self._strips, part)

    def _pass(self, text: str, end: int, begun: _Begun, code: Code | None = None) -> None:
        """The lines before `end`, of what was read last, are frozen."""
        for label, found in self._layout.env["references"].items():
            if label not in self._definitions and found["map"][0] < end:
                self._definitions[label] = found
        # As many line endings as there are frozen lines, in the text as it came.
        wanted = end - self._begun.opening.count("\n")
        ends = islice(_LINE_ENDS.finditer(text, len(self._done)), wanted - 1, wanted)
        self._done = text[: next(ends).end()]
        self._begun = begun
        self._layout.forget_codes(code)

    def _freeze_some(self, text: str, block: Sequence[Token], complete: int) -> bool:
        """Freeze what is finished in the first block though it goes on; whether there was any."""
        if block[0].type in ("bullet_list_open", "ordered_list_open"):
            return self._freeze_items(text, block, complete)
        return block[0].type == "fence" and self._freeze_code(text, block[0], complete)

    def _freeze_items(self, text: str, block: Sequence[Token], complete: int) -> bool:
        places, at = list[int](), 1
        while at < len(block) - 1:
            places.append(at)
            at = end_of(block, at)
        finished = _finished([_span(block[place:])[0] for place in places], complete)
        if not finished:
            return False
        start = block[0].attrGet("start")
        number = self._begun.number
        if number is None:
            number = 1 if start is None else int(start)
            self._begun = _Begun(number, has_gap=self._begun.has_gap)
        cut = places[finished]
        some = [block[0].copy(), *block[1:cut], block[-1]]
        end = _span(block[cut:])[0]
        some[0].map = [_span(block)[0], end]
        self._freeze(self._lay_out(some, is_first=True))
        gap = self._layout.has_gap(block[cut])
        self._pass(text, end, _Begun(number + finished, has_gap=gap))
        return True

    def _freeze_code(self, text: str, fence: Token, complete: int) -> bool:
        begin = _span([fence])[0]
        lines = code_of(fence)[: max(complete - begin - 1, 0)]
        # At least one line is left, for there to be something that goes on.
        count = (len(lines) - 1) // PIECE_LINES * PIECE_LINES
        if count <= 0:
            return False
        code = self._layout.code(fence)
        strips = _strips(code_lines(code, lines[:count], self.look.width))
        self._freeze(_Part("", strips, frozenset(), self._begun))
        code.pass_pieces(lines[:count])
        opening = self._layout.source[begin] + "\n"
        self._pass(text, begin + 1 + count, _Begun(opening=opening, has_gap=False), code)
        return True

    def _define(self, references: dict[str, Any]) -> None:
        """Lay out again what uses a link definition that is new, gone or different."""
        now = {label: (found["href"], found["title"]) for label, found in references.items()}
        if now == self._known:
            return
        changed = {label for label, _ in now.items() ^ self._known.items()}
        self._known = now
        self._layout.forget()
        for part in self._frozen:
            if part.labels & changed:
                tokens: list[Token] = []
                env = {"references": dict(references)}
                self._parser.block.parse(part.source, self._parser, env, tokens)
                self._layout.source = part.source.split("\n")
                part.strips = self._strips_of(_top_blocks(tokens)[0], part.begun)
        self._strips = []
        for part in self._frozen:
            _stack(self._strips, part)


def _top_blocks(tokens: list[Token]) -> list[Sequence[Token]]:
    found: list[Sequence[Token]] = []
    at = 0
    while at < len(tokens):
        end = end_of(tokens, at)
        found.append(tokens[at:end])
        at = end
    return found


def _span(block: Sequence[Token]) -> list[int]:
    """The lines of a block: the first, and the one after the last."""
    span = block[0].map
    assert span is not None, "every block knows its lines"
    return span


def _finished(begins: list[int], complete: int) -> int:
    """How many blocks stay as they are whatever comes, when so many lines are complete.

    A block is over when the next one began, and that is certain when the line after its first is
    complete too: a table is known by its second line.
    """
    for number in range(len(begins) - 1, 0, -1):
        if begins[number] + 1 < complete:
            return number
    return 0


def _strips(lines: list[Line]) -> list[Strip]:
    return [Strip(line) for line in lines]


def _stack(found: list[Strip], part: _Part) -> None:
    """Put a part below the others, with a blank line between them where one belongs."""
    if found and part.strips and part.begun.has_gap:
        found.append(_BLANK)
    found += part.strips


__all__ = ["MarkdownLines"]
