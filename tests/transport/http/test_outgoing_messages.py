"""Messages to the server: order, numbers, repetition."""

from __future__ import annotations

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from accord.transport.http.message_routes import MessageKeys
from accord.transport.http.outgoing_messages import (
    AT_ONCE_MAX,
    OutgoingMessage,
    OutgoingMessages,
)


class Queue(RuleBasedStateMachine):
    """Any order of putting, beginning, settling, repeating and dropping."""

    def __init__(self) -> None:
        super().__init__()
        self.queue = OutgoingMessages()
        self.on_the_way: list[OutgoingMessage] = []
        self.begun: list[int] = []
        self.count = 0
        self.open_bytes = 0
        self.numbered = False

    @rule()
    def put(self) -> None:
        self.count += 1
        frame = b"x" * self.count
        self.queue.put(OutgoingMessage(frame, MessageKeys("request", self.count, "m", None), None))
        self.open_bytes += len(frame)

    @precondition(lambda self: not self.begun)
    @rule()
    def number(self) -> None:
        self.queue.number()
        self.numbered = True

    @precondition(lambda self: self.queue.next() is not None)
    @rule()
    def begin(self) -> None:
        message = self.queue.next()
        assert message is not None
        is_new = message.tries == 0
        before = message.number
        self.queue.begin(message)
        self.on_the_way.append(message)
        if is_new:
            self.begun.append(message.keys.id)  # type: ignore[arg-type]
            assert (message.number is not None) == self.numbered
        else:
            assert message.number == before

    @precondition(lambda self: self.on_the_way)
    @rule(which=st.integers(0, 100), again=st.booleans())
    def answer(self, which: int, again: bool) -> None:
        message = self.on_the_way.pop(which % len(self.on_the_way))
        if again:
            self.queue.repeat(message)
        else:
            self.queue.settle(message)
            self.open_bytes -= len(message.frame)

    @precondition(lambda self: self.queue.next() is not None)
    @rule()
    def drop(self) -> None:
        message = self.queue.next()
        assert message is not None
        if message.number is None:
            self.queue.drop(message)
            self.open_bytes -= len(message.frame)

    @invariant()
    def holds(self) -> None:
        assert self.begun == sorted(self.begun)
        assert self.queue.backlog == self.open_bytes
        assert self.queue.is_on_the_way == bool(self.on_the_way)
        assert len(self.on_the_way) <= (AT_ONCE_MAX if self.numbered else 1)
        assert self.queue.is_empty == (self.open_bytes == 0)
        repeated = self.queue.next()
        if repeated is not None and repeated.tries and self.numbered:
            numbers = [one.number for one in self.queue._repeated]
            assert repeated.number == min(number for number in numbers if number is not None)


TestQueue = Queue.TestCase


def test_one_by_one() -> None:
    """HTTP/1.1: numbered, and still one after the other."""
    queue = OutgoingMessages()
    queue.number(is_one_by_one=True)
    for number in (1, 2):
        keys = MessageKeys("request", number, "m", None)
        queue.put(OutgoingMessage(b"x", keys, None))
    first = queue.next()
    assert first is not None
    queue.begin(first)
    assert (first.number, queue.next()) == (1, None)
    queue.clear()
    assert queue.is_empty
    assert queue.backlog == 0
