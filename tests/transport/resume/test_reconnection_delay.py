"""How long a client waits before it reconnects."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from accord.transport.remote_limits import RemoteLimits
from accord.transport.resume.reconnection import reconnect_delay

LIMITS = RemoteLimits(reconnect_seconds_min=0.1, reconnect_seconds_max=10)


@given(st.integers(0, 100_000), st.floats(0, 1))
def test_the_delay_doubles_up_to_its_limit_and_half_of_it_is_chance(
    attempt: int, chance: float
) -> None:
    """Ours: quick after a short cut, rare after a long one, and not all clients at once."""
    delay = reconnect_delay(attempt, chance, LIMITS)
    whole = min(10.0, 0.1 * 2 ** min(attempt, 20))
    assert whole / 2 <= delay <= whole


def test_no_delay_is_allowed() -> None:
    """Ours: tests that cut a thousand times wait for nothing."""
    assert reconnect_delay(3, 0.5, RemoteLimits(reconnect_seconds_min=0)) == 0
