"""Match paths against a `.gitignore` file, as git does.

This module does not know where the files are; it gets the text of one file and paths below its
folder.

Invariants
    * A pattern means what it means to git, its corners included; one that git cannot read matches
      nothing.
    * Matching takes time in proportion to the length of the path: such a file comes from whoever
      wrote the project, and must not be able to hold us up.
"""

from __future__ import annotations

import os
import re
from dataclasses import dataclass

PATTERNS_MAX = 10_000
"""Lines of one file that are read."""

PATTERN_CHARACTERS_MAX = 1_000

_SPECIAL = "*?[\\"
_CLASSES = {
    "alnum": "0-9A-Za-z",
    "alpha": "A-Za-z",
    "blank": " \t",
    "cntrl": "\x00-\x1f\x7f",
    "digit": "0-9",
    "graph": "!-~",
    "lower": "a-z",
    "print": " -~",
    "punct": "!-/:-@\\[-`{-~",
    "space": "\t\n\r ",
    "upper": "A-Z",
    "xdigit": "0-9A-Fa-f",
}


class _Unreadable(Exception):
    """Git would take this pattern to match nothing."""


@dataclass(frozen=True, slots=True)
class _Rule:
    """One line: either the literal name or path, or an expression for it."""

    is_negated: bool
    is_for_folders: bool
    # Whether it is about the path from the file's folder, or about the name alone.
    is_path: bool
    literal: str
    expression: re.Pattern[str] | None

    def matches(self, path: str, name: str, is_folder: bool) -> bool:
        if self.is_for_folders and not is_folder:
            return False
        subject = path if self.is_path else name
        if self.expression is None:
            return subject == self.literal
        return subject.startswith(self.literal) and (
            self.expression.fullmatch(subject, len(self.literal)) is not None
        )


class Ignore:
    """The rules of one file.  Guards: the last rule that matches decides."""

    def __init__(self, text: str) -> None:
        lines = as_bytes_of(text.removeprefix("\ufeff")).split("\n")
        rules = [rule for line in lines[:PATTERNS_MAX] if (rule := _rule(line)) is not None]
        # The last first, and in runs of literal names, which one look decides.
        self._rules = rules[::-1]
        self._names = {rule.literal for rule in rules if _is_plain(rule)}
        self._others = [rule for rule in self._rules if not _is_plain(rule)]

    def decides(self, path: str, *, is_folder: bool) -> bool | None:
        """Whether the path (from the file's folder, with `/`) is ignored; None: nothing is said."""
        path = as_bytes_of(path)
        name = path.rpartition("/")[2]
        if name not in self._names:
            return _first(self._others, path, name, is_folder)
        return _first(self._rules, path, name, is_folder)


def _is_plain(rule: _Rule) -> bool:
    return rule.expression is None and not rule.is_path


def _first(rules: list[_Rule], path: str, name: str, is_folder: bool) -> bool | None:
    for rule in rules:
        if rule.matches(path, name, is_folder):
            return not rule.is_negated
    return None


def as_bytes_of(text: str) -> str:
    """One character for each byte: git compares bytes, and `?` is one of them."""
    return text if text.isascii() else os.fsencode(text).decode("latin-1")


def _rule(line: str) -> _Rule | None:
    line = line.removesuffix("\r")
    if not line or line.startswith("#") or len(line) > PATTERN_CHARACTERS_MAX:
        return None
    line = _without_trailing_spaces(line)
    is_negated = line.startswith("!")
    if is_negated:
        line = line[1:]
    is_for_folders = line.endswith("/")
    if is_for_folders:
        line = line[:-1]
    is_path = "/" in line
    line = line.removeprefix("/")
    if not line:
        return None
    start = next((at for at, one in enumerate(line) if one in _SPECIAL), len(line))
    literal, rest = line[:start], line[start:]
    try:
        expression = _expression(rest) if rest else None
    except _Unreadable:
        return None
    return _Rule(is_negated, is_for_folders, is_path, literal, expression)


