"""What a test run said: which tests failed, where, and with what error.

Pure: output in, values out.  It knows pytest's short, long and native reports, unittest, plain
tracebacks, and what node's runner (TAP, where its output is not a terminal), jest, mocha, cargo and
go print, as far as that tells a place.

What always holds
    * Paths are as the output has them; the caller makes them the project's.
    * Unreadable output gives no failures, and never an exception.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Any, ClassVar

from accord.builtin.offline.runs.output_excerpts import telling_part
from accord.builtin.offline.runs.tracebacks import Failure, Frame, crashes_in, failures_in

FAILURES_MAX = 50
"""Failures that are kept of one run."""

NAMES_MAX = 2_000
"""Names of failing tests that are kept of one run."""

TAIL_LINES_MAX = 100
TAIL_CHARACTERS_MAX = 4_000
"""How much of the output is kept, for what nobody could parse: its errors, or else its end."""


@dataclass(frozen=True, slots=True)
class TestRun:
    """One run of the tests."""

    __test__: ClassVar[bool] = False

    command: str
    passed: bool
    count_passed: int | None = None
    count_failed: int | None = None
    failures: tuple[Failure, ...] = ()
    tail: str = ""
    # Why no tests ran at all, if none did.
    problem: str | None = None
    # The names of the tests that failed, as far as the output lists them.
    failing: tuple[str, ...] = ()

    def to_bytes(self) -> bytes:
        """As it is kept with the session."""
        return json.dumps(asdict(self)).encode()

    @classmethod
    def from_bytes(cls, kept: bytes) -> TestRun | None:
        """As it was kept; None for what is not one."""
        try:
            data: Any = json.loads(kept)
            return cls(
                str(data["command"]),
                bool(data["passed"]),
                _number(data["count_passed"]),
                _number(data["count_failed"]),
                tuple(_failure(one) for one in data["failures"]),
                str(data["tail"]),
                None if data["problem"] is None else str(data["problem"]),
                tuple(str(one) for one in data.get("failing", ())),
            )
        except (ValueError, TypeError, KeyError, RecursionError):
            return None


def _number(value: Any) -> int | None:
    return None if value is None else int(value)


def _failure(data: Any) -> Failure:
    frames = tuple(
        Frame(str(one["path"]), int(one["line"]), str(one["function"]), str(one["code"]))
        for one in data["frames"]
    )
    values = tuple(str(one) for one in data["values"])
    causes = tuple(_failure(one) for one in data.get("causes", ()))
    test, error, message = str(data["test"]), str(data["error"]), str(data["message"])
    return Failure(test, error, message, frames, values, causes)


# Each gives how many passed and how many failed, from the line that a runner ends with.
_PYTEST = re.compile(
    r"^(?:=+ )?((?:\d+ (?:failed|passed|errors?|skipped|xfailed|xpassed|deselected|warnings?)"
    r"(?:, )?)+) in [\d.]+s",
    re.MULTILINE,
)
_UNITTEST_RAN = re.compile(r"^Ran (\d+) tests? in ", re.MULTILINE)
_UNITTEST_FAILED = re.compile(r"^FAILED \(([^)]*)\)", re.MULTILINE)
_JEST = re.compile(r"^Tests:\s+(.*)$", re.MULTILINE)
_NODE_PASS = re.compile(r"^(?:#|ℹ) pass +(\d+)", re.MULTILINE)
_NODE_FAIL = re.compile(r"^(?:#|ℹ) fail +(\d+)", re.MULTILINE)
_MOCHA_PASS = re.compile(r"^\s+(\d+) passing\b", re.MULTILINE)
_MOCHA_FAIL = re.compile(r"^\s+(\d+) failing\b", re.MULTILINE)
_CARGO = re.compile(r"^test result: \w+\. (\d+) passed; (\d+) failed", re.MULTILINE)

_NOTHING_RAN = (
    (re.compile(r"No module named ['\"]?pytest\b"), "pytest is not installed"),
    (re.compile(r"^(?:=+ )?no tests ran in ", re.MULTILINE), "there are no tests"),
    (re.compile(r"^Ran 0 tests in ", re.MULTILINE), "there are no tests"),
    (re.compile(r"^npm (?:ERR!|error) Missing script:", re.MULTILINE),
     "package.json has no test script"),
    (re.compile(r"No rule to make target ['`]test'"), "the Makefile has no test target"),
)  # fmt: skip
_COMMAND_NOT_FOUND = 127
"""How a shell ends that found no such program."""

_FAILING = (
    re.compile(r"^(?:FAILED|ERROR) (\S+::.+?|\S+\.py)(?: - .*)?$", re.MULTILINE),
    re.compile(r"^(?:ERROR|FAIL): (.+)$", re.MULTILINE),
    re.compile(r"^\s*not ok \d+ (?:- )?(.*?)(?: # .*)?$", re.MULTILINE),
)
"""How runners name a test that failed: pytest, unittest, TAP."""


def counts(output: str) -> tuple[int, int] | None:
    """How many tests passed and how many failed, if the output says so."""
    if (match := _last(_PYTEST, output)) is not None:
        found = {word: int(n) for n, word in re.findall(r"(\d+) (\w+)", match[1])}
        errors = found.get("error", 0) + found.get("errors", 0)
        return found.get("passed", 0), found.get("failed", 0) + errors
    if (match := _last(_UNITTEST_RAN, output)) is not None:
        bad = _last(_UNITTEST_FAILED, output)
        words = re.findall(
            r"(failures|errors|skipped|unexpected successes)=(\d+)", bad[1] if bad else ""
        )
        failed = sum(int(n) for word, n in words if word != "skipped")
        skipped = sum(int(n) for word, n in words if word == "skipped")
        # An import that failed counts as a test that was run.
        return max(int(match[1]) - failed - skipped, 0), failed
    if (match := _last(_JEST, output)) is not None:
        found = {word: int(n) for n, word in re.findall(r"(\d+) (passed|failed)", match[1])}
        return found.get("passed", 0), found.get("failed", 0)
    for good, bad_pattern in ((_NODE_PASS, _NODE_FAIL), (_MOCHA_PASS, _MOCHA_FAIL)):
        passed, failed_match = _last(good, output), _last(bad_pattern, output)
        if passed is not None:
            return int(passed[1]), int(failed_match[1]) if failed_match else 0
    results = _CARGO.findall(output)
    if results:
        return sum(int(p) for p, _ in results), sum(int(f) for _, f in results)
    return None


def _last(pattern: re.Pattern[str], text: str) -> re.Match[str] | None:
    found = list(pattern.finditer(text))
    return found[-1] if found else None


def run_of(command: str, exit_code: int | None, output: str) -> TestRun:
    """A test run from what it printed."""
    clean = plain(output)
    passed = exit_code == 0
    found = counts(clean)
    problem = None
    if not passed or found is None or sum(found) == 0:
        for pattern, why in _NOTHING_RAN:
            if pattern.search(clean) and (found is None or sum(found) == 0):
                problem = why
                break
        if exit_code == _COMMAND_NOT_FOUND and found is None:
            problem = "the command was not found"
    failures = [] if passed else _told(clean)
    good, bad = found if found is not None else (None, None)
    tail = "" if passed else telling_part(clean, TAIL_LINES_MAX, TAIL_CHARACTERS_MAX)
    failing = () if passed else _names(clean)
    return TestRun(command, passed, good, bad, tuple(failures), tail, problem, failing)


def _told(output: str) -> list[Failure]:
    """The failures that are kept, in their order."""
    found = tap_failures(output)
    if found:
        known = {(one.error, one.message) for one in found}
        found += [one for one in crashes_in(output) if (one.error, one.message) not in known]
    else:
        found = failures_in(output)
    # Of each error the first ones, so that many of one kind hide no other.
    seen: Counter[str] = Counter()
    ranks: list[tuple[int, int]] = []
    for index, one in enumerate(found):
        ranks.append((seen[one.error], index))
        seen[one.error] += 1
    return [found[index] for index in sorted(index for _, index in sorted(ranks)[:FAILURES_MAX])]


def is_unloaded(name: str) -> bool:
    """Whether a name among the failing tests is a file of tests that could not be loaded."""
    return "_FailedTest" in name or (name.endswith(".py") and "::" not in name)


def _names(output: str) -> tuple[str, ...]:
    for pattern in _FAILING:
        found = dict.fromkeys(pattern.findall(output))
        if found:
            return tuple(list(found)[:NAMES_MAX])
    return ()


_COLOURS = re.compile(r"\x1b\[[0-?]*[ -/]*[@-~]|\x1b\][^\x07]*\x07")


def plain(output: str) -> str:
    """The output without colours, with plain line ends."""
    return _COLOURS.sub("", output).replace("\r\n", "\n").replace("\r", "\n")


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
