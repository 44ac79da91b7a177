"""Limits of each principal: what is held, what passes, and when to come back."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from accord.gateway.access import limits as limits_module
from accord.gateway.access.limits import (
    BURST_SECONDS,
    HELD_RETRY_SECONDS,
    Held,
    LimitReached,
    Resource,
    Usage,
)
from accord.gateway.configuration.limits import PrincipalLimits
from accord.translate.draft.error_codes import to_draft_error
from tests.gateway.access.issuer import Clock

SMALL = PrincipalLimits(
    connections=2, sessions=1, processes=3, frames_per_second=2, bytes_per_second=100
)
NONE = PrincipalLimits(
    connections=0, sessions=0, processes=0, frames_per_second=0, bytes_per_second=0
)


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.mark.parametrize(
    ("resource", "bound"), [("connections", 2), ("sessions", 1), ("processes", 3)]
)
def test_what_is_held_is_bounded_until_it_is_given_back(
    clock: Clock, resource: Resource, bound: int
) -> None:
    """Issue 17: limits per principal, and errors that say when to come back."""
    usage = Usage(SMALL, clock)
    held = [usage.take("ann", resource) for _ in range(bound)]
    with pytest.raises(LimitReached) as refused:
        usage.take("ann", resource)
    assert (refused.value.limit, refused.value.value) == (resource, bound)
    assert refused.value.retry_after == HELD_RETRY_SECONDS
    # Somebody else is not concerned.
    usage.take("bob", resource).release()
    held[0].release()
    held[0].release()
    usage.take("ann", resource)
    with pytest.raises(LimitReached):
        usage.take("ann", resource)


def test_what_is_held_is_given_back_on_every_path(clock: Clock) -> None:
    """Issue 17: no leaks."""
    usage = Usage(SMALL, clock)
    with usage.take("ann", "sessions"):
        assert usage.held("ann", "sessions") == 1

    def fail() -> None:
        with usage.take("ann", "sessions") as held:
            held.release()
            raise RuntimeError

    with pytest.raises(RuntimeError):
        fail()
    assert usage.held("ann", "sessions") == 0
    assert usage.held("nobody", "sessions") == 0


def test_frames_pass_at_their_rate_after_a_burst(clock: Clock) -> None:
    """Issue 17: frames per second."""
    usage = Usage(SMALL, clock)
    for _ in range(int(2 * BURST_SECONDS)):
        usage.admit("ann", 1)
    with pytest.raises(LimitReached) as refused:
        usage.admit("ann", 1)
    assert (refused.value.limit, refused.value.value) == ("frames_per_second", 2)
    assert refused.value.retry_after == 0.5
    clock.now += 0.25
    with pytest.raises(LimitReached) as refused:
        usage.admit("ann", 1)
    assert refused.value.retry_after == 0.25
    clock.now += 0.25
    usage.admit("ann", 1)
    usage.admit("bob", 1)


def test_one_frame_of_any_size_passes_and_is_paid_for_before_the_next(clock: Clock) -> None:
    """Ours: otherwise a limit below the size of a message would stop it for ever."""
    usage = Usage(SMALL, clock)
    usage.admit("ann", 10_500)
    with pytest.raises(LimitReached) as refused:
        usage.admit("ann", 1)
    assert refused.value.limit == "bytes_per_second"
    assert refused.value.retry_after == pytest.approx(100.01)
    clock.now += refused.value.retry_after
    usage.admit("ann", 1)


def test_what_cannot_be_refused_says_how_long_to_wait(clock: Clock) -> None:
    """Ours: an answer or a notification has nobody to refuse it to, so reading pauses."""
    usage = Usage(SMALL, clock)
    assert usage.charge("ann", 10) == 0
    assert usage.charge("ann", 10_490) == pytest.approx(100.01)
    assert usage.charge("ann", 100) == pytest.approx(101.01)
    clock.now += 1000
    assert usage.charge("ann", 0) == 0


def test_the_longer_of_two_waits_is_told(clock: Clock) -> None:
    """Ours: whoever came back after the shorter one would be refused again."""
    usage = Usage(SMALL, clock)
    for _ in range(20):
        usage.charge("ann", 1000)
    with pytest.raises(LimitReached) as refused:
        usage.admit("ann", 1)
    assert refused.value.limit == "bytes_per_second"
    clock.now += refused.value.retry_after
    usage.admit("ann", 1)


def test_zero_means_no_limit(clock: Clock) -> None:
    """Issue 17: the meaning of 0 is said."""
    usage = Usage(NONE, clock)
    for _ in range(1000):
        usage.take("ann", "sessions")
        usage.admit("ann", 1 << 30)
        assert usage.charge("ann", 1 << 30) == 0


@pytest.mark.rule("D26-33")
def test_the_error_says_what_and_when_in_every_dialect(clock: Clock) -> None:
    """rules.md, contradiction 47: -32058 with reason and retryAfter; -32008 in the draft."""
    refused = LimitReached("frames_per_second", 2, 0.5)
    error = refused.request_error()
    assert error.code == -32058
    assert error.data == {
        "reason": "rate_limited",
        "retryAfter": 0.5,
        "limit": "frames_per_second",
    }
    assert "frames_per_second" in error.message
    assert to_draft_error(error.code, error.data)[0] == -32008
    # HTTP knows whole seconds.
    assert refused.retry_after_header == "1"
    assert LimitReached("sessions", 2, 4.2).retry_after_header == "5"


def test_a_clock_that_goes_back_takes_nothing_away(clock: Clock) -> None:
    """Ours."""
    usage = Usage(SMALL, clock)
    usage.admit("ann", 1)
    clock.now -= 500
    assert usage.charge("ann", 1) == 0


def test_principals_are_forgotten_once_they_are_idle(clock: Clock) -> None:
    """Issue 17: bounded memory for many principals."""
    usage = Usage(SMALL, clock)
    held = usage.take("ann", "sessions")
    for number in range(1000):
        usage.admit(f"user-{number}", 1)
        clock.now += 1
    # Each has a full bucket again half a second after its frame.
    assert len(usage) <= 3
    assert usage.held("ann", "sessions") == 1
    held.release()


def test_too_many_principals_at_once_are_refused(
    clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Ours: a bound that nobody should ever meet is a bound all the same."""
    monkeypatch.setattr(limits_module, "PRINCIPALS_MAX", 2)
    usage = Usage(SMALL, clock)
    usage.admit("ann", 1)
    usage.admit("bob", 1)
    with pytest.raises(LimitReached) as refused:
        usage.admit("cy", 1)
    assert refused.value.limit == "principals"
    clock.now += 60
    usage.admit("cy", 1)


