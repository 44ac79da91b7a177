"""Failures in the output of test runners and programs: the error, and the way it took.

Pure; lines in, values out.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace

LINES_MAX = 20_000
"""Lines of output that are looked at, from the end."""


@dataclass(frozen=True, slots=True)
class Frame:
    """One step of the way: the line of a file, and in what function."""

    path: str
    line: int
    function: str = ""
    code: str = ""


@dataclass(frozen=True, slots=True)
class Failure:
    """One error.  `frames` go from the test to where it was raised."""

    test: str
    error: str
    message: str
    frames: tuple[Frame, ...] = ()
    # What a runner showed of the values at the place, `name = value` each.
    values: tuple[str, ...] = ()
    # What was raised before it, in whose handling or because of which it was raised; newest first.
    causes: tuple[Failure, ...] = ()

    @property
    def every(self) -> tuple[Failure, ...]:
        """The error and its causes."""
        return (self, *self.causes)


_FRAME = re.compile(r'^\s*File "(?P<path>[^"]+)", line (?P<line>\d+)(?:, in (?P<function>.+))?$')
_TRACEBACK = re.compile(r"^\s*Traceback \(most recent call last\):$")
_ERROR = re.compile(
    r"^\s*(?P<error>[A-Za-z_][\w.]*"
    r"(?:Error|Exception|Warning|Exit|Interrupt|Failure|NotFound|Iteration)|[a-z_][\w.]*\.[A-Z]\w*)"
    r"(?:: (?P<message>.*))?$"
)
_UNITTEST_HEAD = re.compile(r"^(?:ERROR|FAIL): (?P<test>.+)$")
# pytest: a head line of underscores, `path:line: in function`, `path:line: Error`, `E   ...`
_PYTEST_HEAD = re.compile(
    r"^_{3,} (?P<test>.+?) _{3,}$|^ImportError while loading (?P<conftest>conftest) "
)
_CHAINED = ("During handling of the above exception", "The above exception was the direct cause")
_PYTEST_SHORT = re.compile(r"^(?P<path>[^\s:][^:]*):(?P<line>\d+): in (?P<function>.+)$")
_PYTEST_LONG = re.compile(r"^(?P<path>[^\s:][^:]*):(?P<line>\d+): ?(?P<error>[A-Za-z_][\w.]*)?$")
_PYTEST_E = re.compile(r"^E(?:\s{2,3}(?P<text>.*))?$")
_PYTEST_SUMMARY = re.compile(r"^(?:FAILED|ERROR) (?P<test>\S+)(?: - (?P<text>.*))?$")
_PYTEST_VALUE = re.compile(r"^(?: {8})?(?P<name>[A-Za-z_]\w*) += (?P<value>.*)$")
_JS_FRAME = re.compile(r"^\s*at (?:(?P<function>.+?) \()?(?:file://)?(?P<path>/[^():]+|[^\s():]+):"
                       r"(?P<line>\d+):\d+\)?$")  # fmt: skip
# Above an error that nobody caught, node shows where it is: `/path/file.js:12`, then the line.
_JS_PLACE = re.compile(r"^(?:file://)?(?P<path>/[^\s:]+):(?P<line>\d+)$")
_JS_PLACE_LINES_MAX = 6
# node: `✖ name (1.2ms)`; jest: `● group › name`.
_JS_TEST = re.compile(r"^\s*[✖●] (?P<test>.+?)(?: \([\d.]+ ?m?s\))?$")
_JS_ERROR = re.compile(
    r"^\s*(?:error: (?P<quote>['\"]))?(?P<error>\w*Error)(?: \[\w+\])?: "
    r"(?P<message>.+?)(?(quote)(?P=quote)?)$"
)


def failures_in(output: str) -> list[Failure]:
    """The failures that an output tells of, in its order."""
    lines = [_bare(line) for line in output.split("\n")[-LINES_MAX:]]
    if any(_PYTEST_HEAD.match(line) for line in lines) and any(
        line.startswith("E  ") for line in lines
    ):
        found = list(_pytest(lines))
        if found:
            return found
    found = list(_python(lines))
    return found or list(_javascript(lines)) or list(_summaries(lines))


def _bare(line: str) -> str:
    """A line without what a runner puts before those of others."""
    return line.removeprefix("INTERNALERROR> ")


# ---- unittest, and every plain traceback


def _python(lines: list[str]) -> Iterator[Failure]:
    test = ""
    index = 0
    while index < len(lines):
        line = lines[index]
        head = _UNITTEST_HEAD.match(line) or _PYTEST_HEAD.match(line)
        if head is not None:
            test = head[head.lastgroup or "test"]
        if _TRACEBACK.match(line) or _starts_alone(lines, index):
            failure, index = _traceback(lines, index, test)
            # An error in an error handler: the last one is what the test saw.
            while failure is not None and _goes_on(lines, index):
                index = _next_traceback(lines, index)
                later, index = _traceback(lines, index, test)
                failure = failure if later is None else replace(later, causes=failure.every)
            if failure is not None:
                yield failure
        else:
            index += 1


def _starts_alone(lines: list[str], index: int) -> bool:
    """A syntax error of the file itself has no head line."""
    return bool(_FRAME.match(lines[index])) and not _FRAME.match(lines[index - 1] if index else "")


def _goes_on(lines: list[str], index: int) -> bool:
    after = [line for line in lines[index : index + 4] if line.strip()]
    return bool(after) and after[0].strip().startswith(_CHAINED)


def _next_traceback(lines: list[str], index: int) -> int:
    while index < len(lines) and not _TRACEBACK.match(lines[index]):
        index += 1
    return index


def _traceback(lines: list[str], index: int, test: str) -> tuple[Failure | None, int]:
    """The traceback that begins here, and the line after it."""
    if index < len(lines) and _TRACEBACK.match(lines[index]):
        index += 1
    frames: list[Frame] = []
    while index < len(lines):
        line = lines[index]
        frame = _FRAME.match(line)
        if frame is not None:
            code = ""
            if index + 1 < len(lines) and not _FRAME.match(lines[index + 1]):
                code = lines[index + 1].strip()
            frames.append(Frame(frame["path"], int(frame["line"]), frame["function"] or "", code))
            index += 1
            continue
        error = _ERROR.match(line)
        if error is not None and frames:
            message, after = _message(lines, index, error["message"] or "")
            return Failure(test, _last_part(error["error"]), message, tuple(frames)), after
        if not line.strip() and frames and not line.startswith(" "):
            break
        index += 1
    return None, index + 1


def _message(lines: list[str], index: int, first: str) -> tuple[str, int]:
    """The message may go on over lines until an empty one or a ruler."""
    parts = [first]
    after = index + 1
    while after < len(lines) and len(parts) < 12:
        line = lines[after]
        if not line.strip() or re.match(r"^[-=_]{5,}", line) or _TRACEBACK.match(line):
            break
        parts.append(line.strip())
        after += 1
    return "\n".join(parts).strip(), after


def _last_part(name: str) -> str:
    return name.rpartition(".")[2]


# ---- pytest


def _pytest(lines: list[str]) -> Iterator[Failure]:
    section: list[str] = []
    test: str | None = None
    for line in lines:
        head = _PYTEST_HEAD.match(line)
        if head is not None or re.match(r"^=+ .* =+$", line):
            if test is not None:
                failure = _section(test, section)
                if failure is not None:
                    yield failure
            test, section = (None if head is None else head["test"] or head["conftest"]), []
        elif test is not None:
            section.append(line)
    if test is not None and (failure := _section(test, section)) is not None:
        yield failure


def _section(test: str, lines: list[str]) -> Failure | None:
    """The failure that a section tells of, with what was raised before it."""
    parts: list[list[str]] = [[]]
    for line in lines:
        if line.startswith(_CHAINED):
            parts.append([])
        parts[-1].append(line)
    found: Failure | None = None
    for part in parts:
        later = _part(test, part)
        if later is not None:
            found = later if found is None else replace(later, causes=found.every)
    return found


def _part(test: str, lines: list[str]) -> Failure | None:
    frames: list[Frame] = []
    said: list[str] = []
    values: list[str] = []
    for index, line in enumerate(lines):
        short = _PYTEST_SHORT.match(line)
        long = None if short is not None else _PYTEST_LONG.match(line)
        if short is not None:
            code = lines[index + 1].strip() if index + 1 < len(lines) else ""
            frames.append(Frame(short["path"], int(short["line"]), short["function"], code))
            values = []
        elif long is not None:
            frames.append(Frame(long["path"], int(long["line"]), "", _pointed(lines[:index])))
        elif (inner := _FRAME.match(line.removeprefix("E").removeprefix("  "))) is not None:
            frames.append(Frame(inner["path"], int(inner["line"]), inner["function"] or ""))
        if (marked := _PYTEST_E.match(line)) is not None:
            said.append(marked["text"] or "")
        elif (value := _PYTEST_VALUE.match(line)) is not None:
            values.append(f"{value['name']} = {value['value']}")
    error, message = _raised(said)
    if not error and not frames:
        return None
    test = test.removeprefix("ERROR collecting ").removeprefix("ERROR at setup of ")
    return Failure(test, error, message, tuple(frames), tuple(values[-12:]))


def _pointed(lines: list[str]) -> str:
    """The line of code that a long report marks with `>`."""
    return next((line[1:].strip() for line in reversed(lines) if line.startswith(">")), "")


def _raised(said: list[str]) -> tuple[str, str]:
    """The error and its message in the lines that pytest marks with E."""
    for index, text in enumerate(said):
        match = _ERROR.match(text)
        # Collection errors show a whole traceback here; its last error is the one.
        if match is not None and not any(_ERROR.match(rest) for rest in said[index + 1 :]):
            rest = [line.strip() for line in said[index + 1 : index + 12] if line.strip()]
            return _last_part(match["error"]), "\n".join([match["message"] or "", *rest]).strip()
    bare = [line.strip() for line in said if line.strip()]
    if bare and bare[0].startswith("assert "):
        return "AssertionError", "\n".join(bare[:12])
    return ("", "\n".join(bare[:12])) if bare else ("", "")


def _summaries(lines: list[str]) -> Iterator[Failure]:
    """Only pytest's last lines, where the rest was switched off."""
    for line in lines:
        match = _PYTEST_SUMMARY.match(line)
        if match is not None:
            error, message = _raised([match["text"] or ""])
            yield Failure(match["test"], error, message)


