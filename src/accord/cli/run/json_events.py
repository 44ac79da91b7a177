"""The events of `accord run --format json`: plain values, the same for every version.

Must not know where they are written.  docs/reference/run.md lists them; a field may be added, none
is taken away or changes its meaning.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from accord import RateLimited, Update
from accord.cli.run.check_command import Checked
from accord.client.audit.services import shown_rule
from accord.client.permissions.request import Decided
from accord.transcript import Message, Notice, Plan, Terminal, ToolCall

_DUMPED = ("mode", "session_info", "usage")
_RAW = frozenset({"rawInput", "rawOutput"})
"""What is the agent's own value goes out as it came."""


def without_nulls(value: Any) -> Any:
    """An event without the fields that have no value, however deep they are."""
    if isinstance(value, Mapping):
        return {
            name: one if name in _RAW else without_nulls(one)
            for name, one in value.items()
            if one is not None
        }
    if isinstance(value, list | tuple):
        return [without_nulls(one) for one in value]
    return value


def event_of(update: Update) -> dict[str, Any] | None:
    """The event of an update; None for what has none: echoes, states, what nobody knows."""
    item = update.item
    if isinstance(item, Message):
        if update.kind == "user_message" or not (update.text or update.replaces):
            return None
        event = {"type": update.kind, "messageId": item.message_id, "text": update.text}
        return {**event, "replaces": True} if update.replaces else event
    if isinstance(item, ToolCall):
        return tool_call_event(item)
    if isinstance(item, Terminal):
        return _terminal_event(item, update.text)
    if isinstance(item, Plan):
        return {
            "type": "plan",
            "entries": [
                {"content": entry.content, "priority": entry.priority, "status": entry.status}
                for entry in item.entries
            ],
            "markdown": item.markdown,
            "uri": item.uri,
        }
    if isinstance(item, Notice):
        return dict(item.dump())
    return _setting_event(update)


def tool_call_event(call: ToolCall) -> dict[str, Any]:
    """A tool call as it stands: every event of a call has all of it."""
    return {
        "type": "tool_call",
        "toolCallId": call.tool_call_id,
        "title": call.title,
        "name": call.name,
        "kind": call.kind,
        "status": call.status,
        "locations": [{"path": one.path, "line": one.line} for one in call.locations],
        "diffs": [diff.dump() for diff in call.diffs],
        "text": call.text,
        "rawInput": call.raw_input,
        "rawOutput": call.raw_output,
    }


def permission_event(decided: Decided) -> dict[str, Any]:
    """A decision: what about, which way, and by whom."""
    request = decided.request
    return {
        "type": "permission",
        "outcome": "allowed" if decided.allowed else "denied",
        "by": decided.by,
        "rule": None if decided.rule is None else shown_rule(decided.rule),
        "why": decided.why,
        "kind": request.kind,
        "title": request.title,
        "reason": request.reason,
        "paths": list(request.paths) or None,
        "command": request.command,
        "toolCallId": None if request.tool_call is None else request.tool_call.tool_call_id,
    }


def check_event(checked: Checked) -> dict[str, Any]:
    """How the check of `--check` ended."""
    return {
        "type": "check",
        "command": checked.command,
        "passed": checked.passed,
        "exitCode": checked.exit.code,
        "signal": checked.exit.signal,
        "text": checked.text,
        "truncated": checked.truncated or None,
    }


def retry_event(error: RateLimited, seconds: float) -> dict[str, Any]:
    """A rate limit that is waited for."""
    return {"type": "retry", "seconds": seconds, "error": error.message}


def _terminal_event(terminal: Terminal, text: str) -> dict[str, Any]:
    ended = terminal.exit_status
    return {
        "type": "terminal",
        "terminalId": terminal.terminal_id,
        "command": terminal.command,
        "text": text,
        "exitCode": None if ended is None else ended.exit_code,
        "signal": None if ended is None else ended.signal,
    }


def _setting_event(update: Update) -> dict[str, Any] | None:
    dump = getattr(update.item, "dump", None)
    if update.kind in _DUMPED and dump is not None:
        shown: dict[str, Any] = dump()
        shown.pop("meta", None)
        return {"type": update.kind, **shown}
    return None


__all__ = [
    "check_event",
    "event_of",
    "permission_event",
    "retry_event",
    "tool_call_event",
    "without_nulls",
]
