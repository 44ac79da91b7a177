"""A plan that an agent shows and works through.  Every change sends the whole plan."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import Any

from accord.agent.argument_checks import check_enum_value
from accord.errors import LocalProtocolError
from accord.schema import v2

Emit = Callable[[Any], Awaitable[None]]
EntryLike = str | tuple[str, v2.PlanEntryPriority] | v2.PlanEntry


def as_entry(entry: object) -> v2.PlanEntry:
    """An entry made of its text, of (text, priority), or of an entry."""
    if isinstance(entry, str):
        return v2.PlanEntry(content=entry, priority="medium", status="pending")
    # A list would be a whole plan in place of one entry.
    if isinstance(entry, tuple) and len(entry) == 2 and isinstance(entry[0], str):
        text, priority = entry
        entry = v2.PlanEntry(content=text, priority=priority, status="pending")
    if not isinstance(entry, v2.PlanEntry):
        kind = type(entry).__name__
        raise LocalProtocolError(f"an entry of a plan is text, not a {kind}: use plan(*entries)")
    check_enum_value("PlanEntryPriority", entry.priority)
    check_enum_value("PlanEntryStatus", entry.status)
    return entry


def without_open(plan: v2.PlanItems) -> v2.PlanItems | None:
    """The plan with its open entries cancelled, or None if it has no open entry."""
    if all(entry.status in ("completed", "cancelled") for entry in plan.entries):
        return None
    entries = [
        entry if entry.status == "completed" else with_status(entry, "cancelled")
        for entry in plan.entries
    ]
    return v2.PlanItems(plan_id=plan.plan_id, entries=entries, meta=plan.meta)


def with_status(entry: v2.PlanEntry, status: str) -> v2.PlanEntry:
    """A copy of the entry with another status."""
    return v2.PlanEntry(
        content=entry.content, priority=entry.priority, status=status, meta=entry.meta
    )


class PlanHandle:
    """The entries of one plan."""

    def __init__(self, emit: Emit, plan_id: str, entries: list[v2.PlanEntry]) -> None:
        self._emit = emit
        self._plan_id = plan_id
        self._entries = entries

    @property
    def entries(self) -> tuple[v2.PlanEntry, ...]:
        """The entries as they are now."""
        return tuple(self._entries)

    async def show(self) -> None:
        """Send the plan as it is now."""
        items = v2.PlanItems(plan_id=self._plan_id, entries=list(self._entries))
        await self._emit(v2.PlanUpdate(plan=items))

    async def remove(self) -> None:
        """Remove the plan from the client's view."""
        await self._emit(v2.PlanRemoved(plan_id=self._plan_id))

    async def start(self, index: int) -> None:
        """Mark an entry as in progress."""
        await self._mark(index, "in_progress")

    async def complete(self, index: int) -> None:
        """Mark an entry as completed."""
        await self._mark(index, "completed")

    async def drop(self, index: int) -> None:
        """Mark an entry as cancelled."""
        await self._mark(index, "cancelled")

    async def replace(self, entries: Sequence[EntryLike]) -> None:
        """Replace all entries and show the plan."""
        self._entries = [
            as_entry(one) for one in ((entries,) if isinstance(entries, str) else entries)
        ]
        await self.show()

    async def _mark(self, index: int, status: str) -> None:
        if not -len(self._entries) <= index < len(self._entries):
            raise LocalProtocolError(
                f"the plan has {len(self._entries)} entries, and none has index {index}"
            )
        self._entries[index] = with_status(self._entries[index], status)
        await self.show()
