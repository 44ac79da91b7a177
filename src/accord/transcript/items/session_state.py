"""What a session is doing in the foreground, and what goes on behind it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from accord.schema.v2 import StopReason

BUSY_STATES: frozenset[str] = frozenset({"running", "requires_action"})
# The agent does not know its state; every other unknown value means busy.
UNOBSERVED = "unknown"


@dataclass(frozen=True, slots=True)
class BackgroundItem:
    """Work behind the foreground: a terminal, a tool call, a child session, or of unknown type."""

    type: str
    item_id: str | None


class State:
    """The foreground state as far as it is confirmed.

    Guards: only the three known words are ever shown as confirmed; anything else is never idle
    and takes back what was confirmed before.  Work counts as completed once, and only if it was
    seen running: the snapshot after a resume completes nothing.
    """

    __slots__ = (
        "_working",
        "background",
        "completions",
        "confirmed",
        "error",
        "reported",
        "stop_reason",
        "tokens",
    )

    def __init__(self) -> None:
        # "running", "idle", "requires_action", or None: not confirmed.
        self.confirmed: str | None = None
        # The received value; None if there was none.
        self.reported: str | None = None
        # Why the last work stopped; None: not reported.
        self.stop_reason: StopReason | None = None
        self.error: Any = None
        # Token counts of the work that ended last.
        self.tokens: Any = None
        # None: nothing is known.  An empty list: nothing runs.
        self.background: Sequence[BackgroundItem] | None = None
        self.completions = 0
        self._working = False

    def __repr__(self) -> str:
        return f"State({self.confirmed!r}, stop_reason={self.stop_reason!r})"

    @property
    def is_idle(self) -> bool:
        """Whether the session is known to do nothing in the foreground."""
        return self.confirmed == "idle"

    def report(
        self,
        word: str,
        *,
        stop_reason: str | None = None,
        error: Any = None,
        tokens: Any = None,
        background: Sequence[BackgroundItem] | None = None,
    ) -> None:
        """Take a whole snapshot; the same one again changes nothing."""
        self.reported = word
        self.background = background
        if word == "idle":
            self.confirmed = word
            self.stop_reason = stop_reason
            self.error = error
            if self._working:
                self._working = False
                self.completions += 1
                self.tokens = tokens
            return
        self.confirmed = word if word in BUSY_STATES else None
        self.stop_reason = None
        self.error = None
        if word != UNOBSERVED:
            self._working = True

    def forget(self) -> None:
        """Nothing is known any more."""
        self.confirmed = self.reported = self.stop_reason = self.error = self.background = None

    def assume_idle(self) -> None:
        """A new session is idle, unless it has already reported another state."""
        if self.reported is None:
            self.confirmed = "idle"

    def dump(self) -> dict[str, object]:
        """Plain values and wire structs."""
        background = self.background
        return {
            "confirmed": self.confirmed,
            "reported": self.reported,
            "stopReason": self.stop_reason,
            "error": self.error,
            "tokens": self.tokens,
            "background": background
            if background is None
            else [{"type": item.type, "id": item.item_id} for item in background],
            "completions": self.completions,
        }
