"""Brackets that are not closed, closed by another, or closed without being opened.

Each candidate is a whole text; whether it is better is for the caller to see.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

CLOSING = {"(": ")", "[": "]", "{": "}"}
# How far below its opening a bracket may have been meant to close.
LINES_MAX = 60

Candidate = tuple[str, str]


def indent_of(line: str) -> str:
    """The blanks that a line begins with."""
    return line[: len(line) - len(line.lstrip())]


def unclosed(lines: list[str], line: int, column: int, opening: str) -> Iterator[Candidate]:
    """A bracket that is missing: at the end of a line, on a line of its own, or inside a line."""
    closing = CLOSING[opening]
    why = f"`{closing}` is missing"
    first = lines[line - 1]
    level = len(indent_of(first))
    alone = _code(first).rstrip().endswith(opening)
    last = line
    for place in range(line + 1, min(line + LINES_MAX, len(lines)) + 1):
        if lines[place - 1].strip() and len(indent_of(lines[place - 1])) <= level:
            break
        if lines[place - 1].strip():
            last = place
    if alone and last > line:
        # Its elements stand on lines of their own, so its end does too.
        new = f"{indent_of(first)}{closing}{_ending(first)}"
        yield "".join([*lines[:last], new, *lines[last:]]), why
    # The end of what belongs together comes first, then the opening line, then what is between.
    for place in dict.fromkeys((last, line, *range(line + 1, last))):
        yield from _at_end(lines, place, closing, why)
    code = _code(first)
    for match in reversed(list(re.finditer(r"[\w\"')\]}](?![\w\"'])", code))):
        if match.end() > column:
            new = code[: match.end()] + closing + first[match.end() :]
            yield "".join([*lines[: line - 1], new, *lines[line:]]), why


def _at_end(lines: list[str], place: int, closing: str, why: str) -> Iterator[Candidate]:
    whole = lines[place - 1]
    code = _code(whole)
    rest = whole[len(code) :]
    if not code.strip():
        return
    tail = re.search(r"[)\]},:;]*$", code)
    start = len(code) if tail is None else tail.start()
    cuts = [len(code)]
    if code.endswith((":", ",", ";")):
        cuts = [len(code) - 1, len(code)]
    cuts += [cut for cut in range(len(code) - 1, start - 1, -1) if cut not in cuts]
    for cut in cuts:
        new = code[:cut] + closing + code[cut:] + rest
        yield "".join([*lines[: place - 1], new, *lines[place:]]), why
    # The last element has its comma, the next thing is not one of them.
    if code.endswith(","):
        new = code[:-1] + closing + rest
        yield "".join([*lines[: place - 1], new, *lines[place:]]), why


def unmatched(lines: list[str], line: int, column: int, said: str) -> Iterator[Candidate]:
    """A bracket that closes nothing, or another one than was opened."""
    whole = lines[line - 1]

    def put(new: str) -> str:
        return "".join([*lines[: line - 1], new, *lines[line:]])

    match = re.match(
        r"closing parenthesis '(?P<is>.)' does not match opening parenthesis '(?P<open>.)'", said
    )
    if match is not None and whole[column : column + 1] == match["is"]:
        wanted = CLOSING[match["open"]]
        missing = f"`{wanted}` is missing"
        yield put(whole[:column] + wanted + whole[column:]), missing
        yield put(whole[:column] + wanted + whole[column + 1 :]), f"`{wanted}` closes it"
        yield put(whole[:column] + whole[column + 1 :]), f"one `{match['is']}` is too many"
        opened = re.search(r"on line (\d+)", said)
        if opened is not None:
            yield from _before(lines, line, wanted, missing)
    match = re.match(r"unmatched '(?P<is>.)'", said)
    if match is not None:
        code = _code(whole)
        places = [index for index, char in enumerate(code) if char == match["is"]]
        if code.strip() == match["is"] or code.strip() == f"{match['is']},":
            yield "".join([*lines[: line - 1], *lines[line:]]), f"one `{match['is']}` is too many"
        for place in sorted(places, key=lambda one: abs(one - column)):
            yield put(whole[:place] + whole[place + 1 :]), f"one `{match['is']}` is too many"
        opening = next(one for one, other in CLOSING.items() if other == match["is"])
        for found in re.finditer(r"(?<=\w)(?=\s|\"|'|$)|(?<=[=(,\[ ])(?=\S)", code):
            new = whole[: found.start()] + opening + whole[found.start() :].lstrip(" ")
            yield put(new), f"`{opening}` is missing"


def _before(lines: list[str], line: int, closing: str, why: str) -> Iterator[Candidate]:
    """Above a line that closes too early: the end of each line before it."""
    for place in range(line - 1, max(line - LINES_MAX, 0), -1):
        yield from _at_end(lines, place, closing, why)


def _code(line: str) -> str:
    """A line without its comment and its end; a `#` in a string is not a comment."""
    quote = ""
    for index, char in enumerate(line):
        if quote:
            quote = "" if char == quote and line[index - 1] != "\\" else quote
        elif char in "'\"":
            quote = char
        elif char == "#":
            return line[:index].rstrip()
    return line.rstrip()


def _ending(line: str) -> str:
    return line[len(line.rstrip("\r\n")) :] or "\n"
