"""The wire form of v1 for a client of the draft, with the draft's extra data in `_meta`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from accord.agent.serving.v1.tool_calls import Printed, V1Calls
from accord.agent.serving.v1.wire import V1Wire
from accord.agent.serving.wire import Features
from accord.schema import v1, v2
from accord.translate.content_blocks import to_v1
from accord.translate.meta_store import draft_meta

_CHUNKS: dict[Any, Any] = {
    v2.AgentMessage: v1.AgentMessageChunk,
    v2.AgentThought: v1.AgentThoughtChunk,
    v2.UserMessage: v1.UserMessageChunk,
}


class DetailedWire(V1Wire):
    """A wire of v1 that marks the last chunk of a message, and how a command of ours ended."""

    pieces_alike = False

    def __init__(self, features: Features) -> None:
        super().__init__(features)
        self._calls = DetailedCalls()

    def told(self, session_id: str, update: Any) -> Sequence[Any]:
        """Convert as for v1, and mark the last chunk of a whole message."""
        chunk = _CHUNKS.get(type(update))
        if chunk is None or not isinstance(update.content, list):
            return super().told(session_id, update)
        last = len(update.content) - 1
        return [
            chunk(
                content=to_v1(block),
                message_id=update.message_id,
                **({"meta": draft_meta({"final": True})} if at == last else {}),
            )
            for at, block in enumerate(update.content)
        ]

    def _plan(self, session_id: str, update: Any) -> Sequence[Any]:
        """Convert as for v1; dropped entries keep their status in `_meta`."""
        if isinstance(update, v2.PlanUpdate) and isinstance(update.plan, v2.PlanItems):
            plan = update.plan
            entries = [_with_status(entry) for entry in plan.entries]
            update = v2.PlanUpdate(plan=v2.PlanItems(plan_id=plan.plan_id, entries=entries))
        return super()._plan(session_id, update)


class DetailedCalls(V1Calls):
    """Remembers the command and the end of each terminal of ours."""

    def __init__(self) -> None:
        super().__init__()
        self._ended_as: dict[str, int | None] = {}
        self._commands: dict[str, str] = {}

    def tool_call(self, session_id: str, update: Any) -> Sequence[Any]:
        """Convert as for v1, but keep the status of a cancelled call."""
        return super().tool_call(session_id, _with_status(update))

    def terminal(self, session_id: str, update: Any) -> Sequence[Any]:
        """Convert an update of a terminal: its start, a whole report, or its end."""
        if isinstance(update.command, str):
            self._commands[update.terminal_id] = update.command
        if isinstance(update.exit_status, v2.TerminalExitStatus):
            code = update.exit_status.exit_code
            self._ended_as[update.terminal_id] = code if isinstance(code, int) else -1
        return super().terminal(session_id, update)

    def _printed(self, terminal_id: str, printed: Printed) -> list[v1.Content]:
        about = {
            "terminalId": terminal_id,
            "command": self._commands.get(terminal_id),
            "exitCode": self._ended_as.get(terminal_id),
        }
        if printed.is_over:
            self._commands.pop(terminal_id, None)
            self._ended_as.pop(terminal_id, None)
        text = v1.TextContent(text=printed.text)
        return [v1.Content(content=text, meta=draft_meta({"terminal": about}))]


def _with_status(told: Any) -> Any:
    """A call or a plan entry; v1 has no status for one that was cancelled, so `_meta` keeps it."""
    if told.status != "cancelled":
        return told
    fields = {name: getattr(told, name) for name in told.__struct_fields__}
    own: dict[str, Any] = told.meta if isinstance(told.meta, dict) else {}
    return type(told)(**{**fields, "meta": {**own, **draft_meta({"status": "cancelled"})}})
