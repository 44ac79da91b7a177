"""Exact replacement of text, with helpful errors if it does not occur.  Pure.

It must not know files or tools.

What always holds
    * Nothing is replaced unless `old` stands there character by character; only line ends may
      differ, and the file's own are kept.
"""

from __future__ import annotations

from dataclasses import dataclass
from difflib import SequenceMatcher

LINES_COMPARED_MAX = 10_000
LINE_COMPARED_CHARACTERS = 200
NEAR_RATIO = 0.6
"""The lowest similarity that counts as near."""

CONTEXT_LINES = 3
PLACES_NAMED_MAX = 10


@dataclass(frozen=True)
class Replaced:
    """The new text, and the lines where the replaced places begin."""

    text: str
    lines: tuple[int, ...]


@dataclass(frozen=True)
class Mismatch:
    """Why nothing was replaced, in words that help to correct the request."""

    reason: str


def replace(text: str, old: str, new: str, *, every: bool = False) -> Replaced | Mismatch:
    """Put `new` in the one place of `old`, or with `every` in all of them."""
    if not old:
        return Mismatch("The text to replace is empty. To write a whole file use write.")
    old, new = with_line_ends_of(text, old), with_line_ends_of(text, new)
    if old == new:
        return Mismatch("The old and the new text are the same: there is nothing to change.")
    starts = _occurrences(text, old)
    if not starts:
        return Mismatch(_nothing_found(text, old))
    lines = tuple(text.count("\n", 0, start) + 1 for start in starts[: PLACES_NAMED_MAX + 1])
    if len(starts) > 1 and not every:
        return Mismatch(
            f"The text to replace occurs {len(starts)} times, {_named(lines)}. Include more"
            " of the surrounding lines, or set all to change every occurrence."
        )
    return Replaced(text.replace(old, new), lines)


def with_line_ends_of(text: str, piece: str) -> str:
    """The piece with CRLF where the text has nothing else and the piece has none."""
    newlines = text.count("\n")
    if newlines and text.count("\r\n") == newlines and "\r" not in piece:
        return piece.replace("\n", "\r\n")
    return piece


def _occurrences(text: str, piece: str) -> list[int]:
    starts: list[int] = []
    at = text.find(piece)
    while at >= 0:
        starts.append(at)
        at = text.find(piece, at + len(piece))
    return starts


def _named(lines: tuple[int, ...]) -> str:
    shown = ", ".join(map(str, lines[:PLACES_NAMED_MAX]))
    more = " and more" if len(lines) > PLACES_NAMED_MAX else ""
    return f"in lines {shown}{more}"


def _nothing_found(text: str, old: str) -> str:
    lines, wanted = text.split("\n"), old.split("\n")
    loose = _with_other_blanks(lines, wanted)
    if loose is not None:
        head = "The text to replace occurs only with different spaces or indentation:"
        return f"{head}\n{_excerpt(lines, loose, len(wanted), around=0)}"
    near = _nearest(lines, wanted)
    if near is None:
        return "The text to replace is not in the file, and no line is similar to it."
    head = "The text to replace is not in the file. The most similar lines are:"
    return f"{head}\n{_excerpt(lines, near, len(wanted), around=CONTEXT_LINES)}"


def _with_other_blanks(lines: list[str], wanted: list[str]) -> int | None:
    """Where the lines stand when spaces at both ends of each do not count."""
    bare = [line.strip() for line in wanted]
    if not any(bare):
        return None
    found = [line.strip() for line in lines[:LINES_COMPARED_MAX]]
    for start in range(len(found) - len(bare) + 1):
        if found[start] == bare[0] and found[start : start + len(bare)] == bare:
            return start
    return None


def _nearest(lines: list[str], wanted: list[str]) -> int | None:
    """Where the first line that says something is nearest; None when none is near."""
    offset = next((i for i, line in enumerate(wanted) if line.strip()), None)
    if offset is None:
        return None
    matcher = SequenceMatcher(autojunk=False)
    matcher.set_seq2(wanted[offset].strip()[:LINE_COMPARED_CHARACTERS])
    best, best_ratio = None, NEAR_RATIO
    for number, line in enumerate(lines[:LINES_COMPARED_MAX]):
        matcher.set_seq1(line.strip()[:LINE_COMPARED_CHARACTERS])
        # The two quick ones are upper bounds, and much cheaper.
        if matcher.real_quick_ratio() > best_ratio and matcher.quick_ratio() > best_ratio:
            ratio = matcher.ratio()
            if ratio > best_ratio:
                best, best_ratio = number, ratio
    return None if best is None else max(best - offset, 0)


def _excerpt(lines: list[str], start: int, count: int, *, around: int) -> str:
    first = max(start - around, 0)
    last = min(start + min(count, 40) + around, len(lines))
    return "\n".join(f"{n + 1:>6}\t{lines[n].rstrip()[:400]}" for n in range(first, last))
