"""Events go to the log in groups that the engine takes."""

from __future__ import annotations

from collections.abc import Sequence

import anyio
import pytest

from accord.gateway.engine.interface import NewEvent
from accord.gateway.engine.limits import size_of
from accord.gateway.sessions.log_events import Event
from accord.gateway.sessions.session_writer import BYTES_PER_APPEND_MAX, SessionWriter

pytestmark = pytest.mark.anyio


class GroupLog:
    """A log that remembers the groups."""

    def __init__(self) -> None:
        self.groups: list[int] = []

    async def append(self, events: Sequence[tuple[str, bytes]]) -> int:
        size_of([NewEvent(*one) for one in events])
        self.groups.append(len(events))
        return sum(self.groups)

    async def read_after(self, seq: int, limit: int) -> Sequence[Event]:
        raise AssertionError("nobody reads")


async def test_a_group_of_large_events_stays_within_the_bound_of_an_engine() -> None:
    log, seen = GroupLog(), list[int]()
    async with anyio.create_task_group() as tasks:
        writer = SessionWriter(
            log,
            tasks,
            written=lambda events: seen.extend(one.seq for one in events),
            failed=lambda error: pytest.fail(str(error)),
        )
        for _ in range(10):
            writer.put("update", bytes(BYTES_PER_APPEND_MAX - 1))
        writer.put("update", b"small")
        await writer.flush()
    assert log.groups == [2, 2, 2, 2, 2, 1]
    assert seen == list(range(1, 12))