def _without_trailing_spaces(line: str) -> str:
    """Remove trailing spaces, except for one after a backslash."""
    end, at = 0, 0
    while at < len(line):
        if line[at] == "\\":
            at += 2
            end = min(at, len(line))
            continue
        at += 1
        if line[at - 1] != " ":
            end = at
    return line[:end]


_WITHIN, _ACROSS, _FOLDERS = "[^/]*", ".*", "(?:.*/)?"
_LAZY = {_ACROSS: ".*?", _FOLDERS: "(?:.*?/)??"}


def _expression(pattern: str) -> re.Pattern[str]:
    """The expression for a pattern that begins with something special.

    What follows a star, up to the next one of its kind, is an atomic group that takes the first
    place that fits: in patterns without alternatives that is always enough.  So nothing is tried
    twice, however many stars there are.
    """
    # Runs that begin with a star over folders; in each, pieces with a star within a name between.
    runs: list[tuple[str, list[str]]] = [("", [""])]
    at = 0
    while at < len(pattern):
        if pattern[at] == "*":
            star, at = _star(pattern, at)
            if star == _WITHIN:
                runs[-1][1].append("")
            else:
                runs.append((star, [""]))
        else:
            part, at = _part(pattern, at)
            runs[-1][1][-1] += part
    made = ""
    for index, (star, pieces) in enumerate(runs):
        is_last = index == len(runs) - 1
        body = pieces[0]
        for number, piece in enumerate(pieces[1:], 2):
            # The very last must reach the end, wherever its own first place would be.
            is_end = is_last and number == len(pieces)
            body += _WITHIN + piece if is_end else f"(?>{_WITHIN}?{piece})"
        made += star + body if is_last or not star else f"(?>{_LAZY[star]}{body})"
    return re.compile(made, re.DOTALL)


def _star(pattern: str, at: int) -> tuple[str, int]:
    """The expression for the stars at this place, and where they end."""
    end = at
    while end < len(pattern) and pattern[end] == "*":
        end += 1
    if end - at == 1:
        return _WITHIN, end
    begins = at == 0 or pattern[at - 1] == "/"
    rest = pattern[end:]
    if not begins or (rest and not rest.startswith(("/", "\\/"))):
        return _WITHIN, end
    if rest.startswith("/"):
        return _FOLDERS, end + 1
    return _ACROSS, end


def _part(pattern: str, at: int) -> tuple[str, int]:
    """The expression for one character of the pattern, and where the next one is."""
    one = pattern[at]
    if one == "?":
        return "[^/]", at + 1
    if one == "[":
        return _bracket(pattern, at + 1)
    if one == "\\":
        if at + 1 == len(pattern):
            raise _Unreadable
        return re.escape(pattern[at + 1]), at + 2
    return re.escape(one), at + 1


def _bracket(pattern: str, at: int) -> tuple[str, int]:
    """A set of characters, which never has the slash in it."""
    is_negated = pattern[at : at + 1] in ("!", "^")
    at += is_negated
    members: list[str] = []
    # The last single character, from which a range may begin.
    low: str | None = None
    is_first = True
    while is_first or pattern[at : at + 1] != "]":
        is_first = False
        one = pattern[at : at + 1]
        if not one:
            raise _Unreadable
        if one == "[" and pattern[at + 1 : at + 2] == ":":
            found = re.compile(r"\[:([^\]]*):\]").match(pattern, at)
            if found is not None:
                if found[1] not in _CLASSES:
                    raise _Unreadable
                members.append(_CLASSES[found[1]])
                at, low = found.end(), None
                continue
        if one == "-" and low is not None and pattern[at + 1 : at + 2] not in ("", "]"):
            high, at = _member(pattern, at + 1)
            if low <= high:
                members.append(f"{re.escape(low)}-{re.escape(high)}")
            low = None
            continue
        low, at = _member(pattern, at)
        members.append(re.escape(low))
    inside = "".join(members)
    if is_negated:
        return (f"[^/{inside}]" if inside else "[^/]"), at + 1
    return (f"(?!/)[{inside}]" if inside else "(?!)"), at + 1


def _member(pattern: str, at: int) -> tuple[str, int]:
    if pattern[at] == "\\":
        at += 1
        if at == len(pattern):
            raise _Unreadable
    return pattern[at], at + 1
