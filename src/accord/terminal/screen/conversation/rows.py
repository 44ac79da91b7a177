"""All rows of a conversation and their heights, rendered only when they come into sight.

This module does not know the widget.  A row is a line of a block, or the blank line above it; a
place is the index of a block and a row in it.  Changing a height and finding a line take
logarithmic time: the heights are a Fenwick tree.

Invariants
    * A block is rendered when it comes into sight; until then its height is an estimate.
    * A wrong estimate never moves what is in sight: positions are places, not line numbers.
    * At most `STRIPS_MAX` lines are kept, besides those in sight.
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
from accord.transcript import Subagent, Terminal, ToolCall


class Heights:
    """A sequence of heights.  Guards: `total` is their sum, and none is negative."""

    def __init__(self, heights: Iterable[int] = ()) -> None:
        self._heights: list[int] = []
        self._sums: list[int] = [0]
        self.total = 0
        for height in heights:
            self.append(height)

    def __len__(self) -> int:
        return len(self._heights)

    def __getitem__(self, index: int) -> int:
        return self._heights[index]

    def append(self, height: int) -> None:
        """Append the height of a block."""
        self._heights.append(height)
        self.total += height
        number = len(self._heights)
        # The sum at a place covers as many as its lowest bit says.
        at, begin, found = number - 1, number - (number & -number), height
        while at > begin:
            found += self._sums[at]
            at -= at & -at
        self._sums.append(found)

    def set(self, index: int, height: int) -> None:
        """Change the height at an index."""
        more = height - self._heights[index]
        if not more:
            return
        self._heights[index] = height
        self.total += more
        at = index + 1
        while at < len(self._sums):
            self._sums[at] += more
            at += at & -at

    def before(self, index: int) -> int:
        """The sum of the heights before an index."""
        found = 0
        while index > 0:
            found += self._sums[index]
            index -= index & -index
        return found

    def find(self, line: int) -> tuple[int, int]:
        """The index of the block at a line and the offset in it; the last one beyond the end."""
        if not self._heights:
            return 0, 0
        at, left = 0, max(line, 0)
        step = 1 << (len(self._heights).bit_length() - 1)
        while step:
            if at + step < len(self._sums) and self._sums[at + step] <= left:
                at += step
                left -= self._sums[at]
            step >>= 1
        if at >= len(self._heights):
            last = len(self._heights) - 1
            return last, max(self._heights[last] - 1, 0)
        return at, left


STRIPS_MAX = 4_000
"""Cached rendered lines; a strip takes about two kilobytes."""
ASKED_MAX = 32
"""Changed entries that are checked against each block; with more, all are rendered again."""
# There are thousands of messages, and they concern only their own block.
_SHOWN_BY_OTHERS = (Terminal, ToolCall, Subagent)


class Place(NamedTuple):
    """A row: the index of its block and the row in it, counting the blank one above."""

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
        # Whether a height is known, not estimated.
        self._known: list[bool] = []
        self._places: dict[int, int] = {}
        # Cached lines by block index, least recently used first.
        self._kept: OrderedDict[int, int] = OrderedDict()
        self._kept_lines = 0
        self.rebuild()

    # ---- following the chat

    def rebuild(self) -> None:
        """Rebuild the blocks; entries that stayed keep their folds."""
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
        """Add blocks for new entries."""
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
        """Invalidate the blocks that depend on changed entries."""
        shown_by_others: list[Entry] = []
        for entry in entries:
            index = self._places.get(id(entry))
            if index is not None and index < len(self.blocks):
                self._touch(index)
            if isinstance(entry, _SHOWN_BY_OTHERS):
                shown_by_others.append(entry)
        if not shown_by_others:
            return
        # A loaded session changes many entries at once; checking all pairs would take long.
        ask = len(shown_by_others) <= ASKED_MAX
        for other in list(self._kept):
            block = self.blocks[other]
            if not ask or any(block.concerns(entry) for entry in shown_by_others):
                block.invalidate()

    def circumstances_changed(self) -> None:
        """Invalidate the blocks that depend on the time or on open questions."""
        for index in list(self._kept):
            if self.blocks[index].is_unsettled:
                self.blocks[index].invalidate()

    def _touch(self, index: int) -> None:
        self.blocks[index].invalidate()
        if index not in self._kept:
            self._known[index] = False
            self._measured(index, self.blocks[index].estimate(self.look))

    def set_look(self, look: Look) -> None:
        """Apply another look; known heights become estimates."""
        self.look = look
        self._known = [False] * len(self.blocks)
        self._kept.clear()
        self._kept_lines = 0
        for block in self.blocks:
            block.forget()

    def guess_again(self) -> None:
        """Estimate all heights again after a fold."""
        self._known = [False] * len(self.blocks)
        for index, block in enumerate(self.blocks):
            self._measured(index, block.estimate(self.look))

    def index_of(self, entry: Entry) -> int | None:
        """The index of the block of an entry."""
        index = self._places.get(id(entry))
        return index if index is not None and self.blocks[index].entry is entry else None

    # ---- heights

    def _gap(self, index: int) -> int:
        """Whether a visible block has a blank line above it."""
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
            # The next visible block has another neighbour now.
            for below in range(index + 1, len(self.blocks)):
                if self.heights[below]:
                    own = self.heights[below] - self._gaps[below]
                    self._gaps[below] = self._gap(below)
                    self.heights.set(below, self._gaps[below] + own)
                    break

    def gap(self, index: int) -> int:
        """The number of blank rows above a block."""
        return self._gaps[index]

    def lines(self, index: int) -> list[Strip]:
        """The lines of a block, rendered."""
        # The blank line depends on the nearest visible block above.
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
        """Drop the least recently used lines if there are too many."""
        for index in list(self._kept):
            if self._kept_lines <= STRIPS_MAX:
                return
            if index not in in_sight:
                self._kept_lines -= self._kept.pop(index)
                self.blocks[index].forget()

    @property
    def kept_lines(self) -> int:
        """The number of cached lines."""
        return self._kept_lines

    # ---- navigation

    def rows(self, index: int) -> int:
        """The number of rows of a block, which this renders."""
        self.lines(index)
        return self.heights[index]

    def strip_at(self, place: Place) -> Strip | None:
        """The line at a place; None if it is blank."""
        lines = self.lines(place.block)
        line = place.row - self._gaps[place.block]
        return lines[line] if 0 <= line < len(lines) else None

    def window(self, top: Place, height: int) -> list[Place]:
        """The places from one on, as many as fit the height."""
        found: list[Place] = []
        index, row = top
        while index < len(self.blocks) and len(found) < height:
            rows = self.rows(index)
            more = min(rows, row + height - len(found))
            found.extend(Place(index, one) for one in range(row, more))
            index, row = index + 1, 0
        return found

    def up(self, place: Place, count: int) -> Place:
        """The place a number of rows above, or the first one."""
        index, row = place
        while index < len(self.blocks) and row < count and index > 0:
            count -= row
            index -= 1
            row = self.rows(index)
        return Place(index, max(row - count, 0))

    def down(self, place: Place, count: int) -> Place:
        """The place a number of rows below, or the last one."""
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
        """The first place in sight when the view is scrolled to the end."""
        if not self.blocks:
            return START
        last = len(self.blocks) - 1
        return self.up(Place(last, self.rows(last)), height)

    def line_of(self, place: Place) -> int:
        """The line number of a place, by known and estimated heights."""
        return self.heights.before(place.block) + place.row

    def at_line(self, line: int) -> Place:
        """The place at a line number."""
        return Place(*self.heights.find(line))
