"""The events of `accord run --format json`: plain values, the same for every version.

Must not know where they are written.  docs/reference/run.md lists them; fields may be added, but
not removed or changed.
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
"""The agent's own values, which are not changed."""


def without_nulls(value: Any) -> Any:
    """Remove null fields from an event at any depth."""
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
    """Return the event of an update; None for echoes, states and unknown updates."""
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
    """Return the event of a tool call, which always has the whole call."""
    return {
        "type": "tool_call",
        "toolCallId": call.tool_call_id,
        "title": call.title,
        "name": call.name,
        "kind": call.kind,
        "status": call.status,
        "locations": [
            {
                "path": one.path,
                "line": one.line,
                "column": one.column,
                "endLine": one.end_line,
                "endColumn": one.end_column,
            }
            for one in call.locations
        ],
        "diffs": [diff.dump() for diff in call.diffs],
        "text": call.text,
        "rawInput": call.raw_input,
        "rawOutput": call.raw_output,
    }


def permission_event(decided: Decided) -> dict[str, Any]:
    """Return the event of a permission decision."""
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
    """Return the event of a finished `--check`."""
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
    """Return the event of a wait for a rate limit."""
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
