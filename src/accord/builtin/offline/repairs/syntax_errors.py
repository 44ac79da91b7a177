"""SyntaxError: a colon, a bracket, a quote, a comma, a keyword or an indentation that is wrong.

Candidates are made at the line that the error names; the first ones that let the file parse, or
parse further than before, are the repairs.
"""

from __future__ import annotations

import ast
import keyword
import re
import warnings
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from accord.builtin.offline.repairs.brackets import unclosed, unmatched
from accord.builtin.offline.repairs.indentation_errors import indented
from accord.builtin.offline.repairs.name_replacements import Repair
from accord.builtin.offline.repairs.similar_names import likeness
from accord.builtin.offline.runs.tracebacks import Failure
from accord.builtin.offline.source_code.name_spans import lines_of

CANDIDATES_MAX = 400
"""Texts that are tried for one error; each is parsed."""

REPAIRS_MAX = 4
"""Repairs that are offered for one error."""

_BLOCK = re.compile(
    r"\s*(?:async\s+)?(?:def|class|if|elif|else|for|while|try|except|finally|with|match|case)\b"
)
_KEYWORD_NEARNESS_MIN = 0.6
_WORD = re.compile(r"[A-Za-z_]\w*")
_LAST_SIGNS = re.compile(r"[)\]},:;.\s]*$")

_NAMED = {",": "a comma is missing", ":": "a colon is missing"}

Candidate = tuple[str, str]
"""A changed text, and what was wrong."""


class Problem(NamedTuple):
    """Where a text stops being Python, and what Python says of it."""

    line: int
    said: str
    # Columns from 0; the end is that of what the error points at, where that is one line.
    column: int = 0
    end: int = 0


def repair_syntax(files: Mapping[str, str], failure: Failure) -> Iterator[Repair]:
    """The repairs of a file that does not parse."""
    frame = next((one for one in reversed(failure.frames) if one.path in files), None)
    if frame is None or not frame.path.endswith((".py", ".pyi")):
        return
    text = files[frame.path]
    problem = problem_of(text)
    if problem is None:
        return
    whole: list[Candidate] = []
    further: tuple[int, Candidate] | None = None
    seen = {text}
    for changed, why in _candidates(text, problem):
        if changed in seen:
            continue
        seen.add(changed)
        if len(seen) > CANDIDATES_MAX or len(whole) == REPAIRS_MAX:
            break
        left = problem_of(changed)
        if left is None:
            whole.append((changed, why))
        elif left.line > problem.line and (further is None or left.line > further[0]):
            further = (left.line, (changed, why))
    for index, (changed, why) in enumerate(whole):
        said = f"{problem.said} in line {problem.line}: {why}."
        yield Repair(frame.path, changed, problem.line, said, 0.97 - index / 100)
    if not whole and further is not None:
        said = f"{problem.said} in line {problem.line}: {further[1][1]}."
        yield Repair(frame.path, further[1][0], problem.line, said, 0.8)


