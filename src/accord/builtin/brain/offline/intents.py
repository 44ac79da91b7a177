"""What a person means by a line of text: a slash command, or a sentence.

Slash commands are the intents of sentences, spelled exactly.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

from accord.builtin.brain.offline.arguments import command_of, target_of, unquoted
from accord.builtin.brain.offline.intent import Intent
from accord.builtin.brain.offline.more_sentences import more_of
from accord.builtin.brain.offline.sentences import parse_sentence, rename_intent


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


# What follows the name of a slash command.  None: the command needs something that is not there.
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
    "run": _argument("run", "command", command_of),
    "undo": lambda text: Intent("undo"),
    "mcp": lambda text: Intent("mcp"),
    "call": _slash_call,
    "plan": _argument("plan", "text", str.strip),
    "help": lambda text: Intent("help"),
    "model": _optional("model", "text"),
}


def parse(text: str) -> Intent:
    """What the text means."""
    line = text.strip()
    if line.startswith("/"):
        return _parse_slash(line)
    intent = parse_sentence(line)
    return (more_of(line) or intent) if intent.name == "unknown" else intent


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
