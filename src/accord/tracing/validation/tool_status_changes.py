"""Tracks the status of tool calls and finds invalid changes.

Must not know frames; it gets updates.

What always holds: at most `CALLS_MAX` calls of a recording are tracked.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from accord.tracing.validation.dialects import DialectFacts

CALLS_MAX = 100_000


class ToolStatusChanges:
    """The last status of each tool call."""

    def __init__(self) -> None:
        self._status: dict[tuple[str | None, str], str] = {}

    def apply(
        self, facts: DialectFacts, session_id: str | None, kind: str, update: Mapping[str, Any]
    ) -> Iterator[tuple[bool, str]]:
        """Yield invalid changes of this update: whether a final status changed, and how."""
        if kind not in ("tool_call", "tool_call_update"):
            return
        call_id = update.get("toolCallId", update.get("id"))
        status = update.get("status")
        if not isinstance(call_id, str) or not isinstance(status, str):
            return
        key = (session_id, call_id)
        before = self._status.get(key)
        if before is not None and not facts.status_may_follow(before, status):
            yield before in facts.final_statuses, f"{call_id[:60]}: {status[:20]} after {before}"
        is_known = before is not None
        if before not in facts.final_statuses and (is_known or len(self._status) < CALLS_MAX):
            self._status[key] = status
