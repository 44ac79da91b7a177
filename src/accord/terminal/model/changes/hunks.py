"""Find the hunks between two texts, and apply one to a third text.  Pure functions.

A line ends with "\n" and includes it, as does "\r\n"; nothing else ends a line, as in
`accord.machine.filesystem.newline_style`.

Invariants
    * `compose(before, hunks, chosen)` is `before` with none and `after` with all of them chosen.
    * The same two texts give the same hunks.
    * `carry` changes exactly the lines of the hunk, or nothing.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import TypeAlias

JUNK_LINES_MIN = 400
"""With more distinct lines than this, frequent ones are not used for matching."""

LINES_MAX = 4000
"""More different lines at one place are one hunk: finding more would take too long."""


# No line contains a line ending.
_EDGE = "\n\0"


@dataclass(frozen=True, slots=True)
class Hunk:
    """Lines that were replaced by others; each `start` counts from 0."""

    start: int
    removed: tuple[str, ...]
    new_start: int
    added: tuple[str, ...]

    @property
    def reversed(self) -> Hunk:
        """The hunk that undoes this one."""
        return Hunk(self.new_start, self.added, self.start, self.removed)


def lines_of(text: str) -> list[str]:
    """Split a text into lines with their endings; the last may have none."""
    lines = text.split("\n")
    last = lines.pop()
    found = [f"{line}\n" for line in lines]
    return [*found, last] if last else found


def hunks_of(before: str, after: str) -> tuple[Hunk, ...]:
    """Return the hunks between two texts, in order."""
    if before == after:
        return ()
    old, new = lines_of(before), lines_of(after)
    return tuple(
        Hunk(i1, tuple(old[i1:i2]), j1, tuple(new[j1:j2]))
        for i1, i2, j1, j2 in _differences(old, new)
    )


_Place: TypeAlias = tuple[int, int, int, int]


def _differences(old: Sequence[str], new: Sequence[str]) -> list[_Place]:
    """Yield the differing ranges in the old and in the new lines."""
    found: list[_Place] = []
    at_old = at_new = 0
    # Lines that are unique in both texts are anchors; only the lines between them are compared.
    for i, j in [*_anchors(old, new), (len(old), len(new))]:
        for i1, i2, j1, j2 in _compared(old[at_old:i], new[at_new:j]):
            found.append((i1 + at_old, i2 + at_old, j1 + at_new, j2 + at_new))
        at_old, at_new = i + 1, j + 1
    return found


def _anchors(old: Sequence[str], new: Sequence[str]) -> list[tuple[int, int]]:
    """Return the lines that are unique in both texts and in the same order."""
    once_old, once_new = Counter(old), Counter(new)
    places = {line: j for j, line in enumerate(new) if once_new[line] == 1}
    pairs = [
        (i, places[line]) for i, line in enumerate(old) if once_old[line] == 1 and line in places
    ]
    # The longest increasing subsequence: by length, the smallest end so far, and the links back.
    ends: list[int] = []
    last: list[int] = []
    before: list[int] = []
    for number, (_, j) in enumerate(pairs):
        length = bisect_left(ends, j)
        before.append(last[length - 1] if length else -1)
        ends[length : length + 1] = [j]
        last[length : length + 1] = [number]
    found: list[tuple[int, int]] = []
    number = last[-1] if last else -1
    while number >= 0:
        found.append(pairs[number])
        number = before[number]
    return found[::-1]


def _compared(old: Sequence[str], new: Sequence[str]) -> list[_Place]:
    shortest = min(len(old), len(new))
    head = 0
    while head < shortest and old[head] == new[head]:
        head += 1
    tail = 0
    while tail < shortest - head and old[-1 - tail] == new[-1 - tail]:
        tail += 1
    middle_old, middle_new = old[head : len(old) - tail], new[head : len(new) - tail]
    size = len(middle_old) + len(middle_new)
    if size > LINES_MAX or not middle_old or not middle_new:
        return [(head, len(old) - tail, head, len(new) - tail)] if size else []
    matcher = SequenceMatcher(None, middle_old, middle_new, autojunk=size > JUNK_LINES_MIN)
    return [
        (i1 + head, i2 + head, j1 + head, j2 + head)
        for tag, i1, i2, j1, j2 in matcher.get_opcodes()
        if tag != "equal"
    ]


def compose(before: str, hunks: Sequence[Hunk], chosen: Collection[int]) -> str:
    """Apply the hunks with these numbers to the old text."""
    old = lines_of(before)
    parts: list[str] = []
    at = 0
    for number, hunk in enumerate(hunks):
        parts += old[at : hunk.start]
        parts += hunk.added if number in chosen else hunk.removed
        at = hunk.start + len(hunk.removed)
    return "".join(parts + old[at:])


def carry(hunk: Hunk, source: str, target: str) -> str | None:
    """Apply a hunk of the source to the target; None if its place is not clear.

    It is clear if the target has the removed lines as the source does, or, for a hunk that only
    adds lines, the lines on both sides of its place.
    """
    old, new = lines_of(source), lines_of(target)
    start, end = hunk.start, hunk.start + len(hunk.removed)
    if tuple(old[start:end]) != hunk.removed:
        return None
    at = _place(old, new, start, end)
    if at is None:
        return None
    changed = [*new[:at], *hunk.added, *new[at + end - start :]]
    return _joined(changed)


def _joined(lines: Sequence[str]) -> str | None:
    """Join the lines; None if a line without an ending would come before another."""
    if any(not line.endswith("\n") for line in lines[:-1]):
        return None
    return "".join(lines)


def _place(old: Sequence[str], new: Sequence[str], start: int, end: int) -> int | None:
    """Return where lines of the old text start in the new one, if they are all adjacent there."""
    # An edge of the file is a line that both have: so each place has a neighbour on both sides.
    old, new = [_EDGE, *old, _EDGE], [_EDGE, *new, _EDGE]
    first, last = start + 1, end + 1
    if start == end:
        # Nothing of its own: its neighbours say where it is.
        first, last = start, start + 2
    equal_from = shift = 0
    for i1, i2, _, j2 in [*_differences(old, new), (len(old), len(old), 0, 0)]:
        if equal_from <= first and last <= i1:
            return start + shift
        equal_from, shift = i2, j2 - i2
    return None


_HEAD = re.compile(r"@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@")


def hunks_of_patch(patch: str) -> tuple[Hunk, ...] | None:
    """The hunks of one file's unified diff, context lines included; None if it is none."""
    found: list[Hunk] = []
    lines = patch.split("\n")
    at = 0
    while at < len(lines):
        head = _HEAD.match(lines[at])
        at += 1
        if head is None:
            continue
        old_start, old_count, new_start, new_count = (
            int(one) if one is not None else 1 for one in head.groups()
        )
        old: list[str] = []
        new: list[str] = []
        at = _take_lines(lines, at, (old, old_count), (new, new_count))
        if len(old) != old_count or len(new) != new_count:
            return None
        # A hunk without lines of its own names the line before it.
        found.append(
            Hunk(
                old_start - 1 if old_count else old_start,
                tuple(old),
                new_start - 1 if new_count else new_start,
                tuple(new),
            )
        )
    return tuple(found) or None


