"""A git patch as two texts, where it has both or where the file is at hand.

Must not know: the wire.  Only "\\n" ends a line, as for git.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Final

from accord.translate.diffs import lines_of, quoted

HEADER: Final = "diff --git "
# As many lines around a change as git and difflib give; fewer after it mean that the file ends.
CONTEXT_LINES: Final = 3


@dataclass(slots=True)
class Hunk:
    """A piece of a file, before and after."""

    old_start: int
    new_start: int
    old: list[str] = field(default_factory=list)
    new: list[str] = field(default_factory=list)
    trailing: int = 0
    """How many unchanged lines it ends with."""


def hunks_of(patch: str, path: str, *, only: bool) -> list[Hunk]:
    """The hunks of one file; `only` says that the patch should be about no other."""
    sections = _sections(patch)
    for name in (quoted(path), quoted(f"a{path}"), quoted(f"a/{path}")):
        if name in sections:
            return _hunks(sections[name])
    return _hunks(next(iter(sections.values()))) if only and len(sections) == 1 else []


def texts(
    hunks: Sequence[Hunk], path: str, read_text: Callable[[str], str | None]
) -> tuple[str, str] | None:
    """A changed file before and after; None if the patch does not have all of it and nobody else.

    The file may be there as it was or as it became.
    """
    if len(hunks) == 1:
        [hunk] = hunks
        if hunk.old_start <= 1 and hunk.new_start <= 1 and hunk.trailing < CONTEXT_LINES:
            return "".join(hunk.old), "".join(hunk.new)
    there = read_text(path) if hunks else None
    if there is None:
        return None
    lines = lines_of(there)
    after = _applied(lines, [(hunk.old_start, hunk.old, hunk.new) for hunk in hunks])
    if after is not None:
        return there, after
    before = _applied(lines, [(hunk.new_start, hunk.new, hunk.old) for hunk in hunks])
    return None if before is None else (before, there)


def _applied(lines: list[str], hunks: list[tuple[int, list[str], list[str]]]) -> str | None:
    found: list[str] = []
    at = 0
    for start, old, new in hunks:
        # Of nothing, the line is named after which it stands.
        begin = start - 1 if old else start
        if begin < at or lines[begin : begin + len(old)] != old:
            return None
        found += lines[at:begin]
        found += new
        at = begin + len(old)
    return "".join(found + lines[at:])


def _sections(patch: str) -> dict[str, list[str]]:
    sections: dict[str, list[str]] = {}
    lines: list[str] = []
    for line in lines_of(patch):
        if line.startswith(HEADER):
            names = line[len(HEADER) :].rstrip("\n")
            lines = sections[names[: len(names) // 2]] = []
        else:
            lines.append(line)
    return sections


def _hunks(lines: Sequence[str]) -> list[Hunk]:
    found: list[Hunk] = []
    previous = ""
    for line in lines:
        mark = line[:1]
        if line.startswith("@@ "):
            starts = _starts(line)
            if starts is None:
                return []
            found.append(Hunk(*starts))
        elif not found:
            continue
        elif mark == "\\":
            _cut_end(found[-1], previous)
        elif mark in (" ", "-", "+"):
            _add(found[-1], mark, line[1:])
            previous = mark
    return found


def _starts(line: str) -> tuple[int, int] | None:
    words = line.split(" ")
    numbers = [word[1:].split(",")[0] for word in words[1:3]]
    if len(numbers) < 2 or not all(number.isdecimal() for number in numbers):
        return None
    return int(numbers[0]), int(numbers[1])


def _add(hunk: Hunk, mark: str, line: str) -> None:
    hunk.trailing = hunk.trailing + 1 if mark == " " else 0
    if mark != "+":
        hunk.old.append(line)
    if mark != "-":
        hunk.new.append(line)


def _cut_end(hunk: Hunk, previous: str) -> None:
    """The line before has no end."""
    if previous in (" ", "-") and hunk.old:
        hunk.old[-1] = hunk.old[-1].removesuffix("\n")
    if previous in (" ", "+") and hunk.new:
        hunk.new[-1] = hunk.new[-1].removesuffix("\n")
