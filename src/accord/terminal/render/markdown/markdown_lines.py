"""Render growing Markdown as lines.

A message arrives in thousands of small pieces and is drawn meanwhile.  Blocks that cannot change
any more are frozen as strips, as are items of a growing list and pieces of growing code; only the
rest is parsed and laid out again.

Invariants
    * The lines depend on the text alone, never on the pieces in which it arrived.
    * No line is wider than the look, and no control character is passed on.
    * No text raises an error.
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
from accord.terminal.render.syntax_colours import PIECE_LINES, Code, code_lines
from accord.terminal.render.text_runs import Line

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.token import Token

NESTING_MAX = 40
"""Nested quotes and lists; deeper ones are shown as plain text."""

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
    """The open block that the rest of the text continues: a list, code, or nothing."""

    # The number of the next item.
    number: int | None = None
    # The line of the open fence.
    opening: str = ""
    # Whether there is a blank line between the frozen part and the rest.
    has_gap: bool = True


_NOTHING = _Begun()


@dataclass(slots=True)
class _Part:
    """A block, or a part of one, as lines, with the source to lay it out again."""

    source: str
    strips: list[Strip]
    # Link definitions that it might use.
    labels: frozenset[str]
    begun: _Begun


class MarkdownLines:
    """Renders one Markdown text as strips.  Guards the invariants of this module."""

    def __init__(self, look: Look, base: Style | None = None, *, breaks: bool = True) -> None:
        self.look = look
        self.base = look.palette.text if base is None else base
        self._parser = _parser()
        self._breaks = breaks
        self._reset()

    def _reset(self) -> None:
        self._layout = Layout(self._parser, self.look, self.base, breaks=self._breaks)
        # How much of the text is frozen.
        self._done = ""
        self._frozen: list[_Part] = []
        self._strips: list[Strip] = []
        self._begun = _NOTHING
        # Link definitions in the frozen part, and all that were known last time.
        self._definitions: dict[str, Any] = {}
        self._known: dict[str, tuple[str, str]] = {}

    def set(self, text: str) -> list[Strip]:
        """Render a text; cheap if it starts like the previous one."""
        if not text.startswith(self._done):
            self._reset()
        try:
            found = self._grow(text)
        except _STUMBLES:
            # No such text is known.  If there is one, it is shown as plain text.
            raw = text[len(self._done) :]
            found = self._strips + _strips(wrap([(visible(raw), self.base)], self.look.width))
        self._layout.end_round()
        return found

    def _grow(self, text: str) -> list[Strip]:
        """Freeze the finished blocks in the rest of the text; return all lines."""
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
        """Parse the blocks of a text with the known links."""
        tokens: list[Token] = []
        env: dict[str, Any] = {"references": dict(self._definitions)}
        self._parser.block.parse(source, self._parser, env, tokens)
        self._layout.env = env
        self._define(env["references"])
        self._layout.source = source.split("\n")
        return _top_blocks(tokens)

    def _lay_out(self, block: Sequence[Token], *, is_first: bool) -> _Part:
        """Lay out a block; the first one may continue a frozen one."""
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
            # The parser omits deeper content, so the whole block is shown as plain text.
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
        """Freeze the lines before `end` of the last parsed text."""
        for label, found in self._layout.env["references"].items():
            if label not in self._definitions and found["map"][0] < end:
                self._definitions[label] = found
        # Find as many line endings in the original text as there are frozen lines.
        wanted = end - self._begun.opening.count("\n")
        ends = islice(_LINE_ENDS.finditer(text, len(self._done)), wanted - 1, wanted)
        self._done = text[: next(ends).end()]
        self._begun = begun
        self._layout.forget_codes(code)

    def _freeze_some(self, text: str, block: Sequence[Token], complete: int) -> bool:
        """Freeze the finished part of the growing first block; return whether there was any."""
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
        # At least one line is left, so that something can continue.
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
        """Lay out the blocks again that use a changed link definition."""
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
    """Return the first line of a block, and the line after its last."""
    span = block[0].map
    assert span is not None, "every block knows its lines"
    return span


def _finished(begins: list[int], complete: int) -> int:
    """Return how many blocks cannot change any more, given the number of complete lines.

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
    """Add a part below the others, with a blank line between them if necessary."""
    if found and part.strips and part.begun.has_gap:
        found.append(_BLANK)
    found += part.strips
