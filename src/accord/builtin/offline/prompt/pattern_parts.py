"""Building blocks of sentence patterns: common phrases, and functions that make intents.  Pure.

What always holds
    * An argument of an intent is never empty.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from re import Match, Pattern

from accord.builtin.offline.prompt.arguments import name_of, path_of, target_of
from accord.builtin.offline.prompt.intent import Intent

Make = Callable[[Match[str]], Intent | None]
"""Makes an intent from a match; None if the row does not fit after all."""

Row = tuple[Pattern[str], Make]

ASK = r"(?:(?:please|can you|could you|would you|will you|now|ok|okay|and|then|just)[,\s]+)*"
THE = r"(?:the |a |an |this |that |my |our |all |all the )?"
KIND = r"(?:(?:function|method|class|symbol|name|variable|constant|module|file|word|text|string) )?"
PROJECT = r"(?:project|repo|repository|code ?base|package|code|program|folder|directory|library)"
QUOTED = r"""'[^']*'|"[^"]*"|`[^`]*`|“[^”]*”|‘[^’]*’"""
SOURCE = rf"{QUOTED}|\S+"


def plain_intent(name: str) -> Make:
    """Make an intent without arguments."""
    return lambda match: Intent(name)


def with_arguments(intent: str, /, **readers: Callable[[str], str | None]) -> Make:
    """Make an intent whose arguments are groups of the match, each read by its reader."""

    def make(match: Match[str]) -> Intent | None:
        arguments: dict[str, str] = {}
        for key, read in readers.items():
            group = match[key]
            if group is None:
                continue
            value = read(group)
            if not value:
                return None
            arguments[key] = value
        return Intent(intent, arguments)

    return make


def rename_intent(match: Match[str]) -> Intent | None:
    """Make an intent to rename a symbol or to move a file."""
    old, new = target_of(match["old"]), target_of(match["new"])
    if not old or not new:
        return None
    if path_of(old) and (path_of(new) or "/" in new):
        return Intent("move", {"path": old, "target": new})
    if name_of(old) and name_of(new):
        return Intent("rename", {"old": old, "new": new})
    return None


def pattern(text: str) -> Pattern[str]:
    """Compile a pattern for a whole line, in any case, with any punctuation at its end."""
    return re.compile(rf"\s*(?:{text})[\s.!?]*", re.IGNORECASE | re.DOTALL)


def row(text: str, make: Make) -> Row:
    """What to make of a line that fits a pattern."""
    return pattern(text), make


def command_pattern(text: str) -> Pattern[str]:
    """Compile a pattern for a line that ends with a command, punctuation included."""
    return re.compile(rf"\s*(?:{text})", re.IGNORECASE | re.DOTALL)


def first_match(rows: Iterable[Row], line: str) -> Intent | None:
    """The intent of the first row that fits a line; None if no row does."""
    for row, make in rows:
        match = row.fullmatch(line)
        intent = None if match is None else make(match)
        if intent is not None:
            return intent
    return None
