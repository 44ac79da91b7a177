"""Render the client's remarks: how a turn ended, what was denied."""

from __future__ import annotations

from textual.strip import Strip

from accord.machine.console.control_characters import visible
from accord.terminal.model.chat import Chat, Remark
from accord.terminal.render.block import Block, CachedBlock
from accord.terminal.render.entries.notices import tone_mark
from accord.terminal.render.render_options import Look
from accord.terminal.render.text_runs import cut, indented, lines_needed, strip_of, wrapped

ERROR_LINES = 6
"""How many of the last lines about a failure are shown without unfolding."""


class RemarkBlock(CachedBlock[Remark]):
    """A remark in the colour of its tone; its detail, if any, can be unfolded.

    A failure is explained only here, so the end of its detail is shown at once.
    """

    __slots__ = ()

    @property
    def _lines_at_once(self) -> int:
        return ERROR_LINES if self.entry.tone == "error" else 0

    @property
    def is_foldable(self) -> bool:  # type: ignore[override]
        return len(self._detail()) > self._lines_at_once

    def _detail(self) -> list[str]:
        detail = visible(self.entry.detail).strip("\n")
        return detail.split("\n") if detail else []

    def guess(self, look: Look) -> int:
        shown = self.entry.detail.count("\n") + bool(self.entry.detail)
        if self.folded:
            shown = min(shown, self._lines_at_once)
        return lines_needed(self.entry.text, look.width) + shown

    def lines(self, look: Look, chat: Chat) -> list[Strip]:
        del chat
        palette, remark = look.palette, self.entry
        mark, style = tone_mark(remark.tone, look)
        room = max(look.width - len(mark), 2)
        words = palette.dim if remark.tone == "info" else style
        found = [strip_of((line, words)) for line in wrapped(visible(remark.text), room)]
        detail = self._detail()
        if self.folded and self.is_foldable:
            more = f" {look.fold_mark(True)}more".rstrip()
            last = found[-1]
            if last.cell_length + len(more) <= room:
                found[-1] = Strip([*last, *strip_of((more, palette.dim))])
            else:
                found.append(strip_of((cut(more.strip(), room), palette.dim)))
            detail = detail[len(detail) - self._lines_at_once :]
        if detail:
            found += [strip_of((line, palette.dim)) for line in wrapped("\n".join(detail), room)]
        return indented(found, (mark, style if remark.tone != "info" else palette.dim))

    def text(self) -> str:
        return visible(f"{self.entry.text}\n{self.entry.detail}").strip()


def remark_block(entry: Remark, chat: Chat) -> Block:
    """The block of a remark."""
    del chat
    return RemarkBlock(entry, folded=True)
