"""The slash commands of the offline brain, as data: what a client lists and /help shows."""

from __future__ import annotations

from typing import NamedTuple


class CommandSpec(NamedTuple):
    """One slash command.  `hint` is what a client shows for its input; None when it takes none."""

    name: str
    description: str
    hint: str | None = None


COMMANDS: tuple[CommandSpec, ...] = (
    CommandSpec("map", "Show what this project is made of"),
    CommandSpec("explain", "Explain a file or a symbol", "<file or symbol>"),
    CommandSpec("where", "Show where a name is defined", "<name>"),
    CommandSpec("callers", "Show where a name is used", "<name>"),
    CommandSpec("find", "Search all files for a text", "<text>"),
    CommandSpec("rename", "Rename a symbol in all files", "<old> <new>"),
    CommandSpec("change", "Replace a text in a file", "'<old>' to '<new>' in <file>"),
    CommandSpec("test", "Run the tests", "[<test file>]"),
    CommandSpec("fix", "Repair what the last test run found"),
    CommandSpec("run", "Run a command", "<command>"),
    CommandSpec("undo", "Undo the last changes"),
    CommandSpec("mcp", "List the MCP servers and their tools"),
    CommandSpec("call", "Call an MCP tool", '<server>.<tool> {"name": "value"}'),
    CommandSpec("plan", "Draw up a plan for a change", "<change>"),
    CommandSpec("help", "Show what you can type"),
    CommandSpec("model", "Show how to use a language model"),
)
