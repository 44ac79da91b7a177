"""Facts about the session as a whole: its name, and how much of its context is used."""

from __future__ import annotations

from dataclasses import dataclass

from accord.schema.struct import UNSET, Patch, Raw
from accord.transcript.items.meta import patch_meta


class SessionInfo:
    """The entry of this session in a list of sessions.

    Guards: what was told stays until it is replaced, or cleared by null.
    """

    __slots__ = ("meta", "title", "updated_at")

    def __init__(self) -> None:
        self.title: str | None = None
        self.updated_at: str | None = None
        self.meta: dict[str, Raw] = {}

    def __repr__(self) -> str:
        return f"SessionInfo({self.title!r}, {self.updated_at!r})"

    def patch(
        self, title: Patch[str], updated_at: Patch[str], meta: Patch[dict[str, Raw]] = UNSET
    ) -> None:
        """Keep, clear or replace."""
        if title is not UNSET:
            self.title = title
        if updated_at is not UNSET:
            self.updated_at = updated_at
        patch_meta(self.meta, meta)

    def dump(self) -> dict[str, object]:
        return {"title": self.title, "updatedAt": self.updated_at, "meta": self.meta}


@dataclass(frozen=True, slots=True)
class Cost:
    """What the session has cost so far, in a currency or any other unit."""

    amount: float
    currency: str


class Usage:
    """How full the context window is; None where nothing was reported yet.

    Guards: a cost stays until another is reported, or a null clears it.
    """

    __slots__ = ("cost", "size", "used")

    def __init__(self) -> None:
        self.used: int | None = None
        self.size: int | None = None
        self.cost: Cost | None = None

    def __repr__(self) -> str:
        return f"Usage({self.used!r}, {self.size!r}, {self.cost!r})"

    def report(self, used: int, size: int, cost: Patch[Cost]) -> None:
        """Take both numbers, and keep, clear or replace the cost."""
        self.used = used
        self.size = size
        if cost is not UNSET:
            self.cost = cost

    def dump(self) -> dict[str, object]:
        cost = self.cost
        return {
            "used": self.used,
            "size": self.size,
            "cost": cost and {"amount": cost.amount, "currency": cost.currency},
        }
