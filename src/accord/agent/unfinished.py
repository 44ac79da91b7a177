"""What a session's past left without an end: the process or the client was gone too soon.

A tool call that nobody works on any more is told to be cancelled, and a terminal to have ended,
so that no client shows a spinner, or a button, that nothing stands behind.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from accord.protocol.tool_status import is_final
from accord.schema import v2


class Unfinished:
    """Looks at the updates of a past, in order."""

    def __init__(self) -> None:
        self._calls: dict[str, None] = {}
        self._terminals: dict[str, None] = {}

    def see(self, update: Any) -> None:
        """Take one update; only those of tool calls and terminals matter."""
        kind = type(update)
        if kind is v2.ToolCallUpdate:
            if not isinstance(update.status, str):
                return
            if is_final(update.status):
                self._calls.pop(update.tool_call_id, None)
            else:
                self._calls[update.tool_call_id] = None
        elif kind is v2.TerminalUpdate:
            if isinstance(update.exit_status, v2.TerminalExitStatus):
                self._terminals.pop(update.terminal_id, None)
            elif isinstance(update.command, str):
                self._terminals[update.terminal_id] = None

    def endings(self, running: frozenset[str]) -> Iterator[Any]:
        """The updates that end it, but for the terminals whose commands run."""
        for terminal_id in self._terminals:
            if terminal_id in running:
                continue
            yield v2.TerminalUpdate(
                terminal_id=terminal_id, exit_status=v2.TerminalExitStatus(), capabilities=None
            )
        for tool_call_id in self._calls:
            yield v2.ToolCallUpdate(
                tool_call_id=tool_call_id, status="cancelled", capabilities=None
            )


__all__ = ["Unfinished"]
