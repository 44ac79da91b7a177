"""Blocks of Markdown as lines: what markdown-it found, laid out in a width.

Must not know how the text arrived.  What was laid out the last time and is the same now is taken
from there, so that a list that grows costs its new words.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from rich.segment import Segment
from rich.style import Style

from accord.terminal.model.cleaning import harmless
from accord.terminal.render.code import Code, code_lines
from accord.terminal.render.inline import Line, Run, runs_of, wrap
from accord.terminal.render.look import Look
from accord.terminal.render.table import Cell, table_lines

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.token import Token

INLINE_MAX = 20_000
"""Characters of one paragraph; a longer one is shown as it was written."""
WIDTH_MIN = 8
"""Cells that a quote or an item keeps, however deep it stands."""

_TASK = re.compile(r"\[([ xX])\](?: |$)")
_BULLETS = ("•", "◦", "▪")


class Layout:
    """Lays out blocks in one look.  Guards: no line is wider than the width asked for."""

    def __init__(self, parser: MarkdownIt, look: Look, base: Style, *, breaks: bool) -> None:
        self.parser = parser
        self.look = look
        self.base = base
        self.soft_break = "\n" if breaks else " "
        # Definitions of links, as markdown-it keeps them.
        self.env: dict[str, Any] = {}
        self._runs: dict[tuple[str, Style], list[Run]] = {}
        self._runs_before: dict[tuple[str, Style], list[Run]] = {}
        self._wrapped: dict[tuple[str, Style, int], list[Line]] = {}
        self._wrapped_before: dict[tuple[str, Style, int], list[Line]] = {}
        self._codes: dict[tuple[int, str], Code] = {}

    # ---- what is kept from one time to the next

    def end_round(self) -> None:
        """What was not used since this was called last is forgotten."""
        self._runs_before, self._runs = self._runs, {}
        self._wrapped_before, self._wrapped = self._wrapped, {}

    def forget(self) -> None:
        """Something that every paragraph may depend on is different."""
        for kept in (self._runs, self._runs_before, self._wrapped, self._wrapped_before):
            kept.clear()

    def forget_codes(self) -> None:
        """The lines are counted from another place now."""
        self._codes.clear()

    def inline(self, content: str, style: Style) -> list[Run]:
        """A paragraph as runs."""
        key = (content, style)
        found = self._runs.get(key) or self._runs_before.get(key)
        if found is None:
            if len(content) > INLINE_MAX:
                found = [(harmless(content), style)]
            else:
                tokens: list[Token] = []
                self.parser.inline.parse(content, self.parser, self.env, tokens)
                found = runs_of(tokens, self.look.palette, style, soft_break=self.soft_break)
        self._runs[key] = found
        return found

    def words(self, content: str, style: Style, width: int) -> list[Line]:
        """A paragraph in lines."""
        key = (content, style, width)
        found = self._wrapped.get(key) or self._wrapped_before.get(key)
        if found is None:
            found = wrap(self.inline(content, style), width)
        self._wrapped[key] = found
        return found

    # ---- blocks

    def blocks(
        self,
        tokens: Sequence[Token],
        width: int,
        style: Style,
        *,
        loose: bool = True,
        depth: int = 0,
    ) -> list[Line]:
        """Blocks beneath each other; a blank line between them where they are loose."""
        found: list[Line] = []
        at = 0
        while at < len(tokens):
            end = end_of(tokens, at)
            lines = self.block(tokens[at:end], width, style, depth)
            if found and lines and loose:
                found.append([])
            found += lines
            at = end
        return found

    def block(
        self, tokens: Sequence[Token], width: int, style: Style, depth: int = 0
    ) -> list[Line]:
        """One block: its opening token, what is in it, and its closing one."""
        first, inside = tokens[0], tokens[1:-1]
        palette = self.look.palette
        kind = first.type
        if kind == "paragraph_open":
            return self.words(inside[0].content, style, width)
        if kind == "heading_open":
            return self.words(inside[0].content, style + self._heading(first.tag), width)
        if kind in ("fence", "code_block"):
            return self._code(first, width)
        if kind == "hr":
            return [[Segment(self.look.mark("─", "-") * width, palette.border)]]
        if kind == "blockquote_open":
            bar = Segment(self.look.mark("▌ ", "> "), palette.border)
            lines = self.blocks(
                inside, max(width - 2, WIDTH_MIN), style + palette.quote, depth=depth
            )
            return [[bar, *line] for line in lines]
        if kind in ("bullet_list_open", "ordered_list_open"):
            return self._list(tokens, width, style, depth)
        if kind == "table_open":
            return self._table(inside, width, style)
        # HTML, and whatever else there may be one day: as it was written.
        return wrap([(harmless(first.content.rstrip("\n")), style)], width)

    def _heading(self, tag: str) -> Style:
        palette = self.look.palette
        if tag == "h1":
            return palette.heading + Style(underline=True)
        return palette.heading if tag == "h2" else palette.strong

    def _code(self, token: Token, width: int) -> list[Line]:
        language = token.info.split()[0] if token.info.split() else ""
        begin = token.map[0] if token.map else 0
        key = (begin, language)
        code = self._codes.get(key)
        if code is None:
            code = self._codes[key] = Code(language.strip("{}.").lower(), self.look.palette)
        lines = harmless(token.content).split("\n")
        # The line end after the last line is not a line.
        if len(lines) > 1 and not lines[-1]:
            lines.pop()
        return code_lines(code, lines, width)

    def _list(self, tokens: Sequence[Token], width: int, style: Style, depth: int) -> list[Line]:
        items: list[Sequence[Token]] = []
        at = 1
        while at < len(tokens) - 1:
            end = end_of(tokens, at)
            items.append(tokens[at + 1 : end - 1])
            at = end
        ordered = tokens[0].type == "ordered_list_open"
        start = (
            int(tokens[0].attrGet("start") or 0) if tokens[0].attrGet("start") is not None else 1
        )
        loose = any(
            token.type == "paragraph_open" and not token.hidden
            for item in items
            for token in _top(item)
        )
        last = f"{start + len(items) - 1}. "
        bullet = self.look.mark(_BULLETS[min(depth, 2)], "-") + " "
        found: list[Line] = []
        for number, item in enumerate(items, start):
            mark = f"{number}. ".rjust(len(last)) if ordered else bullet
            if found and loose:
                found.append([])
            found += self._item(item, mark, width, style, loose, depth)
        return found

    def _item(
        self, item: Sequence[Token], mark: str, width: int, style: Style, loose: bool, depth: int
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
        # So deep that nothing would be left of the line: the mark gives way.
        indent = min(len(mark), max(width - WIDTH_MIN, 0))
        room = width - indent
        lines = self.blocks(item, room, style, loose=loose, depth=depth + 1) or [[]]
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
    """Where the block that begins at a place ends, past its closing token."""
    depth = 0
    for place in range(at, len(tokens)):
        depth += tokens[place].nesting
        if depth <= 0:
            return place + 1
    return len(tokens)


def _top(tokens: Sequence[Token]) -> list[Token]:
    """The tokens of the blocks that stand in a row, without those within them."""
    found: list[Token] = []
    at = 0
    while at < len(tokens):
        found.append(tokens[at])
        at = end_of(tokens, at)
    return found


__all__ = ["Layout", "end_of"]
