"""Our calls that wait for their answers, by id.

Must not know: what was called, or who waits.
Always holds: an id is given out once; it is pending until it is settled or given up, and of those
given up the latest are remembered.
"""

import re
from typing import Final, Literal

from msgspec import UnsetType

from accord.jsonrpc.envelope import Id

PENDING_MAX: Final = 1024
"""Requests that may be open at once, per direction."""

ABANDONED_MAX: Final = 1024
"""Calls that we gave up and still know, so that a late answer is not taken for a mistake."""

# Bounded, so that a peer cannot make us convert a string of a million digits.
_OUR_ID: Final = re.compile("[1-9][0-9]{0,18}")


class PendingCalls:
    """Guards the set of ids that an answer may settle."""

    def __init__(self) -> None:
        self._pending: set[int] = set()
        self._abandoned: dict[int, None] = {}
        self._last_id = 0

    def __len__(self) -> int:
        return len(self._pending)

    @property
    def next_id(self) -> int:
        """The id of the next call, which `open` makes pending."""
        return self._last_id + 1

    def open(self) -> None:
        """The call with the next id is about to be sent."""
        self._last_id += 1
        self._pending.add(self._last_id)

    def settle(self, call_id: int) -> None:
        """Its answer has come."""
        self._pending.remove(call_id)

    def abandon(self, call_id: int) -> None:
        """Give up a call, if it is pending: an answer that still comes is late."""
        if call_id in self._pending:
            self._pending.remove(call_id)
            self._abandoned[call_id] = None
            if len(self._abandoned) > ABANDONED_MAX:
                del self._abandoned[next(iter(self._abandoned))]

    def abandon_all(self) -> list[int]:
        """Give up all; their ids in order."""
        call_ids = sorted(self._pending)
        self._pending.clear()
        return call_ids

    def answered_by(self, answer_id: Id | UnsetType) -> int | None:
        """The pending call that an answer with this id means.

        Ids compare by type, but some peers turn numbers into strings, and a caller that waits
        for ever helps nobody; our own ids are all numbers, so that this cannot be ambiguous.
        """
        call_id = _as_call_id(answer_id)
        return call_id if call_id in self._pending else None

    def kind_of_stray(self, answer_id: Id) -> Literal["unknown", "second", "late"]:
        """Return why there is no open call with this id."""
        call_id = _as_call_id(answer_id)
        if call_id in self._abandoned:
            del self._abandoned[call_id]
            return "late"
        return "second" if 0 < call_id <= self._last_id else "unknown"


def _as_call_id(answer_id: Id | UnsetType) -> int:
    """The number of a call of ours that this would be, 0 where it can be none."""
    if isinstance(answer_id, str):
        return int(answer_id) if _OUR_ID.fullmatch(answer_id) else 0
    return answer_id if isinstance(answer_id, int) else 0
