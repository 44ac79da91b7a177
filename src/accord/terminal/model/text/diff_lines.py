"""The diff of one file as lines with context.

This module does not know screens.  `model/changes/hunks.py` changes texts; this shows them.

Invariants
    * Lines are clean and have no line endings; what a terminal would not draw is written out, since
      it is part of what is looked at.
    * The work is bounded whatever the texts are: where finding the smallest difference would take
      too long, all lines between two places that are surely the same are shown as replaced.
    * A patch that cannot be read is shown as it came.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import Literal, NamedTuple, TypeAlias

from accord.terminal.model.text.display_text import exact_code
from accord.transcript import FileDiff

CONTEXT = 3
COMPARED_LINES_MAX = 3000
"""The maximum number of different lines that are compared with each other."""
ANCHORED_LINES_MAX = 100_000
"""Of longer texts the lines that both have once divide them into parts, which are compared."""
COMPARED_IN_ALL_MAX = 2 * COMPARED_LINES_MAX
"""Lines of all parts that are compared."""
LINES_MAX = 20_000
"""Lines of one change that are kept; the rest is counted."""
LINE_CHARACTERS_MAX = 2000
"""The maximum length of a line; the middle of a longer line is counted."""
WORDS_COMPARED_MAX = 300
PATCH_CHARACTERS_MAX = 8_000_000

Block: TypeAlias = tuple[int, int, int, int]
Kind: TypeAlias = Literal["same", "added", "removed", "hunk", "note"]


class DiffLine(NamedTuple):
    """One line; the numbers are those of the line in each text, from 1.

    A "hunk" says that lines are left out here, and perhaps what part of the file follows; a
    "note" is about the file.
    """

    kind: Kind
    text: str
    old: int | None = None
    new: int | None = None


@dataclass(frozen=True, slots=True)
class FileChange:
    """One file: what happened to it, and the lines."""

    path: str
    old_path: str | None
    operation: str
    lines: tuple[DiffLine, ...]
    added: int
    removed: int
    # How many lines there are beside those that are held.
    left_out: int = 0


def change_of(diff: FileDiff) -> FileChange:
    """What a reported diff says, ready to be shown."""
    if diff.patch is not None:
        found = _of_patch(diff.patch)
    elif diff.new_text is not None or diff.old_text is not None:
        found = _of_texts(diff.old_text or "", diff.new_text or "")
    else:
        found = iter(())
    lines: list[DiffLine] = []
    added = removed = left_out = 0
    for line in found:
        added += line.kind == "added"
        removed += line.kind == "removed"
        if len(lines) < LINES_MAX:
            lines.append(line)
        else:
            left_out += 1
    operation = diff.operation
    if operation == "modify" and diff.new_text is None and diff.old_text is not None:
        operation = "delete"
    return FileChange(diff.path, diff.old_path, operation, tuple(lines), added, removed, left_out)


def line_text(text: str, *, has_returns: bool = False) -> str:
    """One line of a file, clean and not too long.

    If every line of the file ends with a carriage return, it is not shown.
    """
    text = text.removesuffix("\n")
    if has_returns:
        text = text.removesuffix("\r")
    if len(text) > LINE_CHARACTERS_MAX:
        more = f"⟨{len(text) - LINE_CHARACTERS_MAX:,} more characters⟩"
        half = LINE_CHARACTERS_MAX // 2
        return exact_code(text[:half]) + more + exact_code(text[-half:])
    return exact_code(text)


def all_have_returns(*texts: str) -> bool:
    """Whether there is a carriage return before every line end of these texts."""
    return all(text.count("\n") == text.count("\r\n") for text in texts)


# ---- out of two texts


def _of_texts(before: str, after: str) -> Iterator[DiffLine]:
    if before == after:
        return
    if all_have_returns(before, after):
        before, after = before.replace("\r\n", "\n"), after.replace("\r\n", "\n")
    old, new = before.split("\n"), after.split("\n")
    # A text that ends with a line end has no empty line after it.
    for lines in (old, new):
        if not lines[-1]:
            lines.pop()
    yield from _shown(old, new, _blocks(old, new))
    if before.endswith("\n") != after.endswith("\n") and before and after:
        how = "now ends with" if after.endswith("\n") else "no longer ends with"
        yield DiffLine("note", f"the file {how} a newline")


def _blocks(old: Sequence[str], new: Sequence[str]) -> list[Block]:
    """The places that differ: from and to in the old lines, from and to in the new ones."""
    whole = _trimmed(old, new, (0, len(old), 0, len(new)))
    if _size(whole) <= COMPARED_LINES_MAX or _size(whole) > ANCHORED_LINES_MAX:
        return _compared(old, new, whole)
    found: list[Block] = []
    left = COMPARED_IN_ALL_MAX
    for gap in _gaps(old, new, whole):
        part = _trimmed(old, new, gap)
        left -= _size(part)
        found += _compared(old, new, part) if left >= 0 else [part]
    return [one for one in found if _size(one)]


def _size(block: Block) -> int:
    return block[1] - block[0] + block[3] - block[2]


def _trimmed(old: Sequence[str], new: Sequence[str], block: Block) -> Block:
    """Remove the common beginning and end."""
    i1, i2, j1, j2 = block
    while i1 < i2 and j1 < j2 and old[i1] == new[j1]:
        i1, j1 = i1 + 1, j1 + 1
    while i1 < i2 and j1 < j2 and old[i2 - 1] == new[j2 - 1]:
        i2, j2 = i2 - 1, j2 - 1
    return i1, i2, j1, j2


def _compared(old: Sequence[str], new: Sequence[str], block: Block) -> list[Block]:
    """What differs within a place, as finely as there is time for."""
    i1, i2, j1, j2 = block
    if i1 == i2 and j1 == j2:
        return []
    if i1 == i2 or j1 == j2 or _size(block) > COMPARED_LINES_MAX:
        return [block]
    matcher = SequenceMatcher(None, old[i1:i2], new[j1:j2])
    return [
        (i1 + a1, i1 + a2, j1 + b1, j1 + b2)
        for tag, a1, a2, b1, b2 in matcher.get_opcodes()
        if tag != "equal"
    ]


def _gaps(old: Sequence[str], new: Sequence[str], block: Block) -> Iterator[Block]:
    """Return the ranges between the lines that are unique in both texts."""
    i1, i2, j1, j2 = block
    here, there = _once(old, i1, i2), _once(new, j1, j2)
    pairs = [(at, there[line]) for line, at in here.items() if line in there]
    for at, other in _rising(pairs):
        yield i1, at, j1, other
        i1, j1 = at + 1, other + 1
    yield i1, i2, j1, j2


def _once(lines: Sequence[str], begin: int, end: int) -> dict[str, int]:
    """The lines that there is one of, with their places, in order."""
    counts = Counter(lines[begin:end])
    return {lines[at]: at for at in range(begin, end) if counts[lines[at]] == 1}


def _rising(pairs: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """The most of these pairs whose second numbers rise as the first do."""
    ends: list[int] = []
    at_end: list[int] = []
    before: list[int] = []
    for number, (_, other) in enumerate(pairs):
        length = bisect_left(ends, other)
        before.append(at_end[length - 1] if length else -1)
        ends[length : length + 1] = [other]
        at_end[length : length + 1] = [number]
    found: list[tuple[int, int]] = []
    number = at_end[-1] if at_end else -1
    while number >= 0:
        found.append(pairs[number])
        number = before[number]
    return found[::-1]


def _shown(old: Sequence[str], new: Sequence[str], blocks: Sequence[Block]) -> Iterator[DiffLine]:
    """Return the blocks with context, and a separator between distant ones."""
    shown = 0
    for number, (i1, i2, j1, j2) in enumerate(blocks):
        begin = max(i1 - CONTEXT, shown)
        if begin > shown and number:
            yield DiffLine("hunk", "")
        for at in range(begin, i1):
            yield DiffLine("same", line_text(old[at]), at + 1, at + 1 + j1 - i1)
        for at in range(i1, i2):
            yield DiffLine("removed", line_text(old[at]), at + 1)
        for at in range(j1, j2):
            yield DiffLine("added", line_text(new[at]), None, at + 1)
        until = blocks[number + 1][0] if number + 1 < len(blocks) else len(old)
        shown = min(i2 + CONTEXT, until)
        for at in range(i2, shown):
            yield DiffLine("same", line_text(old[at]), at + 1, at + 1 + j2 - i2)


# ---- out of a patch

_HUNK = re.compile(r"@@ -(\d{1,9})(?:,\d{1,9})? \+(\d{1,9})(?:,\d{1,9})? @@(.*)")
_HEADERS = (
    "diff ",
    "index ",
    "--- ",
    "+++ ",
    "new file mode ",
    "deleted file mode ",
    "similarity index ",
    "rename from ",
    "rename to ",
    "copy from ",
    "copy to ",
)
_KINDS: dict[str, Kind] = {" ": "same", "+": "added", "-": "removed"}


def _of_patch(patch: str) -> Iterator[DiffLine]:
    left_out = len(patch) - PATCH_CHARACTERS_MAX
    lines = patch[:PATCH_CHARACTERS_MAX].split("\n")
    if not lines[-1]:
        lines.pop()
    of_file = [line for line in lines if line[:1] in _KINDS and not line.startswith(_HEADERS)]
    if all(line.endswith("\r") for line in of_file):
        lines = [line.removesuffix("\r") for line in lines]
    old = new = 0
    inside = False
    for number, line in enumerate(lines):
        hunk = _HUNK.match(line)
        if hunk:
            is_first = not old and not new
            old, new, inside = int(hunk[1]), int(hunk[2]), True
            # Line numbers are shown next to the lines; the rest of the header names the place.
            where = line_text(hunk[3]).strip()
            if where or not is_first:
                yield DiffLine("hunk", where)
        elif not inside or _begins_file(lines, number):
            inside = False
            # The summary already names the file.
            if line.strip() and not line.startswith(_HEADERS):
                yield DiffLine("note", line_text(line))
        elif line.startswith("\\"):
            yield DiffLine("note", line_text(line[1:].strip()))
        else:
            # An empty line is a context line without its leading blank.
            kind = _KINDS.get(line[:1], "same")
            text = line_text(line[1:] if line[:1] in _KINDS else line)
            is_old, is_new = kind != "added", kind != "removed"
            yield DiffLine(kind, text, old if is_old else None, new if is_new else None)
            old += is_old
            new += is_new
    if left_out > 0:
        yield DiffLine("note", f"… {left_out} more characters")


def _begins_file(lines: Sequence[str], at: int) -> bool:
    if lines[at].startswith("diff --git "):
        return True
    following = lines[at + 1 : at + 3]
    return (
        lines[at].startswith("--- ")
        and len(following) == 2
        and following[0].startswith("+++ ")
        and following[1].startswith("@@ ")
    )


# ---- what differs within a line

_WORDS = re.compile(r"\w+|\s+|.", re.DOTALL)
# Two lines that have less in common are different lines, not one that was changed.
_ALIKE_MIN = 0.45

Span: TypeAlias = tuple[int, int]


def word_changes(old: str, new: str) -> tuple[list[Span], list[Span]]:
    """Which characters of two lines differ, by words; none where they have little in common."""
    a, b = _WORDS.findall(old), _WORDS.findall(new)
    if not a or not b or len(a) + len(b) > WORDS_COMPARED_MAX:
        return [], []
    matcher = SequenceMatcher(None, a, b, autojunk=False)
    if matcher.real_quick_ratio() < _ALIKE_MIN or matcher.quick_ratio() < _ALIKE_MIN:
        return [], []
    same = sum(len("".join(a[i : i + n]).strip()) for i, _, n in matcher.get_matching_blocks())
    if same < _ALIKE_MIN * min(len(old.strip()), len(new.strip())):
        return [], []
    removed: list[Span] = []
    added: list[Span] = []
    for tag, i1, i2, j1, j2 in matcher.get_opcodes():
        if tag != "equal":
            _mark(removed, a, i1, i2)
            _mark(added, b, j1, j2)
    return removed, added


def _mark(spans: list[Span], words: Sequence[str], begin: int, end: int) -> None:
    if begin < end:
        start = sum(map(len, words[:begin]))
        spans.append((start, start + sum(map(len, words[begin:end]))))


def paired(lines: Iterable[DiffLine]) -> Iterator[tuple[list[DiffLine], list[DiffLine]]]:
    """The lines in groups: removed ones beside the added ones that stand for them.

    A line of any other kind is a group of its own, on the left side.
    """
    removed: list[DiffLine] = []
    added: list[DiffLine] = []
    for line in lines:
        if line.kind == "removed" and not added:
            removed.append(line)
        elif line.kind == "added":
            added.append(line)
        else:
            if removed or added:
                yield removed, added
                removed, added = [], []
            if line.kind == "removed":
                removed.append(line)
            else:
                yield [line], []
    if removed or added:
        yield removed, added
