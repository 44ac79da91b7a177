"""The sending side of numbered frames, against a plain list of everything."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from accord.transport.remote_limits import RemoteLimits
from accord.transport.resume.numbered_frames import ReceivedFrames, SentFrames

LIMITS = RemoteLimits(acknowledge_frames=4, acknowledge_bytes=100)
KEPT_BYTES_MAX = 20
FRAMES = st.binary(min_size=1, max_size=12)


class AgainstAList(RuleBasedStateMachine):
    """Every frame that was ever appended, how many were sent, and what may be gone."""

    def __init__(self) -> None:
        super().__init__()
        self.frames = SentFrames(KEPT_BYTES_MAX)
        self.all: list[bytes] = []
        self.sent = 0
        self.gone = 0

    def _bound(self) -> None:
        while self.sent - self.gone > 1 and len(self._kept()) > KEPT_BYTES_MAX:
            self.gone += 1

    def _kept(self) -> bytes:
        return b"".join(self.all[self.gone : self.sent])

    @rule(frame=FRAMES)
    def append(self, frame: bytes) -> None:
        self.all.append(frame)
        assert self.frames.append(frame) == len(self.all)

    @rule()
    def take(self) -> None:
        frame = self.frames.take()
        if self.sent == len(self.all):
            assert frame is None
        else:
            assert frame == self.all[self.sent]
            self.sent += 1
            self._bound()

    @precondition(lambda self: self.sent == len(self.all))
    @rule(frame=FRAMES)
    def append_sent(self, frame: bytes) -> None:
        self.all.append(frame)
        assert self.frames.append_sent(frame) == len(self.all)
        self.sent += 1
        self._bound()

    @rule(number=st.integers(-1, 30))
    def acknowledge(self, number: int) -> None:
        is_valid = 0 <= number <= self.sent
        assert self.frames.acknowledge(number) is is_valid
        if is_valid:
            self.gone = max(self.gone, number)

    @rule(number=st.integers(-1, 30))
    def rewind(self, number: int) -> None:
        is_possible = self.gone <= number <= self.sent
        assert self.frames.rewind(number) is is_possible
        if is_possible:
            self.gone = self.sent = number

    @invariant()
    def counts(self) -> None:
        assert self.frames.count == len(self.all)
        assert self.frames.sent_count == self.sent
        assert self.frames.gone_count == self.gone
        assert self.frames.has_unsent == (self.sent < len(self.all))
        assert self.frames.unsent_bytes == len(b"".join(self.all[self.sent :]))
        assert self.frames.kept_bytes == len(self._kept())


TestAgainstAList = AgainstAList.TestCase


@given(st.lists(FRAMES, max_size=30), st.data())
def test_a_peer_that_comes_back_in_time_gets_every_frame_once(
    frames: list[bytes], data: st.DataObject
) -> None:
    """Ours: cuts at any place lose, double and reorder nothing as long as everything is kept."""
    sender = SentFrames(kept_bytes_max=1000)
    received: list[bytes] = []
    for frame in frames:
        sender.append(frame)
    while len(received) < len(frames):
        on_the_way = [
            taken
            for _ in range(data.draw(st.integers(1, 5)))
            if (taken := sender.take()) is not None
        ]
        # The network loses the end of what was sent.
        received += on_the_way[: data.draw(st.integers(0, len(on_the_way)))]
        assert sender.rewind(len(received))
    assert received == frames


def test_the_newest_frame_is_kept_even_if_it_exceeds_the_bound() -> None:
    """Ours: one large message must not make every cut a gap."""
    sender = SentFrames(kept_bytes_max=4)
    sender.append_sent(b"one")
    sender.append_sent(b"a large one")
    assert sender.gone_count == 1
    assert not sender.rewind(0)
    assert sender.rewind(1)
    assert sender.take() == b"a large one"


@given(st.lists(st.integers(0, 9), max_size=30), st.integers(0, 30), st.integers(0, 30))
def test_a_receiver_that_acknowledges_nothing_can_always_go_back(
    sizes: list[int], kept_bytes_max: int, acknowledged: int
) -> None:
    """Ours: a sender that waits for acknowledgements makes no gap of its own."""
    frames = SentFrames(kept_bytes_max)
    for size in sizes:
        frames.append(b"x" * size)
    while frames.has_unsent and not frames.would_drop:
        frames.take()
    assert frames.gone_count == 0
    assert frames.rewind(min(acknowledged, frames.sent_count))


def test_the_next_frame_is_taken_as_soon_as_there_is_room() -> None:
    frames = SentFrames(10)
    for _ in range(3):
        frames.append(b"x" * 6)
    seen = [frames.would_drop]
    frames.take()
    seen.append(frames.would_drop)
    frames.acknowledge(1)
    seen.append(frames.would_drop)
    assert seen == [False, True, False]


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
