"""A plan that an agent shows and ticks off.  Every change sends the whole plan."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import Any

from accord.agent.custom_values import checked
from accord.errors import LocalProtocolError
from accord.schema import v2

Emit = Callable[[Any], Awaitable[None]]
EntryLike = str | tuple[str, str] | v2.PlanEntry


def as_entry(entry: object) -> v2.PlanEntry:
    """An entry as a program may write it: its text, its text and priority, or the whole."""
    if isinstance(entry, str):
        return v2.PlanEntry(content=entry, priority="medium", status="pending")
    # Not a list: that is a whole plan where one entry is wanted.
    if isinstance(entry, tuple) and len(entry) == 2 and isinstance(entry[0], str):
        text, priority = entry
        entry = v2.PlanEntry(content=text, priority=priority, status="pending")
    if not isinstance(entry, v2.PlanEntry):
        kind = type(entry).__name__
        raise LocalProtocolError(f"an entry of a plan is its text, not a {kind}: plan(*entries)")
    checked("PlanEntryPriority", entry.priority)
    checked("PlanEntryStatus", entry.status)
    return entry


def without_open(plan: v2.PlanItems) -> v2.PlanItems | None:
    """The plan once nobody works on it: what was not done is cancelled.

    None where all of it is settled already.
    """
    if all(entry.status in ("completed", "cancelled") for entry in plan.entries):
        return None
    entries = [
        entry if entry.status == "completed" else with_status(entry, "cancelled")
        for entry in plan.entries
    ]
    return v2.PlanItems(plan_id=plan.plan_id, entries=entries, meta=plan.meta)


def with_status(entry: v2.PlanEntry, status: str) -> v2.PlanEntry:
    """The same entry with another status."""
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
        """The entries as they stand."""
        return tuple(self._entries)

    async def show(self) -> None:
        """Send the plan."""
        items = v2.PlanItems(plan_id=self._plan_id, entries=list(self._entries))
        await self._emit(v2.PlanUpdate(plan=items))

    async def remove(self) -> None:
        """The plan is no more."""
        await self._emit(v2.PlanRemoved(plan_id=self._plan_id))

    async def start(self, index: int) -> None:
        """The entry is being worked on."""
        await self._mark(index, "in_progress")

    async def complete(self, index: int) -> None:
        """The entry is done."""
        await self._mark(index, "completed")

    async def drop(self, index: int) -> None:
        """The entry will not be done."""
        await self._mark(index, "cancelled")

    async def replace(self, entries: Sequence[EntryLike]) -> None:
        """Think again: other entries from now on."""
        self._entries = [
            as_entry(one) for one in ((entries,) if isinstance(entries, str) else entries)
        ]
        await self.show()

    async def _mark(self, index: int, status: str) -> None:
        if not -len(self._entries) <= index < len(self._entries):
            raise LocalProtocolError(
                f"the plan has {len(self._entries)} entries, none of them is number {index}"
            )
        self._entries[index] = with_status(self._entries[index], status)
        await self.show()
