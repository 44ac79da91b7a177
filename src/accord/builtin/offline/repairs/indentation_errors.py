"""IndentationError and TabError: lines that begin too early, too late or with other blanks."""

from __future__ import annotations

import re
from collections.abc import Iterator

from accord.builtin.offline.repairs.brackets import indent_of

Candidate = tuple[str, str]

_LEAVES = re.compile(r"(?:return|break|continue|raise|pass)\b")
_WORDS = ("indent", "tabs and spaces")


def indented(lines: list[str], line: int, said: str) -> Iterator[Candidate]:
    """Other indentations of a line, or of the block that begins with it, as its neighbours have."""
    if not any(word in said for word in _WORDS):
        return
    wanted = list(dict.fromkeys(_indents(lines, line, said)))
    why = "the indentation is wrong"
    for indent in wanted:
        block = _block(lines, line)
        for end in dict.fromkeys((line, block)):
            yield _moved(lines, line, end, indent), why
    if "unexpected indent" in said:
        # What stands before it may have begun too early.
        before = _before(lines, line)
        if before:
            yield _moved(lines, before, before, indent_of(lines[line - 1])), why


def _indents(lines: list[str], line: int, said: str) -> Iterator[str]:
    before = _before(lines, line)
    after = next((n for n in range(line + 1, len(lines) + 1) if lines[n - 1].strip()), 0)
    own = indent_of(lines[line - 1])
    unit = _unit(lines)
    above = indent_of(lines[before - 1]) if before else ""
    code = lines[before - 1].split("#")[0].strip() if before else ""
    if code.endswith(":"):
        yield above + unit
    elif _LEAVES.match(code):
        # After what leaves a block nothing of that block follows.
        yield above.removesuffix(unit)
    # Every level that is in use here, the nearest to what is written first.
    levels = {indent_of(one) for one in lines[: line - 1] if one.strip()}
    yield from sorted(levels, key=lambda one: (abs(len(one) - len(own)), -len(one)))[:3]
    yield above
    if after:
        yield indent_of(lines[after - 1])


def _before(lines: list[str], line: int) -> int:
    return next((n for n in range(line - 1, 0, -1) if lines[n - 1].strip()), 0)


def _block(lines: list[str], line: int) -> int:
    """The last line of what begins here: as far as nothing begins earlier, up to an empty line."""
    level = len(indent_of(lines[line - 1]))
    end = line
    for place in range(line + 1, len(lines) + 1):
        if not lines[place - 1].strip() or len(indent_of(lines[place - 1])) < level:
            break
        end = place
    return end


def _moved(lines: list[str], first: int, last: int, indent: str) -> str:
    own = indent_of(lines[first - 1])
    moved = [
        indent + one[len(own) :] if one.startswith(own) else one for one in lines[first - 1 : last]
    ]
    return "".join([*lines[: first - 1], *moved, *lines[last:]])


def _unit(lines: list[str]) -> str:
    """What one level of the file is."""
    found = [indent_of(one) for one in lines if one.strip() and indent_of(one)]
    if any(one.startswith("\t") for one in found):
        return "\t"
    return min(found, key=len) if found else "    "
