"""Numbered messages that overtake each other."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from accord.transport.remote_limits import RemoteLimits
from accord.transport.resume.message_order import MessageOrder

LIMITS = RemoteLimits(early_messages=3, early_bytes=30)


def ready(order: MessageOrder[int]) -> list[int]:
    """Everything that has its turn."""
    out: list[int] = []
    while (message := order.ready()) is not None:
        out.append(message)
    return out


@given(st.lists(st.integers(-2, 12), max_size=60))
def test_messages_come_out_once_and_in_order(numbers: list[int]) -> None:
    """Ours: a repeated or overtaking POST changes nothing."""
    order: MessageOrder[int] = MessageOrder(LIMITS)
    out: list[int] = []
    taken: set[int] = set()
    for number in numbers:
        arrival = order.offer(number, number, 1)
        if number <= 0:
            assert arrival == "refused"
        elif number in taken:
            assert arrival == "repeated"
        elif arrival == "taken":
            taken.add(number)
        else:
            assert number > order.count + 1
            assert len(taken) - len(out) == LIMITS.early_messages
        out += ready(order)
        assert out == list(range(1, len(out) + 1))
        assert set(out) <= taken
        assert order.is_waiting == (len(taken) > len(out))


def test_bytes_that_wait_are_bounded_but_the_next_message_always_fits() -> None:
    """Ours: a client that leaves a hole cannot fill the memory."""
    order: MessageOrder[int] = MessageOrder(LIMITS)
    assert order.offer(2, 2, 20) == "taken"
    assert order.offer(3, 3, 20) == "refused"
    assert order.offer(1, 1, 1000) == "taken"
    assert ready(order) == [1, 2]
    assert order.offer(3, 3, 20) == "taken"
    assert ready(order) == [3]
