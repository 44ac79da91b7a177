"""What is known of the ends of logs is bounded, and forgetting it loses nothing."""

import anyio
import pytest

from accord.gateway.engine import log_watch
from accord.gateway.engine.interface import LogState
from accord.gateway.engine.log_watch import LogWatch


async def test_forgotten_ends_are_read_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ours: the memory for them is bounded."""
    monkeypatch.setattr(log_watch, "ENDS_MAX", 3)
    stored = {f"s{number}": number for number in range(10)}
    asked: list[str] = []

    async def state(session: str) -> LogState:
        asked.append(session)
        return LogState(1, stored[session], 0, None)

    watch = LogWatch(state)
    for session, last in stored.items():
        watch.announce(session, last)
    assert await watch.wait("s9", 8) == 9
    assert asked == []
    assert await watch.wait("s1", 0) == 1
    assert asked == ["s1"]


async def test_an_event_during_the_look_at_the_log_is_not_missed() -> None:
    """Ours: it is stored after the end was read, and announced before the reader waits."""
    watch: LogWatch

    async def state(session: str) -> LogState:
        await anyio.lowlevel.checkpoint()
        watch.announce(session, 1)
        return LogState(1, 0, 0, None)

    watch = LogWatch(state)
    assert await watch.wait("s", 0) == 1
    assert watch.waiting == 0
