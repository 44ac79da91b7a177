"""The statuses that tool calls went through, and steps that they may not take.

Must not know frames; it is told updates.

What always holds: at most `CALLS_MAX` calls of a recording are remembered.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from accord.protocol.negotiation import Dialect
from accord.protocol.tool_status import may_follow

CALLS_MAX = 100_000

# The draft has words of its own; a call may leave out steps on its way to the end.
_DRAFT_FINAL = frozenset({"completed", "failed", "denied", "cancelled"})
_DRAFT_ORDER = ("pending", "awaiting_permission", "in_progress")


class ToolLives:
    """The last status of each tool call."""

    def __init__(self) -> None:
        self._status: dict[tuple[str | None, str], str] = {}

    def apply(
        self, dialect: Dialect, session_id: str | None, kind: str, update: Mapping[str, Any]
    ) -> Iterator[tuple[bool, str]]:
        """Wrong steps of this update: whether a final status changed, and what it did."""
        if kind not in ("tool_call", "tool_call_update"):
            return
        call_id = update.get("toolCallId", update.get("id"))
        status = update.get("status")
        if not isinstance(call_id, str) or not isinstance(status, str):
            return
        key = (session_id, call_id)
        before = self._status.get(key)
        if before is not None and not _may_follow(dialect, before, status):
            yield _is_final(dialect, before), f"{call_id[:60]}: {status[:20]} after {before}"
        is_known = before is not None
        if not (is_known and _is_final(dialect, before or "")) and (
            is_known or len(self._status) < CALLS_MAX
        ):
            self._status[key] = status


def _is_final(dialect: Dialect, status: str) -> bool:
    if dialect == "draft":
        return status in _DRAFT_FINAL
    return status in ("completed", "failed", "cancelled")


def _may_follow(dialect: Dialect, before: str, status: str) -> bool:
    if dialect != "draft":
        return may_follow(before, status)
    if before in _DRAFT_FINAL:
        return status == before
    if status in _DRAFT_FINAL or before not in _DRAFT_ORDER or status not in _DRAFT_ORDER:
        return True
    return _DRAFT_ORDER.index(status) >= _DRAFT_ORDER.index(before)


__all__ = ["CALLS_MAX", "ToolLives"]
