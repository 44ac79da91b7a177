"""The statuses of the draft's tool calls: their official names, and which may follow which."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

STATUSES_FROM_DRAFT: Final = MappingProxyType(
    {
        "pending": "pending",
        "awaiting_permission": "pending",
        "in_progress": "in_progress",
        "completed": "completed",
        "failed": "failed",
        "denied": "failed",
        "cancelled": "failed",
    }
)
# The same for our own client, which knows that a call can be denied or cancelled.
DETAILED_STATUSES: Final = MappingProxyType(
    {**STATUSES_FROM_DRAFT, "denied": "denied", "cancelled": "cancelled"}
)
# Statuses whose own name is sent as well.
NAMED_STATUSES: Final = frozenset({"awaiting_permission", "denied"})
FINAL_STATUSES: Final = frozenset({"completed", "failed", "denied", "cancelled"})
NEXT_STATUSES: Final = MappingProxyType(
    {
        "pending": frozenset({"awaiting_permission", "in_progress", "cancelled"}),
        "awaiting_permission": frozenset({"in_progress", "denied"}),
        "in_progress": frozenset({"completed", "failed", "cancelled"}),
        **dict.fromkeys(FINAL_STATUSES, frozenset[str]()),
    }
)
# The legal steps from each status to each later one; a missing pair leads back.
_STEPS: Final[Mapping[tuple[str, str], tuple[str, ...]]] = MappingProxyType(
    {
        ("pending", "awaiting_permission"): ("awaiting_permission",),
        ("pending", "in_progress"): ("in_progress",),
        ("pending", "completed"): ("in_progress", "completed"),
        ("pending", "failed"): ("in_progress", "failed"),
        ("pending", "denied"): ("awaiting_permission", "denied"),
        ("pending", "cancelled"): ("cancelled",),
        ("awaiting_permission", "in_progress"): ("in_progress",),
        ("awaiting_permission", "completed"): ("in_progress", "completed"),
        ("awaiting_permission", "failed"): ("in_progress", "failed"),
        ("awaiting_permission", "denied"): ("denied",),
        # The draft has no way to cancel while permission is open.
        ("awaiting_permission", "cancelled"): ("denied",),
        ("in_progress", "completed"): ("completed",),
        ("in_progress", "failed"): ("failed",),
        # Work that began before permission was asked for cannot be denied any more.
        ("in_progress", "denied"): ("failed",),
        ("in_progress", "cancelled"): ("cancelled",),
    }
)


def steps_to(now: str, wanted: str) -> tuple[str, ...]:
    """Return the statuses to send, in order, so that each step is legal.

    Empty if the call is there already, has ended, or would have to go back.
    """
    return _STEPS.get((now, wanted), ())
