"""When a receiver acknowledges."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from accord.transport.remote_limits import RemoteLimits
from accord.transport.resume.received_frames import ReceivedFrames

LIMITS = RemoteLimits(acknowledge_frames=4, acknowledge_bytes=100)


@given(st.lists(st.integers(0, 60)))
def test_an_acknowledgement_is_due_at_the_bound_of_frames_or_bytes(sizes: list[int]) -> None:
    """Ours: the sender's memory depends on it."""
    received = ReceivedFrames(LIMITS)
    frames = size = 0
    for number, one in enumerate(sizes, 1):
        frames, size = frames + 1, size + one
        assert received.add(one) is (frames >= 4 or size >= 100)
        assert received.count == number
        assert received.is_owing
        if frames >= 4 or size >= 100:
            assert received.acknowledged() == number
            assert received.count == received.acknowledged_count
            frames = size = 0


def test_frames_that_came_together_are_counted_together() -> None:
    """Ours: a burst is counted in one go."""
    received = ReceivedFrames(LIMITS)
    assert not received.add(10, frames=3)
    assert received.add(10, frames=1)
    assert received.acknowledged() == 4
