"""What a person means by a text: a slash command, a command line, a sentence, or several.

Slash commands are the intents of sentences, spelled exactly.

What always holds
    * Several sentences are done in their order when each of them is understood, else not at all.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

from accord.builtin.offline.prompt.arguments import target_of, unquoted
from accord.builtin.offline.prompt.command_lines import (
    command_line,
    fenced_command,
    given_command,
)
from accord.builtin.offline.prompt.intent import Intent
from accord.builtin.offline.prompt.pattern_parts import rename_intent
from accord.builtin.offline.prompt.sentence_patterns import (
    LINE_CHARACTERS_MAX,
    parse_broadly,
    parse_sentence,
)


def _slash_rename(text: str) -> Intent | None:
    parts = re.split(r"\s+(?:to\s+)?", text.strip())
    if len(parts) != 2:
        return None
    match = re.fullmatch(r"(?P<old>\S+) (?P<new>\S+)", " ".join(parts))
    return None if match is None else rename_intent(match)


def _slash_change(text: str) -> Intent | None:
    found = parse_sentence(f"change {text}")
    return found if found.name == "change" else None


def _slash_call(text: str) -> Intent | None:
    match = re.fullmatch(r"\s*(?P<tool>[\w.:/-]+)\s*(?P<values>.*?)\s*", text, re.DOTALL)
    if match is None:
        return None
    values = {"values": match["values"]} if match["values"] else {}
    return Intent("call", {"tool": match["tool"], **values})


def _argument(
    name: str, key: str, read: Callable[[str], str | None]
) -> Callable[[str], Intent | None]:
    def make(text: str) -> Intent | None:
        value = read(text)
        return Intent(name, {key: value}) if value else None

    return make


def _optional(name: str, key: str) -> Callable[[str], Intent | None]:
    return lambda text: Intent(name, {key: text.strip()} if text.strip() else {})


# Reads what follows the name of a slash command; None if an argument is missing.
SLASH: Mapping[str, Callable[[str], Intent | None]] = {
    "map": lambda text: Intent("map"),
    "explain": _argument("explain", "target", target_of),
    "show": _argument("show", "path", target_of),
    "where": _argument("where", "name", target_of),
    "callers": _argument("callers", "name", target_of),
    "find": _argument("find", "text", unquoted),
    "rename": _slash_rename,
    "change": _slash_change,
    "test": _optional("test", "target"),
    "fix": lambda text: Intent("fix"),
    "run": given_command,
    "undo": lambda text: Intent("undo"),
    "mcp": lambda text: Intent("mcp"),
    "call": _slash_call,
    "plan": _argument("plan", "text", str.strip),
    "help": lambda text: Intent("help"),
    "model": _optional("model", "text"),
}


_POLITE = re.compile(r",\s*(?:please|pls|thanks|thank you|ok|okay)[\s.!?]*$", re.IGNORECASE)
# Two things to do in one line.
_JOINTS = re.compile(
    r"\s*,?\s+(?:and\s+then|and|then|afterwards)\s+|\s*;\s+|\s*,\s+|[.!?]\s+", re.IGNORECASE
)
PARTS_MAX = 4


def parse(text: str) -> Intent:
    """Return the intent of a text."""
    line = text.strip()
    if line.startswith("/"):
        return _parse_slash(line)
    # Phones and some editors write another apostrophe.
    line = re.sub(r"(?<=\w)’(?=\w)", "'", line)
    if not line.startswith(("$", "!")):
        line = _POLITE.sub("", line)
    intent = _parse_one(line)
    return intent if intent.name != "unknown" else (_several(line) or intent)


def _parse_one(line: str) -> Intent:
    """What one sentence or command line means."""
    marked = _marked(line)
    if marked is not None:
        return marked
    command = command_line(line, needs_evidence=True)
    if command is not None:
        return Intent("run", {"command": command})
    spelled = re.sub(r"^(what|where|who)s\b", r"\1's", line, flags=re.IGNORECASE)
    intent = parse_sentence(spelled)
    if intent.name != "unknown":
        return intent
    command = command_line(line)
    if command is not None:
        return Intent("run", {"command": command})
    return parse_broadly(spelled) or intent


def _marked(line: str) -> Intent | None:
    """What is marked as a command: by `$` and a space, by `!` before a program, by a fence."""
    if re.match(r"\$\s", line):
        return given_command(line[1:])
    if line[:1] in ("$", "!"):
        command = command_line(line[1:], is_marked=True)
        return None if command is None else Intent("run", {"command": command})
    return fenced_command(line)


def _several(line: str) -> Intent | None:
    """The intent of several requests in one line; polite words do not count."""
    if "\n" in line or len(line) > LINE_CHARACTERS_MAX:
        return None
    parts = [part.strip() for part in _JOINTS.split(line) if part.strip(" .!?")]
    if not 1 < len(parts) <= PARTS_MAX:
        return None
    every = [(part, _parse_one(part)) for part in parts]
    every = [(part, intent) for part, intent in every if intent.name not in ("hello", "thanks")]
    understood = [part for part, intent in every if intent.name not in NOT_DONE]
    missed = [part for part, intent in every if intent.name in NOT_DONE]
    if not understood:
        return None
    if missed:
        return Intent("half_understood", {"understood": understood[0], "missed": missed[0]})
    if len(every) == 1:
        return every[0][1]
    return Intent("several", {str(number): part for number, part in enumerate(understood, 1)})


NOT_DONE = frozenset({"unknown", "not_a_command", "several_lines", "about"})
"""Intents that a part of a sentence cannot have."""


def _parse_slash(line: str) -> Intent:
    name, _, rest = line[1:].partition(" ")
    if "\n" in name:
        name, _, rest = line[1:].partition("\n")
    make = SLASH.get(name.lower())
    if make is None:
        return Intent("no_such_command", {"command": name} if name else {}, slash=True)
    intent = make(rest)
    if intent is None:
        return Intent("usage", {"command": name.lower()}, slash=True)
    return Intent(intent.name, intent.arguments, slash=True)
