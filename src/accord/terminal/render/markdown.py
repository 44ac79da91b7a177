"""Markdown that grows, as lines.

A message comes in thousands of small pieces and is drawn while it comes.  Blocks that cannot
change any more are frozen as strips; only the last ones are read and laid out again.

What always holds
    * The lines depend on the text alone, never on the pieces it came in.
    * No line is wider than the look; nothing but the text gets through, no control character.
    * No text makes it raise.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from markdown_it.common.utils import normalizeReference
from rich.style import Style
from textual.strip import Strip

from accord.terminal.model.cleaning import harmless
from accord.terminal.render.inline import Line, wrap
from accord.terminal.render.look import Look
from accord.terminal.render.markdown_layout import Layout, end_of

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.token import Token

_LINE_ENDS = re.compile("[\n\u2028\u2029]")
_LABELS = re.compile(r"\[((?:[^\[\]\\]|\\.)+)\]")
_BLANK = Strip([])
NESTING_MAX = 40
"""Quotes and lists in each other; what lies deeper is not shown."""
_STUMBLES = (RecursionError, ValueError, LookupError, TypeError, AttributeError, AssertionError)


@lru_cache(maxsize=1)
def _parser() -> MarkdownIt:
    from markdown_it import MarkdownIt

    # Tables and strikethrough are GFM's; addresses are not guessed, HTML is shown as text.
    return MarkdownIt("commonmark", {"maxNesting": NESTING_MAX}).enable(["table", "strikethrough"])


@dataclass(slots=True)
class _Frozen:
    """A finished block: its text, its lines, and the link definitions that it might use."""

    source: str
    strips: list[Strip]
    labels: frozenset[str]


class MarkdownLines:
    """One text of Markdown as strips.  Guards the invariants at the head of this file."""

    def __init__(self, look: Look, base: Style | None = None, *, breaks: bool = True) -> None:
        self.look = look
        self.base = look.palette.text if base is None else base
        self._parser = _parser()
        self._breaks = breaks
        self._reset()

    def _reset(self) -> None:
        self._layout = Layout(self._parser, self.look, self.base, breaks=self._breaks)
        # So much of the text, in characters, is frozen.
        self._done = ""
        self._frozen: list[_Frozen] = []
        self._strips: list[Strip] = []
        # Link definitions in what is frozen, and all that were known the last time.
        self._definitions: dict[str, Any] = {}
        self._known: dict[str, Any] = {}

    def set(self, text: str) -> list[Strip]:
        """The lines of a text; cheap where it begins as the last one did."""
        if not text.startswith(self._done):
            self._reset()
        raw = text[len(self._done) :]
        try:
            lines = self._grow(raw)
        except _STUMBLES:
            # No text is known that does it.  If there is one, it is shown as it was written.
            lines = _strips(wrap([(harmless(raw), self.base)], self.look.width))
        self._layout.end_round()
        return _stacked([self._strips, lines])

    def _grow(self, raw: str) -> list[Strip]:
        """Freeze what is finished in the rest of the text; the lines of what is not."""
        source = harmless(raw)
        tokens: list[Token] = []
        env: dict[str, Any] = {"references": dict(self._definitions)}
        self._parser.block.parse(source, self._parser, env, tokens)
        self._layout.env = env
        self._define(env["references"])
        blocks = _top_blocks(tokens)
        finished = _finished(blocks, source.count("\n"))
        if finished:
            self._freeze(blocks[:finished], raw, source)
        return _stacked([self._laid_out(block) for block in blocks[finished:]])

    def _laid_out(self, block: Sequence[Token]) -> list[Strip]:
        return _strips(self._layout.block(block, self.look.width, self.base))

    def _freeze(self, blocks: list[Sequence[Token]], raw: str, source: str) -> None:
        lines = source.split("\n")
        begin = 0
        for block in blocks:
            end = _span(block)[1]
            text = "\n".join(lines[begin:end]) + "\n"
            labels = frozenset(map(normalizeReference, _LABELS.findall(text)))
            strips = self._laid_out(block)
            self._frozen.append(_Frozen(text if labels else "", strips, labels))
            self._strips = _stacked([self._strips, strips])
            begin = end
        for label, found in self._layout.env["references"].items():
            if label not in self._definitions and found["map"][0] < begin:
                self._definitions[label] = found
        # As many line ends as there are frozen lines, in the text as it came.
        for number, match in enumerate(_LINE_ENDS.finditer(raw), 1):
            if number == begin:
                self._done += raw[: match.end()]
                break
        self._layout.forget_codes()

    def _define(self, references: dict[str, Any]) -> None:
        """Lay out again what uses a link definition that is new, gone or different."""
        now = {label: (found["href"], found["title"]) for label, found in references.items()}
        if now == self._known:
            return
        changed = {label for label, _ in now.items() ^ self._known.items()}
        self._known = now
        self._layout.forget()
        for frozen in self._frozen:
            if frozen.labels & changed:
                tokens: list[Token] = []
                env = {"references": dict(references)}
                self._parser.block.parse(frozen.source, self._parser, env, tokens)
                frozen.strips = _stacked([self._laid_out(one) for one in _top_blocks(tokens)])
        self._strips = _stacked([frozen.strips for frozen in self._frozen])


def _top_blocks(tokens: list[Token]) -> list[Sequence[Token]]:
    found: list[Sequence[Token]] = []
    at = 0
    while at < len(tokens):
        end = end_of(tokens, at)
        found.append(tokens[at:end])
        at = end
    return found


def _span(block: Sequence[Token]) -> list[int]:
    span = block[0].map
    assert span is not None, "every block knows its lines"
    return span


def _finished(blocks: list[Sequence[Token]], complete: int) -> int:
    """How many blocks stay as they are whatever comes, when so many lines are complete.

    A block is over when the next one began, and that is certain when the line after its first is
    complete too: a table is known by its second line.
    """
    for number in range(len(blocks) - 1, 0, -1):
        if _span(blocks[number])[0] + 1 < complete:
            return number
    return 0


def _strips(lines: list[Line]) -> list[Strip]:
    return [Strip(line) for line in lines]


def _stacked(parts: list[list[Strip]]) -> list[Strip]:
    """Blocks beneath each other with a blank line between them."""
    found: list[Strip] = []
    for part in parts:
        if found and part:
            found.append(_BLANK)
        found += part
    return found


__all__ = ["MarkdownLines"]