@given(st.lists(st.tuples(st.floats(0, 3), st.integers(0, 500)), max_size=50))
def test_no_more_passes_than_the_rates_allow(sends: list[tuple[float, int]]) -> None:
    """Issue 17: over any time, the burst and what the rate gives, and one frame."""
    clock = Clock()
    began, passed, size_max = clock.now, 0, 0
    frames = 0
    usage = Usage(SMALL, clock)
    for pause, size in sends:
        clock.now += pause
        try:
            usage.admit("ann", size)
        except LimitReached as refused:
            clock.now += refused.retry_after
            # Whoever waits as long as told is admitted.
            usage.admit("ann", size)
        passed, frames, size_max = passed + size, frames + 1, max(size_max, size)
        seconds = clock.now - began + BURST_SECONDS
        assert frames <= seconds * SMALL.frames_per_second + 0.1
        assert passed <= seconds * SMALL.bytes_per_second + size_max + 0.1


class Accounts(RuleBasedStateMachine):
    """Any order of taking, giving back and time."""

    def __init__(self) -> None:
        super().__init__()
        self.clock = Clock()
        self.usage = Usage(SMALL, self.clock)
        self.held: list[tuple[str, Resource, Held]] = []

    @rule(
        name=st.sampled_from("abc"),
        resource=st.sampled_from(["connections", "sessions", "processes"]),
    )
    def take(self, name: str, resource: Resource) -> None:
        have = self.count(name, resource)
        try:
            self.held.append((name, resource, self.usage.take(name, resource)))
        except LimitReached:
            assert have == getattr(SMALL, resource)

    @precondition(lambda self: self.held)
    @rule(place=st.integers(0), twice=st.booleans())
    def give_back(self, place: int, twice: bool) -> None:
        _, _, held = self.held.pop(place % len(self.held))
        held.release()
        if twice:
            held.release()

    @rule(name=st.sampled_from("abcdef"), size=st.integers(0, 1000))
    def send(self, name: str, size: int) -> None:
        assert math.isfinite(self.usage.charge(name, size))

    @rule(seconds=st.floats(0, 100))
    def wait(self, seconds: float) -> None:
        self.clock.now += seconds

    @invariant()
    def what_is_held_is_known(self) -> None:
        for name in "abc":
            for resource in ("connections", "sessions", "processes"):
                assert self.usage.held(name, resource) == self.count(name, resource)

    def count(self, name: str, resource: str) -> int:
        return sum((one, what) == (name, resource) for one, what, _ in self.held)


TestAccounts = Accounts.TestCase
