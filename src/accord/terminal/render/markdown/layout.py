"""Lay out Markdown blocks, parsed by markdown-it, in a width.

This module does not know how the text arrived.  Unchanged parts are taken from a cache, so that a
growing list costs only its new words.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from rich.segment import Segment
from rich.style import Style

from accord.machine.console.control_characters import visible
from accord.terminal.render.markdown.inline import runs_of, wrap
from accord.terminal.render.markdown.table import Cell, table_lines
from accord.terminal.render.render_options import Look
from accord.terminal.render.syntax_colours import Code, code_lines
from accord.terminal.render.text_runs import Line, Run

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.token import Token

INLINE_MAX = 8_000
"""A longer paragraph is shown as plain text."""
WIDTH_MIN = 8
"""The minimum width of a quote or an item at any depth."""

_TASK = re.compile(r"\[([ xX])\](?: |$)")
_BULLETS = ("•", "◦", "▪")


class Layout:
    """Lays out blocks in one look.  Guards: no line is wider than the given width."""

    def __init__(self, parser: MarkdownIt, look: Look, base: Style, *, breaks: bool) -> None:
        self.parser = parser
        self.look = look
        self.base = base
        self.soft_break = "\n" if breaks else " "
        # The lines that the tokens were read from.
        self.source: list[str] = []
        # Definitions of links, as markdown-it keeps them.
        self.env: dict[str, Any] = {}
        self._runs: dict[tuple[str, Style], list[Run]] = {}
        self._runs_before: dict[tuple[str, Style], list[Run]] = {}
        self._wrapped: dict[tuple[str, Style, int], list[Line]] = {}
        self._wrapped_before: dict[tuple[str, Style, int], list[Line]] = {}
        self._codes: dict[tuple[int, str], Code] = {}

    # ---- the cache

    def end_round(self) -> None:
        """Drop cache entries that were not used since the last call."""
        self._runs_before, self._runs = self._runs, {}
        self._wrapped_before, self._wrapped = self._wrapped, {}

    def forget(self) -> None:
        """Drop the cache, since something that every paragraph depends on changed."""
        for kept in (self._runs, self._runs_before, self._wrapped, self._wrapped_before):
            kept.clear()

    def forget_codes(self, going_on: Code | None = None) -> None:
        """Set the first line; code of the previous part may continue in it."""
        self._codes.clear()
        if going_on is not None:
            self._codes[0, going_on.fence] = going_on

    def inline(self, content: str, style: Style) -> list[Run]:
        """Convert a paragraph to runs."""
        key = (content, style)
        found = self._runs.get(key) or self._runs_before.get(key)
        if found is None:
            if len(content) > INLINE_MAX:
                found = [(visible(content), style)]
            else:
                tokens: list[Token] = []
                self.parser.inline.parse(content, self.parser, self.env, tokens)
                found = runs_of(tokens, self.look.palette, style, soft_break=self.soft_break)
        self._runs[key] = found
        return found

    def words(self, content: str, style: Style, width: int) -> list[Line]:
        """Wrap a paragraph into lines."""
        key = (content, style, width)
        found = self._wrapped.get(key) or self._wrapped_before.get(key)
        if found is None:
            found = wrap(self.inline(content, style), width)
        self._wrapped[key] = found
        return found

    # ---- blocks

    def blocks(self, tokens: Sequence[Token], width: int, style: Style, depth: int) -> list[Line]:
        """Lay out blocks below each other, with blank lines as in the source."""
        found: list[Line] = []
        at = 0
        while at < len(tokens):
            end = end_of(tokens, at)
            lines = self.block(tokens[at:end], width, style, depth)
            if found and lines and self.has_gap(tokens[at]):
                found.append([])
            found += lines
            at = end
        return found

    def has_gap(self, token: Token) -> bool:
        """Whether the line above a block is blank, except for quote marks."""
        begin = token.map[0] if token.map else 0
        return 0 < begin <= len(self.source) and not self.source[begin - 1].strip("> ")

    def block(
        self, tokens: Sequence[Token], width: int, style: Style, depth: int = 0
    ) -> list[Line]:
        """Lay out one block, from its opening token to its closing one."""
        first, inside = tokens[0], tokens[1:-1]
        palette = self.look.palette
        kind = first.type
        if kind == "paragraph_open":
            return self.words(inside[0].content, style, width)
        if kind == "heading_open":
            return self.words(inside[0].content, style + self._heading(first.tag), width)
        if kind in ("fence", "code_block"):
            return code_lines(self.code(first), code_of(first), width)
        if kind == "hr":
            return [[Segment(self.look.mark("─", "-") * width, palette.border)]]
        if kind == "blockquote_open":
            bar = self.look.mark("▌ ", "> ") if width >= WIDTH_MIN + 2 else ""
            lines = self.blocks(inside, width - len(bar), style + palette.quote, depth)
            return [[Segment(bar, palette.border), *line] for line in lines] if bar else lines
        if kind in ("bullet_list_open", "ordered_list_open"):
            start = first.attrGet("start")
            return self.items(tokens, 1 if start is None else int(start), width, style, depth)
        if kind == "table_open":
            return self._table(inside, width, style)
        # HTML and unknown blocks are shown as plain text.
        return wrap([(visible(first.content.rstrip("\n")), style)], width)

    def _heading(self, tag: str) -> Style:
        palette = self.look.palette
        if tag == "h1":
            return palette.heading + Style(underline=True)
        return palette.heading if tag == "h2" else palette.strong

    def code(self, token: Token) -> Code:
        """Return the highlighter of a code block, which caches finished pieces."""
        language = token.info.split()[0] if token.info.split() else ""
        key = (token.map[0] if token.map else 0, language)
        found = self._codes.get(key)
        if found is None:
            found = self._codes[key] = Code(language, self.look.palette)
        return found

    def items(
        self, tokens: Sequence[Token], number: int, width: int, style: Style, depth: int = 0
    ) -> list[Line]:
        """The items of a list; the first has this number.

        The items are independent, so that a list can be frozen item by item.
        """
        ordered = tokens[0].type == "ordered_list_open"
        bullet = self.look.mark(_BULLETS[min(depth, 2)], "-") + " "
        found: list[Line] = []
        at = 1
        while at < len(tokens) - 1:
            end = end_of(tokens, at)
            if found and self.has_gap(tokens[at]):
                found.append([])
            mark = f"{number}. " if ordered else bullet
            found += self._item(tokens[at + 1 : end - 1], mark, width, style, depth)
            at, number = end, number + 1
        return found

    def _item(
        self, item: Sequence[Token], mark: str, width: int, style: Style, depth: int
    ) -> list[Line]:
        palette = self.look.palette
        mark_style = palette.accent
        task = None
        if len(item) > 1 and item[0].type == "paragraph_open":
            task = _TASK.match(item[1].content)
        if task is not None:
            is_done = task[1] != " "
            mark = self.look.mark("☑ ", "[x] ") if is_done else self.look.mark("☐ ", "[ ] ")
            mark_style = palette.success if is_done else palette.dim
            inline = item[1].copy(content=item[1].content[task.end() :])
            item = [item[0], inline, *item[2:]]
        # Too deep for any text: leave out the mark.
        indent = min(len(mark), max(width - WIDTH_MIN, 0))
        lines = self.blocks(item, width - indent, style, depth + 1) or [[]]
        if not indent:
            return lines
        first, rest = Segment(mark[:indent], mark_style), Segment(" " * indent)
        return [[rest if number else first, *line] for number, line in enumerate(lines)]

    def _table(self, tokens: Sequence[Token], width: int, style: Style) -> list[Line]:
        rows: list[list[Cell]] = []
        aligns: list[str] = []
        for at, token in enumerate(tokens):
            if token.type == "tr_open":
                rows.append([])
            elif token.type in ("th_open", "td_open"):
                is_head = token.type == "th_open"
                if is_head:
                    said = str(token.attrGet("style") or "")
                    aligns.append(said.partition(":")[2] or "left")
                weight = style + self.look.palette.strong if is_head else style
                rows[-1].append(self.inline(tokens[at + 1].content, weight))
        if not rows or not rows[0]:
            return []
        return table_lines(rows, aligns, self.look, width, wrap)


def end_of(tokens: Sequence[Token], at: int) -> int:
    """Return the index after the closing token of a block."""
    depth = 0
    for place in range(at, len(tokens)):
        depth += tokens[place].nesting
        if depth <= 0:
            return place + 1
    return len(tokens)


def code_of(token: Token) -> list[str]:
    """Return the lines of a code block."""
    lines = visible(token.content).split("\n")
    # The line end after the last line is not a line.
    if len(lines) > 1 and not lines[-1]:
        lines.pop()
    return lines
