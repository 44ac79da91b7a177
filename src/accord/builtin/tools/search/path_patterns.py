"""Patterns for paths: `*`, `?`, `[abc]`, `{a,b}` within a folder, `**` across folders.  Pure.

A pattern without a slash is for names, in whatever folder they are, as in a .gitignore.

What always holds
    * Matching cannot run away: each star is settled as soon as what stands between it and the
      next one fits, which is where it fits best.
"""

from __future__ import annotations

import re

PATTERN_CHARACTERS_MAX = 1_000
ALTERNATIVES_MAX = 64
"""What the braces of one pattern may multiply to; beyond, they are read as they stand."""


def path_pattern(pattern: str) -> re.Pattern[str]:
    """A regular expression that a relative path with forward slashes fully matches.

    Raises:
        ValueError: the pattern is too long.
    """
    if len(pattern) > PATTERN_CHARACTERS_MAX:
        raise ValueError(f"a pattern has at most {PATTERN_CHARACTERS_MAX} characters")
    return re.compile("|".join(f"(?:{_path(one)})" for one in _expanded(pattern)), re.DOTALL)


def _path(pattern: str) -> str:
    pattern = pattern.removeprefix("./")
    if "/" not in pattern.rstrip("/"):
        pattern = f"**/{pattern.rstrip('/')}" if pattern.rstrip("/") != "**" else "**"
    groups: list[list[str]] = [[]]
    for segment in pattern.strip("/").split("/"):
        if segment == "**":
            groups.append([])
        else:
            groups[-1].append(_name(segment))
    first, *rest = ["/".join(group) for group in groups]
    if not rest:
        return first
    *middle, last = rest
    start = f"{first}/" if first else ""
    settled = "".join(f"(?>(?:[^/]+/)*?{group}/)" for group in middle if group)
    return start + settled + (f"(?:[^/]+/)*{last}" if last else ".+")


def _name(segment: str) -> str:
    first, *rest = [_fixed(piece) for piece in re.split(r"\*+", segment)]
    if not rest:
        return first
    *middle, last = rest
    settled = "".join(f"(?>[^/]*?{piece})" for piece in middle)
    return f"{first}{settled}[^/]*{last}"


def _fixed(piece: str) -> str:
    """A piece without stars."""
    made: list[str] = []
    position = 0
    while position < len(piece):
        character = piece[position]
        if character == "?":
            made.append("[^/]")
        elif character == "[" and (end := piece.find("]", position + 2)) > 0:
            made.append(_class(piece[position + 1 : end]))
            position = end
        else:
            made.append(re.escape(character))
        position += 1
    return "".join(made)


def _class(inside: str) -> str:
    negated = inside[:1] in ("!", "^")
    members: list[str] = []
    chosen = inside[1:] if negated else inside
    position = 0
    while position < len(chosen):
        low, high = chosen[position], chosen[position + 2 : position + 3]
        if chosen[position + 1 : position + 2] == "-" and high and low <= high:
            members.append(f"{re.escape(low)}-{re.escape(high)}")
            position += 3
        else:
            members.append(re.escape(low))
            position += 1
    if not members:
        return re.escape(f"[{inside}]")
    return f"(?!/)[{'^' if negated else ''}{''.join(members)}]"


def _expanded(pattern: str) -> list[str]:
    """The pattern once for every choice of its braces."""
    done: list[str] = []
    open_ = [pattern]
    while open_:
        if len(done) + len(open_) > ALTERNATIVES_MAX:
            return [pattern]
        one = open_.pop()
        found = re.search(r"\{([^{}]*,[^{}]*)\}", one)
        if found is None:
            done.append(one)
            continue
        head, tail = one[: found.start()], one[found.end() :]
        open_.extend(f"{head}{choice}{tail}" for choice in found.group(1).split(","))
    return done