# ---- JavaScript


def _javascript(lines: list[str]) -> Iterator[Failure]:
    """An error line followed by lines of its stack."""
    # In TAP what a test file printed is a comment.
    lines = [line.removeprefix("# ") for line in lines]
    index, test = 0, ""
    seen: set[Failure] = set()
    while index < len(lines):
        named = _JS_TEST.match(lines[index])
        test = test if named is None else named["test"]
        error = _JS_ERROR.match(lines[index])
        index += 1
        if error is None:
            continue
        frames, start = [], index
        while index < len(lines) and index - start < 40:
            frame = _JS_FRAME.match(lines[index])
            if frame is not None and not frame["path"].startswith("node:"):
                if "node_modules" not in frame["path"]:
                    place = Frame(frame["path"], int(frame["line"]), frame["function"] or "")
                    frames.append(place)
            elif _JS_ERROR.match(lines[index]) or _JS_TEST.match(lines[index]):
                break
            index += 1
        if error["error"] == "SyntaxError":
            # The stack belongs to the loader; the file itself is named above it.
            frames = [*_js_place(lines, start - 1), *frames]
        if frames:
            # The stack begins where the error was raised; ours ends there.
            message = error["message"].strip()
            failure = Failure(test, error["error"], message, tuple(reversed(frames)))
            # Runners tell of all failures once more at the end.
            if failure not in seen:
                seen.add(failure)
                yield failure


def _js_place(lines: list[str], index: int) -> list[Frame]:
    for line in reversed(lines[max(index - _JS_PLACE_LINES_MAX, 0) : index]):
        match = _JS_PLACE.match(line)
        if match is not None and "node_modules" not in match["path"]:
            return [Frame(match["path"], int(match["line"]))]
    return []


def crashes_in(output: str) -> list[Failure]:
    """The errors of JavaScript that ended a file of tests, which no test tells of."""
    found = _javascript(output.split("\n")[-LINES_MAX:])
    return [one for one in found if one.error in ("ReferenceError", "SyntaxError", "TypeError")]
