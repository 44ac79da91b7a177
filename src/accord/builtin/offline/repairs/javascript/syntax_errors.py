"""JavaScript that does not parse: candidates for its repair, in the order of what is likely.

Pure.  Which of them is JavaScript only node knows; the caller asks it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from accord.builtin.offline.repairs.brackets import CLOSING, indent_of
from accord.builtin.offline.repairs.javascript.source_text import code_of
from accord.builtin.offline.repairs.similar_names import likeness
from accord.builtin.offline.source_code.name_spans import lines_of

CANDIDATES_MAX = 80
"""Texts that are made for one error."""

_WORDS = (
    "async", "await", "break", "case", "catch", "class", "const", "continue", "default", "delete",
    "else", "export", "extends", "finally", "for", "from", "function", "if", "import", "in",
    "instanceof", "let", "new", "of", "return", "static", "super", "switch", "this", "throw",
    "try", "typeof", "var", "while", "yield",
)  # fmt: skip
_WORD_NEARNESS_MIN = 0.66

Candidate = tuple[str, str]


class ScriptProblem(NamedTuple):
    """Where node stops, and what it says; the column counts from 0."""

    line: int
    said: str
    column: int = 0


_PLACE = re.compile(r"^\[stdin\]:(?P<line>\d+)$", re.MULTILINE)
_SAID = re.compile(r"^SyntaxError: (?P<said>.*)$", re.MULTILINE)


def problem_in(printed: str) -> ScriptProblem | None:
    """What `node --check` found wrong; None where it is no such answer."""
    place, said = _PLACE.search(printed), _SAID.search(printed)
    if place is None or said is None:
        return None
    below = printed[place.end() :].split("\n")
    marks = below[2] if len(below) > 2 else ""
    column = len(marks) - len(marks.lstrip()) if "^" in marks else 0
    return ScriptProblem(int(place["line"]), said["said"], column)


def candidates(text: str, problem: ScriptProblem) -> list[Candidate]:
    """Changed texts, each once."""
    found: dict[str, str] = {}
    for changed, why in _candidates(text, problem):
        if changed != text:
            found.setdefault(changed, why)
        if len(found) == CANDIDATES_MAX:
            break
    return list(found.items())


def _candidates(text: str, problem: ScriptProblem) -> Iterator[Candidate]:
    lines = lines_of(text)
    line = min(problem.line, len(lines))
    before = line - 1
    while before > 0 and not lines[before - 1].strip():
        before -= 1
    if "end of input" in problem.said:
        yield from _unclosed(lines, code_of(text))
    yield from _misspelt(lines, line)
    if "Invalid or unexpected token" in problem.said or "nterminated" in problem.said:
        yield from _quotes(lines, line)
    if (match := re.match(r"missing (.) ", problem.said)) is not None:
        yield from _inserted(lines, line, match[1], problem.column)
    if before:
        yield from _signs_at_end(lines, before)
    for sign in ")]}(,:":
        yield from _inserted(lines, line, sign, problem.column, count=4)
    for sign in ")]}":
        if before:
            yield from _inserted(lines, before, sign, len(lines[before - 1]), count=3)
    yield from _unclosed(lines, code_of(text))
    yield from _without(lines, line, problem.column)


def _put(lines: list[str], place: int, new: str) -> str:
    return "".join([*lines[: place - 1], new, *lines[place:]])


def _misspelt(lines: list[str], place: int) -> Iterator[Candidate]:
    line = lines[place - 1]
    for match in list(re.finditer(r"[A-Za-z]+", line))[:10]:
        if match[0] in _WORDS or len(match[0]) < 2:
            continue
        ranked = sorted(((likeness(match[0], word), word) for word in _WORDS), reverse=True)
        alike, right = ranked[0]
        if alike >= _WORD_NEARNESS_MIN:
            new = line[: match.start()] + right + line[match.end() :]
            yield _put(lines, place, new), f"`{match[0]}` is not a keyword; `{right}` is"


def _quotes(lines: list[str], place: int) -> Iterator[Candidate]:
    whole = lines[place - 1].rstrip("\r\n")
    ending = lines[place - 1][len(whole) :]
    tail = re.search(r"[)\]},:;\s]*$", whole)
    first = len(whole) if tail is None else tail.start()
    for quote in "'\"`":
        if whole.count(quote) % 2:
            for cut in (*range(first, len(whole)), len(whole)):
                new = whole[:cut] + quote + whole[cut:] + ending
                yield _put(lines, place, new), "the string is not closed"


def _signs_at_end(lines: list[str], place: int) -> Iterator[Candidate]:
    """What may be missing at the end of the line before."""
    whole = lines[place - 1].rstrip()
    ending = lines[place - 1][len(whole) :]
    for sign in (",", " {", ")", ";"):
        words = "a comma is missing" if sign == "," else f"`{sign.strip()}` is missing"
        yield _put(lines, place, whole + sign + ending), words
        if sign == ")" and whole.endswith((";", "{", ",")):
            joint = " " if whole.endswith("{") else ""
            new = whole[:-1].rstrip() + sign + joint + whole[-1] + ending
            yield _put(lines, place, new), words


def _inserted(
    lines: list[str], place: int, sign: str, column: int, count: int = 8
) -> Iterator[Candidate]:
    """A sign behind each word of a line, nearest to the error first."""
    line = lines[place - 1]
    ends = [match.end() for match in re.finditer(r"[\w$]+|[^\w\s$]", line)]
    # What is missing is missing before what came too early.
    order = sorted(ends, key=lambda end: (abs(end - column), end > column))
    tail = [end for end in ends if end >= len(line.rstrip().rstrip(";,{")) - 1]
    for end in dict.fromkeys((*tail, *order[:count])):
        words = "a comma is missing" if sign == "," else f"`{sign}` is missing"
        yield _put(lines, place, line[:end] + sign + line[end:]), words


def _unclosed(lines: list[str], code: str) -> Iterator[Candidate]:
    """A bracket that is still open where a line begins no further right than its own."""
    stack: list[tuple[str, int]] = []
    coded = lines_of(code)
    for number, line in enumerate(coded, start=1):
        begins = line.strip()
        if begins and stack:
            opening, opened = stack[-1]
            level = len(indent_of(lines[opened - 1]))
            here = len(indent_of(lines[number - 1]))
            closes = begins.startswith(CLOSING[opening])
            if opened < number and (here < level or (here == level and not closes)):
                last = number - 1
                while last > opened and not lines[last - 1].strip():
                    last -= 1
                ending = "\r\n" if lines[opened - 1].endswith("\r\n") else "\n"
                end = CLOSING[opening] + (";" if opening == "(" else "")
                new = indent_of(lines[opened - 1]) + end + ending
                yield "".join([*lines[:last], new, *lines[last:]]), f"`{end}` is missing"
                stack.pop()
        for char in line:
            if char in CLOSING:
                stack.append((char, number))
            elif char in CLOSING.values() and stack and CLOSING[stack[-1][0]] == char:
                stack.pop()
    if stack:
        end = "".join(CLOSING[opening] for opening, _line in reversed(stack))
        joint = "" if not lines or lines[-1].endswith("\n") else "\n"
        yield f"{''.join(lines)}{joint}{end}\n", f"`{end}` is missing at the end"


def _without(lines: list[str], place: int, column: int) -> Iterator[Candidate]:
    """A sign that is not needed."""
    line = lines[place - 1]
    if re.fullmatch(r"\s*[)\]}]+[;,]?\s*", line):
        yield _put(lines, place, ""), f"`{line.strip()}` is not needed"
    marks = [match.start() for match in re.finditer(r"[^\w\s$]", line)]
    for start in sorted(marks, key=lambda one: abs(one - column))[:5]:
        new = line[:start] + line[start + 1 :]
        yield _put(lines, place, new), f"`{line[start]}` is not needed"
