"""When a client that lost its connection tries again."""

from __future__ import annotations

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from accord.transport.remote_limits import RemoteLimits
from accord.transport.resume.reconnection import Reconnection

LIMITS = RemoteLimits(reconnect_seconds_min=0.1, reconnect_seconds_max=10, grace_seconds=1000)


@given(st.floats(0, 1))
def test_the_first_attempt_is_made_at_once_and_later_ones_wait_longer(chance: float) -> None:
    """Issue 16: a short cut is hardly noticed, and a server that is down is left alone."""
    reconnection = Reconnection(LIMITS)
    delays = [reconnection.delay(1.0, chance, "cut") or 0.0 for _ in range(12)]
    assert delays[0] == 0
    assert all(earlier <= later for earlier, later in pairwise(delays))
    assert 5 <= delays[-1] <= 10


def test_a_connection_that_is_cut_again_without_progress_is_tried_more_slowly() -> None:
    """Ours: a server that takes connections and drops them is not flooded with attempts."""
    reconnection = Reconnection(LIMITS)
    delays: list[float | None] = []
    for now in range(5):
        delays.append(reconnection.delay(float(now), 1.0, "cut"))
        reconnection.restored()
    assert delays == [0.0, 0.1, 0.2, 0.4, 0.8]
    reconnection.progressed()
    assert reconnection.delay(9.0, 1.0, "cut") == 0.0


def test_it_gives_up_when_the_server_has_forgotten_the_connection() -> None:
    reconnection = Reconnection(LIMITS)
    assert reconnection.delay(0.0, 1.0, "cut") == 0.0
    assert reconnection.seconds_left(990.0) == 10.0
    assert reconnection.delay(999.99, 1.0, "cut") is not None
    assert reconnection.delay(1000.0, 1.0, "cut") is None


def test_it_is_said_once_that_a_connection_is_not_back_at_once() -> None:
    """Ours: a user who waits for up to a minute knows why; a short cut is not worth a word."""
    reconnection = Reconnection(LIMITS)
    said: list[str] = []
    for now in range(5):
        reconnection.delay(float(now), 1.0, "refused")
        if (notice := reconnection.notice("an agent")) is not None:
            said.append(notice)
    assert said == ["the connection to an agent is interrupted (refused); trying for 1000 s"]
