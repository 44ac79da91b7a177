"""Terminals that a v1 agent runs itself and reports in `_meta` of its tool calls.

v1's terminals are the client's.  Agents that run commands on their own have a custom for it:
`terminal_info`, `terminal_output` and `terminal_exit` beside the call that shows the terminal.

Invariant: what is told in `_meta` changes no terminal that was not announced there first, so that
nobody can write into the output of a command that the client runs.
"""

from __future__ import annotations

from typing import Any, cast

from accord.schema.struct import Raw
from accord.transcript.changes import TerminalChanged
from accord.transcript.entities import View
from accord.transcript.items.terminal import ExitStatus, Terminal
from accord.transcript.items.tool_call import ToolCall
from accord.transcript.unknown_variants import plain

_INFO, _OUTPUT, _EXIT = "terminal_info", "terminal_output", "terminal_exit"


def fold_told_terminals(
    view: View, call: ToolCall, meta: dict[str, Raw]
) -> tuple[TerminalChanged, ...]:
    """Show the terminals in the metadata of an update, and return what has changed."""
    changed: list[TerminalChanged] = []
    if _INFO in meta:
        terminal = _announced(view, call, meta[_INFO])
        if terminal is not None:
            changed.append(TerminalChanged(terminal, "", None))
    if _OUTPUT in meta:
        terminal, told = _told(view, meta[_OUTPUT])
        data = told.get("data")
        if terminal is not None and isinstance(data, str):
            text = terminal.append(data.encode("utf-8", "replace"))
            changed.append(TerminalChanged(terminal, text, None))
    if _EXIT in meta:
        terminal, told = _told(view, meta[_EXIT])
        if terminal is not None:
            terminal.patch(exit_status=_status(told))
            changed.append(TerminalChanged(terminal, "", None))
    return tuple(changed)


def _members(raw: Raw) -> dict[str, Any]:
    value = plain(raw)
    return cast("dict[str, Any]", value) if isinstance(value, dict) else {}


def _announced(view: View, call: ToolCall, raw: Raw) -> Terminal | None:
    told = _members(raw)
    terminal_id = told.get("terminal_id")
    if not isinstance(terminal_id, str) or terminal_id in view.terminals_by_id:
        return None
    cwd = told.get("cwd")
    terminal = view.terminal(terminal_id)
    terminal.patch(command=_command(call), cwd=cwd if isinstance(cwd, str) else None)
    terminal.patch_meta({_INFO: raw})
    return terminal


def _command(call: ToolCall) -> str | None:
    """The command as the tool was given it: one line, or a list of words."""
    given = call.input
    command = cast("dict[str, Any]", given).get("command") if isinstance(given, dict) else None
    if isinstance(command, list):
        return " ".join(map(str, cast("list[object]", command)))
    return command if isinstance(command, str) else None


def _told(view: View, raw: Raw) -> tuple[Terminal | None, dict[str, Any]]:
    told = _members(raw)
    terminal_id = told.get("terminal_id")
    terminal = view.terminals_by_id.get(terminal_id) if isinstance(terminal_id, str) else None
    return (terminal if terminal is not None and _INFO in terminal.meta else None), told


def _status(told: dict[str, Any]) -> ExitStatus:
    code, signal = told.get("exit_code"), told.get("signal")
    return ExitStatus(
        code if isinstance(code, int) and not isinstance(code, bool) else None,
        signal if isinstance(signal, str) else None,
    )
