"""Items that were left open: by the handler of a turn, or in a session's past.

A past has them if the process or the client was gone too soon.
Open tool calls and plan entries are reported as cancelled and terminals as ended, so that no client
shows a spinner or a button without work behind it.

An interrupted turn is reported by a message, which every client can show, and in v2 also by the
error in the state of the resumed session.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from accord.agent.session.plan import without_open
from accord.protocol.tool_status import is_final
from accord.schema import v2
from accord.schema.struct import Raw

_INTERRUPTED = {"accord": Raw(b'{"interrupted":true}')}

CUT_OFF = "This turn was interrupted: it did not run to its end."


def cut_off_error() -> v2.Error:
    """Why the last turn stopped, for a state of v2."""
    return v2.Error(code=-32603, message=CUT_OFF, data=Raw(b'{"reason":"turn_interrupted"}'))


def interruption(message_id: str) -> v2.AgentMessage:
    """The text in the log where a turn was interrupted."""
    text = v2.TextContent(text=f"*{CUT_OFF}*")
    return v2.AgentMessage(message_id=message_id, content=[text], meta=_INTERRUPTED)


def status_at_end(*, is_cancelled: bool, failed: bool) -> str:
    """The status of a tool call that is still open when its turn ends."""
    return "cancelled" if is_cancelled else "failed" if failed else "completed"


class Unfinished:
    """Looks at the updates of a past, in order."""

    def __init__(self) -> None:
        self._calls: dict[str, None] = {}
        self._terminals: dict[str, None] = {}
        # The plans as they are, and those of them whose turn was cut off.
        self._plans: dict[str, v2.PlanItems] = {}
        self._cut_off: set[str] = set()

    def see(self, update: Any) -> None:
        """Take one update; only those of tool calls, terminals and plans matter."""
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
        elif kind is v2.PlanUpdate and isinstance(update.plan, v2.PlanItems):
            self._cut_off.discard(update.plan.plan_id)
            self._plans[update.plan.plan_id] = update.plan
        elif kind is v2.PlanRemoved:
            self._plans.pop(update.plan_id, None)
        elif kind is v2.AgentMessage and update.meta == _INTERRUPTED:
            self._cut_off.update(self._plans)

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
        for plan_id, plan in self._plans.items():
            left = without_open(plan) if plan_id in self._cut_off else None
            if left is not None:
                yield v2.PlanUpdate(plan=left)
