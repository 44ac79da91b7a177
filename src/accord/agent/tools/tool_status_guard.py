"""The status of each tool call of a session, so that no update moves one backwards.

A `ToolCallHandle` guards its own status; this also guards updates sent by `turn.emit`.
"""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager

from accord.errors import LocalProtocolError
from accord.protocol.tool_status import may_follow
from accord.schema import v2
from accord.schema.struct import UNSET

STATUSES_MAX = 4096
"""Calls that are remembered; the one without an update for longest is forgotten first."""


class ToolStatusGuard:
    """Guards: a status is followed by the same or a later one, else it is not sent."""

    __slots__ = ("_statuses",)

    def __init__(self) -> None:
        self._statuses: dict[str, str] = {}

    @contextmanager
    def following(self, update: v2.ToolCallUpdate) -> Generator[None]:
        """Surrounds the sending of an update; one that is not sent has not happened.

        A cancellation in here counts as sent, since it may come behind the sending; who was
        cancelled before looks for that first, and may still tell another status.

        Raises:
            LocalProtocolError: the tool call is further on already.
        """
        call_id, statuses = update.tool_call_id, self._statuses
        before = statuses.pop(call_id, None)
        # Null is what an absent status means: the first one.
        status = update.status if isinstance(update.status, str) else "pending"
        if before is not None:
            if update.status is UNSET:
                status = before
            elif not may_follow(before, status):
                statuses[call_id] = before
                raise LocalProtocolError(
                    f"tool call {call_id!r} is {before}; it cannot become {status}"
                )
        statuses[call_id] = status
        if len(statuses) > STATUSES_MAX:
            del statuses[next(iter(statuses))]
        try:
            yield
        except Exception:
            # Unless another update has moved it further meanwhile.
            if statuses.get(call_id) == status:
                del statuses[call_id]
                if before is not None:
                    statuses[call_id] = before
            raise
