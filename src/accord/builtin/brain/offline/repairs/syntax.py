"""SyntaxError: a colon, a bracket, a quote or a sign that is missing or too much.

Candidates are made at the line that the error names; the first one that lets the file parse, or
parse further than before, is the repair.
"""

from __future__ import annotations

import ast
import re
import warnings
from collections.abc import Iterator, Mapping

from accord.builtin.brain.offline.places import lines_of
from accord.builtin.brain.offline.repairs.repair import Repair
from accord.builtin.brain.offline.tracebacks import Failure

_BLOCK = re.compile(
    r"\s*(?:async\s+)?(?:def|class|if|elif|else|for|while|try|except|finally|with|match|case)\b"
)
_CLOSING = {"(": ")", "[": "]", "{": "}"}
# How far below its opening a bracket may have been meant to close.
_BRACKET_LINES_MAX = 12


def repair_syntax(files: Mapping[str, str], failure: Failure) -> Repair | None:
    """The repair of a file that does not parse."""
    frame = next((one for one in reversed(failure.frames) if one.path in files), None)
    if frame is None:
        return None
    text = files[frame.path]
    problem = problem_of(text)
    if problem is None:
        return None
    line, said = problem
    reached: tuple[int, str, str] | None = None
    for changed, why in _candidates(text, line, said):
        left = problem_of(changed)
        if left is None:
            return Repair(frame.path, changed, line, f"{said} in line {line}: {why}.")
        if left[0] > line and (reached is None or left[0] > reached[0]):
            reached = (left[0], changed, why)
    if reached is None:
        return None
    return Repair(frame.path, reached[1], line, f"{said} in line {line}: {reached[2]}.")


def problem_of(text: str) -> tuple[int, str] | None:
    """The line of a text's first syntax error, and what Python says of it."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            ast.parse(text)
    except SyntaxError as error:
        return max(error.lineno or 1, 1), error.msg
    except (ValueError, RecursionError, MemoryError):
        return 1, "it cannot be parsed"
    return None


def _candidates(text: str, line: int, said: str) -> Iterator[tuple[str, str]]:
    lines = lines_of(text)
    if line > len(lines):
        return
    for place in dict.fromkeys((line, line - 1)):
        if 0 < place <= len(lines):
            yield from _in_line(lines, place, said if place == line else "")
    if (match := re.match(r"'([(\[{])' was never closed", said)) is not None:
        yield from _unclosed(lines, line, _CLOSING[match[1]])


def _in_line(lines: list[str], place: int, said: str) -> Iterator[tuple[str, str]]:
    code, rest = _split(lines[place - 1])

    def put(new: str) -> str:
        return "".join([*lines[: place - 1], new + rest, *lines[place:]])

    if _BLOCK.match(code) and not code.endswith(":"):
        yield put(f"{code}:"), "a colon is missing"
        for bracket in ")]}":
            if code.count(bracket) < code.count({")": "(", "]": "[", "}": "{"}[bracket]):
                yield put(f"{code}{bracket}:"), f"`{bracket}:` is missing"
                if code.endswith(":"):
                    yield put(f"{code[:-1]}{bracket}:"), f"`{bracket}` is missing"
    if _BLOCK.match(code) and code.endswith(":"):
        for opening, closing in _CLOSING.items():
            if code.count(closing) < code.count(opening):
                yield put(f"{code[:-1]}{closing}:"), f"`{closing}` is missing"
    if "Maybe you meant '=='" in said:
        yield put(re.sub(r"(?<![=!<>:])=(?!=)", "==", code, count=1)), "`==` compares, `=` does not"
    if said.startswith("Missing parentheses in call to 'print'"):
        yield put(re.sub(r"\bprint\s+(.+)$", r"print(\1)", code)), "print needs brackets"
    if (match := re.match(r"unmatched '(.)'", said)) is not None:
        cut = code.rfind(match[1])
        if cut >= 0:
            yield put(code[:cut] + code[cut + 1 :]), f"one `{match[1]}` is too many"
    if said.startswith("unterminated string literal"):
        whole = lines[place - 1].rstrip("\r\n")
        rest = lines[place - 1][len(whole) :]
        for quote in "\"'":
            for ending in ("", ")", "]", "}", ",", "),"):
                if ending == "" or whole.endswith(ending):
                    cut = len(whole) - len(ending)
                    yield put(f"{whole[:cut]}{quote}{ending}"), "the string is not closed"
    if "forgot a comma" in said and place < len(lines):
        yield put(f"{code},"), "a comma is missing"


def _unclosed(lines: list[str], line: int, closing: str) -> Iterator[tuple[str, str]]:
    """A bracket at the end of the opening line or of one of those that follow."""
    for place in range(line, min(line + _BRACKET_LINES_MAX, len(lines)) + 1):
        code, rest = _split(lines[place - 1])
        if not code.strip():
            continue
        ends = [f"{code}{closing}"]
        if code.endswith(":"):
            ends.insert(0, f"{code[:-1]}{closing}:")
        if code.endswith(","):
            ends.append(f"{code[:-1]}{closing}")
        for new in ends:
            changed = "".join([*lines[: place - 1], new + rest, *lines[place:]])
            yield changed, f"`{closing}` is missing"


def _split(line: str) -> tuple[str, str]:
    """A line's code, and what follows it: blanks, a comment, the line's end."""
    quote = ""
    for index, char in enumerate(line):
        if quote:
            if char == quote and line[index - 1] != "\\":
                quote = ""
        elif char in "'\"":
            quote = char
        elif char == "#":
            code = line[:index].rstrip()
            return code, line[len(code) :]
    code = line.rstrip()
    return code, line[len(code) :]