def _take_lines(
    lines: list[str], at: int, old: tuple[list[str], int], new: tuple[list[str], int]
) -> int:
    """Take the lines of a hunk into both texts; where it ends."""
    (old_lines, old_count), (new_lines, new_count) = old, new
    sides = {"-": (old_lines,), "+": (new_lines,), " ": (old_lines, new_lines)}
    touched: tuple[list[str], ...] = ()
    while at < len(lines):
        # A blank line of context may have lost its mark.
        mark, text = lines[at][:1] or " ", lines[at][1:]
        if mark == "\\":
            # "No newline at end of file" speaks of the line before it.
            for side in touched:
                side[-1] = side[-1].removesuffix("\n")
        elif mark not in sides or (len(old_lines) >= old_count and len(new_lines) >= new_count):
            return at
        else:
            touched = sides[mark]
            for side in touched:
                side.append(f"{text}\n")
        at += 1
    return at


def without_patch(after: str, hunks: Sequence[Hunk]) -> str | None:
    """The text before these hunks of a patch were applied; None if they do not fit."""
    lines = lines_of(after)
    parts: list[str] = []
    at = 0
    for hunk in hunks:
        end = hunk.new_start + len(hunk.added)
        if hunk.new_start < at or tuple(lines[hunk.new_start : end]) != hunk.added:
            return None
        parts += [*lines[at : hunk.new_start], *hunk.removed]
        at = end
    return _joined([*parts, *lines[at:]])
