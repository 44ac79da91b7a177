"""Finds what to complete at the cursor: a command, a file, or nothing.

This module does not know any screen, nor where the files are.

Invariants
    * A command is completed at the very beginning of the prompt alone; a file after an `@` that
      begins a word.
    * Names of the agent are made visible before they are shown or put into the text.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

from accord.machine.file_search.fuzzy_search import is_match
from accord.terminal.model.text.display_text import one_line
from accord.transcript.items.options_and_commands import Command

QUERY_CHARACTERS_MAX = 200

_COMMAND = re.compile(r"/(\S*)")
_FILE = re.compile(r"(?:^|[\s(\[{\"'])@([^\s@]*)$")

AskedKind: TypeAlias = Literal["command", "file"]


@dataclass(frozen=True, slots=True)
class CompletionQuery:
    """The query, and its first column in the line."""

    kind: AskedKind
    query: str
    start: int


def asked_in(line: str, column: int, *, is_first_line: bool) -> CompletionQuery | None:
    """What is to be completed at this place of a line."""
    before = line[:column]
    if is_first_line:
        command = _COMMAND.fullmatch(before)
        if command is not None:
            return CompletionQuery("command", command[1], 0)
    found = _FILE.search(before[-QUERY_CHARACTERS_MAX:])
    if found is None:
        return None
    return CompletionQuery("file", found[1], column - len(found[1]) - 1)


@dataclass(frozen=True, slots=True)
class CommandChoice:
    """A command of the agent as it is shown: clean, one line each."""

    name: str
    description: str
    hint: str


def choices_of(commands: Sequence[Command]) -> list[CommandChoice]:
    """Return the available commands, including those of an unknown kind."""
    found: list[CommandChoice] = []
    for command in commands:
        name = one_line(command.name).lstrip("/")
        if name:
            hint = one_line(command.hint or "")
            found.append(CommandChoice(name, one_line(command.description), hint))
    return found


def fitting(choices: Sequence[CommandChoice], query: str) -> list[CommandChoice]:
    """Sort by fit: names that begin with the query, that contain it, that have its letters."""
    small = query.lower()
    ranked: list[tuple[int, int]] = []
    for at, choice in enumerate(choices):
        name = choice.name.lower()
        if name.startswith(small):
            ranked.append((0, at))
        elif small in name:
            ranked.append((1, at))
        elif is_match(small, name):
            ranked.append((2, at))
    return [choices[at] for _, at in sorted(ranked)]


def hint_for(choices: Sequence[CommandChoice], text: str) -> str:
    """What may follow the command that was typed, as long as nothing follows it yet."""
    if not text.startswith("/") or not text.endswith(" ") or "\n" in text:
        return ""
    name = text[1:].rstrip(" ")
    return next((choice.hint for choice in choices if choice.name == name), "")