def problem_of(text: str) -> Problem | None:
    """A text's first syntax error."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            ast.parse(text)
    except SyntaxError as error:
        column = max((error.offset or 1) - 1, 0)
        end = max((error.end_offset or 1) - 1, column) if error.end_lineno == error.lineno else 0
        said = re.sub(r" \(detected at line \d+\)", "", error.msg)
        return Problem(max(error.lineno or 1, 1), said, column, end)
    except (ValueError, RecursionError, MemoryError):
        return Problem(1, "it cannot be parsed")
    return None


def _candidates(text: str, problem: Problem) -> Iterator[Candidate]:
    lines = lines_of(text)
    line = min(problem.line, len(lines))
    if not lines:
        return
    yield from indented(lines, line, problem.said)
    for place in dict.fromkeys((line, line - 1)):
        if 0 < place <= len(lines):
            yield from _in_line(lines, place, problem if place == line else None)
    if (match := re.match(r"'([(\[{])' was never closed", problem.said)) is not None:
        yield from unclosed(lines, line, problem.column, match[1])
    yield from unmatched(lines, line, problem.column, problem.said)
    if "triple-quoted" in problem.said:
        yield from _unclosed_text(lines, line)
    for place in dict.fromkeys((_code_before(lines, line), line)):
        if 0 < place <= len(lines):
            yield from _at_words(lines, place, problem if place == line else None)
    # What somebody wrote goes last: it is likelier that a sign is missing.
    yield from _without(lines, line, problem.column)


def _code_before(lines: list[str], line: int) -> int:
    """The last line with code before a line."""
    before = line - 1
    while before > 0 and not split(lines[before - 1])[0].strip():
        before -= 1
    return before


def _in_line(lines: list[str], place: int, problem: Problem | None) -> Iterator[Candidate]:
    code, rest = split(lines[place - 1])
    said = "" if problem is None else problem.said

    def put(new: str) -> str:
        return "".join([*lines[: place - 1], new + rest, *lines[place:]])

    if _BLOCK.match(code) and not code.endswith(":"):
        if code.endswith((";", ",", ".")):
            yield put(f"{code[:-1]}:"), "a colon is missing"
        yield put(f"{code}:"), "a colon is missing"
        for bracket in ")]}":
            yield put(f"{code}{bracket}:"), f"`{bracket}:` is missing"
    if _BLOCK.match(code) and code.endswith(":"):
        for closing in ")]}":
            yield put(f"{code[:-1]}{closing}:"), f"`{closing}` is missing"
    if "Maybe you meant '=='" in said or said.startswith("cannot assign to"):
        for match in re.finditer(r"(?<![=!<>:+\-*/%|&^@])=(?!=)", code):
            changed = f"{code[: match.start()]}=={code[match.end() :]}"
            yield put(changed), "`==` compares, `=` does not"
    if said.startswith("Missing parentheses in call to 'print'"):
        yield put(re.sub(r"\bprint\s+(.+)$", r"print(\1)", code)), "print needs parentheses"
    if ("unterminated" in said and "triple" not in said) or "EOL while" in said:
        yield from _unclosed_string(lines, place)
    yield from _misspelt(lines, place)


def _misspelt(lines: list[str], place: int) -> Iterator[Candidate]:
    """A word of the language with a slip."""
    line = lines[place - 1]
    code, _rest = split(line)
    for match in list(_WORD.finditer(code))[:12]:
        word = match[0]
        if keyword.iskeyword(word):
            continue
        ranked = sorted(((likeness(word, one), one) for one in keyword.kwlist), reverse=True)
        for alike, right in ranked[:2]:
            if alike < _KEYWORD_NEARNESS_MIN or len(word) < 2:
                break
            new = f"{line[: match.start()]}{right}{line[match.end() :]}"
            changed = "".join([*lines[: place - 1], new, *lines[place:]])
            yield changed, f"`{word}` is not a keyword; `{right}` is"


def _unclosed_string(lines: list[str], place: int) -> Iterator[Candidate]:
    whole = lines[place - 1].rstrip("\r\n")
    ending = lines[place - 1][len(whole) :]
    tail = _LAST_SIGNS.search(whole)
    first = len(whole) if tail is None else tail.start()
    for quote in "\"'":
        if quote not in whole:
            continue
        for cut in dict.fromkeys((*range(first, len(whole)), len(whole))):
            new = f"{whole[:cut]}{quote}{whole[cut:]}{ending}"
            changed = "".join([*lines[: place - 1], new, *lines[place:]])
            yield changed, "the string is not closed"
        opened = whole.rfind(quote)
        for match in re.finditer(r"[,)\]}:]", whole[opened + 1 :]):
            cut = opened + 1 + match.start()
            new = f"{whole[:cut]}{quote}{whole[cut:]}{ending}"
            changed = "".join([*lines[: place - 1], new, *lines[place:]])
            yield changed, "the string is not closed"
        for match in reversed(list(re.finditer(r"(?<![\w\"'])(?=[\w<%{./])", whole))):
            new = f"{whole[: match.start()]}{quote}{whole[match.start() :]}{ending}"
            changed = "".join([*lines[: place - 1], new, *lines[place:]])
            yield changed, "the string is not opened"


def _unclosed_text(lines: list[str], line: int) -> Iterator[Candidate]:
    """A text in three quotes that goes on to the end of the file, or to the next one."""
    starts = [
        (number, match[0])
        for number in range(1, line + 1)
        for match in re.finditer(r'"""|\'\'\'', lines[number - 1])
    ]
    for number, quotes in reversed(starts[-40:]):
        for place in range(number, min(number + 30, len(lines)) + 1):
            whole = lines[place - 1].rstrip("\r\n")
            ending = lines[place - 1][len(whole) :] or "\n"
            if place < len(lines) and lines[place].strip() and place != number:
                continue
            indent = re.match(r"\s*", lines[number - 1])
            alone = f"{indent[0] if indent else ''}{quotes}{ending}"
            why = "the text is not closed"
            if place == number:
                new = f"{whole}{quotes}{ending}"
                yield "".join([*lines[: place - 1], new, *lines[place:]]), why
            else:
                yield "".join([*lines[:place], alone, *lines[place:]]), why


def _at_words(lines: list[str], place: int, problem: Problem | None) -> Iterator[Candidate]:
    """A sign that is missing between two words of a line."""
    line = lines[place - 1]
    code, rest = split(line)

    def put(new: str) -> str:
        return "".join([*lines[: place - 1], new, *lines[place:]])

    if problem is None or "comma" in problem.said:
        yield put(f"{code},{rest}"), "a comma is missing"
    if problem is None:
        return
    ends = [match.end() for match in re.finditer(r"\w+|[^\w\s]", code)]
    near_error = sorted(ends, key=lambda end: abs(end - problem.column))[:12]
    signs = [",", ":", "=", ".", "(", ")", "]", "}"]
    for sign in signs:
        for end in near_error:
            why = _NAMED.get(sign, f"`{sign}` is missing")
            yield put(code[:end] + sign + code[end:] + rest), why


def _without(lines: list[str], place: int, column: int) -> Iterator[Candidate]:
    """A sign that is not needed."""
    code, rest = split(lines[place - 1])
    for match in re.finditer(r"[^\w\s]", code):
        if abs(match.start() - column) <= 3:
            new = code[: match.start()] + code[match.end() :] + rest
            changed = "".join([*lines[: place - 1], new, *lines[place:]])
            yield changed, f"`{match[0]}` is not needed"


def split(line: str) -> tuple[str, str]:
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
