"""Failures in TAP, which node's test runner prints if its output is not a terminal.  Pure.

A test that fails is `not ok 1 - name`, and a block in something like YAML below it says why.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from accord.builtin.offline.runs.tracebacks import Failure, Frame

_FAILED = re.compile(r"^(?P<indent>\s*)not ok \d+ (?:- )?(?P<test>.*?)(?: # .*)?$")
_FIELD = re.compile(r"^\s*(?P<name>\w+): (?P<value>.*)$")
_PLACE = re.compile(
    r"(?P<function>[^()]*?) ?\(?(?:file://)?(?P<path>/[^():]+):(?P<line>\d+):\d+\)?"
)

BLOCK_LINES_MAX = 200
"""Lines of one block that are looked at."""


def tap_failures(output: str) -> list[Failure]:
    """The tests that failed, each with its place; none where the output is not TAP."""
    lines = output.split("\n")
    return list(_failures(lines)) if any(one.startswith("TAP version") for one in lines) else []


def _failures(lines: list[str]) -> Iterator[Failure]:
    for index, line in enumerate(lines):
        match = _FAILED.match(line)
        if match is None:
            continue
        fields, stack = _block(lines[index + 1 : index + 1 + BLOCK_LINES_MAX])
        if fields.get("failureType") == "subtestsFailed":
            # A group fails because of what is in it, which was told before it.
            continue
        # The stack begins where the error was raised; ours ends there.
        frames = [frame for one in reversed(stack) if (frame := _frame(one)) is not None]
        place = _frame(fields.get("location", ""))
        yield Failure(
            match["test"],
            fields.get("name", "failed"),
            fields.get("error", ""),
            tuple(frames or ([] if place is None else [place])),
        )


def _block(lines: list[str]) -> tuple[dict[str, str], list[str]]:
    """The fields of a block, and the lines of its stack."""
    fields: dict[str, str] = {}
    stack: list[str] = []
    if not lines or lines[0].strip() != "---":
        return fields, stack
    # The name of a field whose text follows in lines of its own.
    open_field = ""
    for line in lines[1:]:
        if line.strip() == "...":
            break
        match = _FIELD.match(line)
        if open_field == "stack" and (match is None or _PLACE.search(line)):
            stack.append(line.strip())
        elif match is not None:
            value = match["value"].strip()
            open_field = match["name"] if value in ("|-", "|") else ""
            if not open_field:
                fields.setdefault(match["name"], _unquoted(value))
        elif open_field and line.strip():
            fields.setdefault(open_field, line.strip())
    return fields, stack


def _unquoted(value: str) -> str:
    """A value without the quotes around it; those within it stay."""
    if len(value) < 2 or value[0] != value[-1] or value[0] not in "'\"":
        return value
    escaped = "''" if value[0] == "'" else '\\"'
    return value[1:-1].replace(escaped, value[0])


def _frame(text: str) -> Frame | None:
    match = _PLACE.fullmatch(text.strip().strip("'"))
    if match is None or "node_modules" in match["path"]:
        return None
    return Frame(match["path"], int(match["line"]), match["function"].strip())
