"""All lines of a conversation, of which only those that somebody looks at exist.

This module does not know the widget.  A row is a line of a block, or the blank line above it; a
place is the number of a block and the row in it.

Invariants
    * A block is rendered when it comes into sight, never before; until then its height is a guess.
    * Guesses that turn out wrong never move what is in sight: places, not line numbers, stay.
    * No more than `STRIPS_MAX` lines are kept, but for what is in sight.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable
from typing import NamedTuple

from textual.strip import Strip

from accord.terminal.model.chat import Chat, Entry
from accord.terminal.render.block import Block
from accord.terminal.render.entries.registry import block_of
from accord.terminal.render.render_options import Look
from accord.terminal.screen.conversation.block_heights import Heights
from accord.transcript import Subagent, Terminal, ToolCall

STRIPS_MAX = 4_000
"""Rendered lines that are kept; a strip takes about two kilobytes."""
ASKED_MAX = 32
"""Changed entries that each block in memory is asked about; beyond it all are rendered again."""
# Messages come by the thousand and concern no block but their own; so nobody else is asked.
_SHOWN_BY_OTHERS = (Terminal, ToolCall, Subagent)


class Place(NamedTuple):
    """A row: the number of the block, and which of its rows, the blank one above it included."""

    block: int
    row: int


START = Place(0, 0)


class Rows:
    """The rows of a chat in one look.  Guards the invariants of this module."""

    def __init__(self, chat: Chat, look: Look) -> None:
        self.chat = chat
        self.look = look
        self.blocks: list[Block] = []
        self.heights = Heights()
        self._gaps: list[int] = []
        # Whether a height is known, not guessed.
        self._known: list[bool] = []
        self._places: dict[int, int] = {}
        # By the number of the block, the one looked at last at the end: how many lines it has.
        self._kept: OrderedDict[int, int] = OrderedDict()
        self._kept_lines = 0
        self.rebuild()

    # ---- following the chat

    def rebuild(self) -> None:
        """The entries are others.  Blocks of those that stayed keep how they are folded."""
        old = {id(block.entry): block for block in self.blocks}
        self.blocks, self.heights, self._gaps, self._places = [], Heights(), [], {}
        self._known = []
        self._kept.clear()
        self._kept_lines = 0
        for entry in self.chat.entries:
            block = old.get(id(entry))
            if block is not None and block.entry is entry:
                block.forget()
            else:
                block = None
            self._add(entry, block)

    def catch_up(self) -> None:
        """Take in the entries that are new at the end."""
        for entry in self.chat.entries[len(self.blocks) :]:
            self._add(entry, None)

    def _add(self, entry: Entry, block: Block | None) -> None:
        block = block or block_of(entry, self.chat)
        index = len(self.blocks)
        self._places[id(entry)] = index
        self.blocks.append(block)
        height = block.estimate(self.look)
        gap = self._gap(index) if height else 0
        self._gaps.append(gap)
        self._known.append(False)
        self.heights.append(gap + height)

    def entry_changed(self, entries: Iterable[Entry]) -> None:
        """Entries look different now, and so do the blocks that they concern."""
        shown_by_others: list[Entry] = []
        for entry in entries:
            index = self._places.get(id(entry))
            if index is not None and index < len(self.blocks):
                self._touch(index)
            if isinstance(entry, _SHOWN_BY_OTHERS):
                shown_by_others.append(entry)
        if not shown_by_others:
            return
        # So many at once come when a session is loaded; asking all about all would take long.
        ask = len(shown_by_others) <= ASKED_MAX
        for other in list(self._kept):
            block = self.blocks[other]
            if not ask or any(block.concerns(entry) for entry in shown_by_others):
                block.invalidate()

    def circumstances_changed(self) -> None:
        """Time passed, or a question came or went: what depends on it is rendered again."""
        for index in list(self._kept):
            if self.blocks[index].is_unsettled:
                self.blocks[index].invalidate()

    def _touch(self, index: int) -> None:
        self.blocks[index].invalidate()
        if index not in self._kept:
            self._known[index] = False
            self._measured(index, self.blocks[index].estimate(self.look))

    def set_look(self, look: Look) -> None:
        """Everything looks different; the heights that are known become guesses."""
        self.look = look
        self._known = [False] * len(self.blocks)
        self._kept.clear()
        self._kept_lines = 0
        for block in self.blocks:
            block.forget()

    def guess_again(self) -> None:
        """All were folded or unfolded."""
        self._known = [False] * len(self.blocks)
        for index, block in enumerate(self.blocks):
            self._measured(index, block.estimate(self.look))

    def index_of(self, entry: Entry) -> int | None:
        """The number of the block of an entry."""
        index = self._places.get(id(entry))
        return index if index is not None and self.blocks[index].entry is entry else None

    # ---- heights

    def _gap(self, index: int) -> int:
        """Whether a block that is seen has a blank line above it."""
        for above in range(index - 1, -1, -1):
            if self.heights[above]:
                both = self.blocks[above].is_tight and self.blocks[index].is_tight
                return 0 if both else 1
        return 0

    def _measured(self, index: int, height: int) -> None:
        was_seen = self.heights[index] > 0
        gap = self._gap(index) if height else 0
        self._gaps[index] = gap
        self.heights.set(index, gap + height)
        if was_seen is not (height > 0):
            # The next one that is seen has another neighbour now.
            for below in range(index + 1, len(self.blocks)):
                if self.heights[below]:
                    own = self.heights[below] - self._gaps[below]
                    self._gaps[below] = self._gap(below)
                    self.heights.set(below, self._gaps[below] + own)
                    break

    def gap(self, index: int) -> int:
        """How many blank rows a block begins with."""
        return self._gaps[index]

    def lines(self, index: int) -> list[Strip]:
        """The lines of a block, rendered."""
        # Whether there is a blank line above depends on the next one above that has lines.
        above = index - 1
        while above >= 0 and not self._known[above] and not self._render(above):
            above -= 1
        return self._render(index)

    def _render(self, index: int) -> list[Strip]:
        lines = self.blocks[index].render(self.look, self.chat)
        self._kept_lines += len(lines) - self._kept.pop(index, 0)
        self._kept[index] = len(lines)
        self._known[index] = True
        if len(lines) != self.heights[index] - self._gaps[index]:
            self._measured(index, len(lines))
        return lines

    def let_go(self, in_sight: range) -> None:
        """Forget lines that nobody looked at for long, where there are too many."""
        for index in list(self._kept):
            if self._kept_lines <= STRIPS_MAX:
                return
            if index not in in_sight:
                self._kept_lines -= self._kept.pop(index)
                self.blocks[index].forget()

    @property
    def kept_lines(self) -> int:
        """How many lines are kept."""
        return self._kept_lines

    # ---- walking

    def rows(self, index: int) -> int:
        """How many rows a block has, once it is rendered."""
        self.lines(index)
        return self.heights[index]

    def strip_at(self, place: Place) -> Strip | None:
        """The line at a place; None if it is blank."""
        lines = self.lines(place.block)
        line = place.row - self._gaps[place.block]
        return lines[line] if 0 <= line < len(lines) else None

    def window(self, top: Place, height: int) -> list[Place]:
        """The places from one on downwards, as many as there are lines to fill."""
        found: list[Place] = []
        index, row = top
        while index < len(self.blocks) and len(found) < height:
            rows = self.rows(index)
            more = min(rows, row + height - len(found))
            found.extend(Place(index, one) for one in range(row, more))
            index, row = index + 1, 0
        return found

    def up(self, place: Place, count: int) -> Place:
        """The place so many rows above, or the first one."""
        index, row = place
        while index < len(self.blocks) and row < count and index > 0:
            count -= row
            index -= 1
            row = self.rows(index)
        return Place(index, max(row - count, 0))

    def down(self, place: Place, count: int) -> Place:
        """The place so many rows below, or the last one."""
        index, row = place
        while index < len(self.blocks):
            rows = self.rows(index)
            if row + count < rows:
                return Place(index, row + count)
            if index == len(self.blocks) - 1:
                return self.up(Place(index, rows), 1)
            count -= rows - row
            index, row = index + 1, 0
        return START

    def end(self, height: int) -> Place:
        """The first place in sight when the last row is the last line in sight."""
        if not self.blocks:
            return START
        last = len(self.blocks) - 1
        return self.up(Place(last, self.rows(last)), height)

    def line_of(self, place: Place) -> int:
        """The number of a row among all, by what is known and guessed."""
        return self.heights.before(place.block) + place.row

    def at_line(self, line: int) -> Place:
        """The place of a row by its number."""
        return Place(*self.heights.find(line))


__all__ = ["START", "Place", "Rows"]
