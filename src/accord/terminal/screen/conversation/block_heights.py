"""The heights of thousands of blocks, and the block at a line.

This module does not know blocks.  Changing a height and finding a line take logarithmic time: it
is a Fenwick tree.
"""

from __future__ import annotations

from collections.abc import Iterable


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
