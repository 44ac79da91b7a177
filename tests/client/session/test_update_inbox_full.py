"""A queue of updates that is full: what it holds, and when it stops the reading."""

from __future__ import annotations

from typing import Any, cast
from weakref import WeakSet

import anyio
import pytest
from hypothesis import given
from hypothesis import strategies as st

from accord.client.session import update_inbox as module
from accord.client.session.update_inbox import Inbox
from accord.transcript import Transcript, Update
from tests.transcript.test_coalesced_updates import WIRE_UPDATES, said, texts_by_item

READ_MAX = 5


class Reading:
    """What an inbox needs of a connection: whether it reads."""

    def __init__(self) -> None:
        self.error = None
        self.reading = self
        self.consumers: WeakSet[Inbox] = WeakSet()
        self.holds = self._waiting = 0

    @property
    def is_held(self) -> bool:
        """Nobody waits, and somebody is full."""
        waits = self._waiting or any(one.is_waiting for one in self.consumers)
        return self.holds > 0 and not waits

    def update(self) -> None:
        """Nothing is paused here."""

    def hold(self) -> None:
        """Somebody is full."""
        self.holds += 1

    def unhold(self) -> None:
        """No longer."""
        self.holds -= 1

    def await_one(self, count: int) -> None:
        """Somebody waits, or no longer does."""
        self._waiting += count


class Talk:
    """An agent, a full queue and its consumer, without any I/O."""

    def __init__(self, bound: int) -> None:
        self.reading = reading = Reading()
        self.inbox = Inbox(cast(Any, reading), bound)
        self.transcript = Transcript("v2")
        self.told: list[Update] = []
        self.taken: list[Update] = []

    def tell(self, wire: object) -> None:
        """The agent says something."""
        update = self.transcript.apply(wire)
        if update is not None:
            self.told.append(update)
            self.inbox.put(update)

    async def take(self) -> None:
        """The consumer takes one, if one is there."""
        if len(self.inbox):
            update = self.inbox.take() or await self.inbox.get()
            assert update is not None
            self.taken.append(update)

    @property
    def items(self) -> int:
        """How many different things were told of."""
        return len({id(one.item) for one in self.told})


STEPS = st.lists(
    WIRE_UPDATES | st.sampled_from(["take", "take", "somebody waits", "nobody waits", "much came"]),
    max_size=80,
)


@given(STEPS, st.integers(1, 6))
def test_a_slow_consumer_is_told_the_same_and_the_queue_is_bounded(
    steps: list[object], bound: int
) -> None:
    """Issue 12: any interleaving gives the same text and the same items as an endless queue."""
    talk = Talk(bound)

    async def run() -> None:
        waits = 0
        for step in steps:
            if step == "take":
                await talk.take()
            elif step in ("somebody waits", "nobody waits"):
                now = int(step == "somebody waits")
                talk.reading.await_one(now - waits)
                waits = now
            elif step == "much came":
                talk.inbox.much_came()
            else:
                talk.tell(step)
            assert len(talk.inbox) <= bound + READ_MAX + talk.items
        while len(talk.inbox):
            await talk.take()

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "READ_UPDATES_MAX", READ_MAX)
        anyio.run(run)
    assert texts_by_item(talk.taken) == texts_by_item(talk.told)
    assert list(texts_by_item(talk.taken)) == list(texts_by_item(talk.told))
    assert not talk.reading.is_held
    if "somebody waits" not in steps and len(talk.told) <= bound + READ_MAX:
        assert talk.taken == talk.told


async def test_what_was_read_already_is_never_joined_while_nobody_waits() -> None:
    """Issue 12: `accord run --format json` has every event, so the reading stops instead."""
    talk = Talk(4)
    for number in range(50):
        talk.tell(said(f"{number} "))
        assert talk.reading.is_held == (number >= 3)
    for _ in range(50):
        await talk.take()
    assert talk.taken == talk.told
    assert not talk.reading.is_held


async def test_few_updates_fill_the_queue_if_they_are_large() -> None:
    """Issue 12: 4096 updates of a megabyte each are four gigabytes."""
    talk = Talk(100)
    for number in range(4):
        talk.tell(said(f"{number} "))
    held = []
    for _ in range(2):
        talk.inbox.much_came()
        held.append(talk.reading.is_held)
    assert held == [False, True]
    talk.tell(said("what was read already "))
    talk.reading.await_one(1)
    for number in range(4):
        talk.tell(said(f"{number} "))
    assert len(talk.inbox) == 6
    talk.reading.await_one(-1)
    while len(talk.inbox):
        await talk.take()
    assert not talk.reading.is_held
    assert "".join(one.text for one in talk.taken) == "".join(one.text for one in talk.told)


async def test_large_updates_that_are_taken_stop_nobody() -> None:
    """Ours: only what waits for long is too much."""
    talk = Talk(100)
    for _ in range(10):
        talk.tell(said("a"))
        talk.inbox.much_came()
        assert not talk.reading.is_held
        await talk.take()
    assert talk.taken == talk.told


async def test_a_consumer_that_waits_does_not_wait_any_more_when_it_is_woken() -> None:
    """Issue 12: else its own waiting would let the reading go on while it is full."""
    talk = Talk(4)
    async with anyio.create_task_group() as tasks:

        async def consume() -> None:
            for _ in range(50):
                update = await talk.inbox.get()
                assert update is not None
                talk.taken.append(update)

        tasks.start_soon(consume)
        await anyio.wait_all_tasks_blocked()
        assert not talk.reading.is_held
        for number in range(50):
            talk.tell(said(f"{number} "))
        assert talk.reading.is_held
    assert talk.taken == talk.told


async def test_a_cancelled_wait_for_an_update_ends() -> None:
    """Ours: a loop that is cancelled must not keep the reading alive for ever."""
    talk = Talk(1)
    with anyio.move_on_after(0.001):
        await talk.inbox.get()
    talk.tell(said("a"))
    assert talk.reading.is_held
    await talk.take()
    assert [one.text for one in talk.taken] == ["a"]


async def test_two_who_take_from_one_queue_both_get_something() -> None:
    """Ours: nobody forbids it, and one that is cancelled must not take the other along."""
    talk = Talk(4)
    scope = anyio.CancelScope()
    async with anyio.create_task_group() as tasks:

        async def leave() -> None:
            with scope:
                await talk.inbox.get()

        async def take() -> None:
            update = await talk.inbox.get()
            assert update is not None
            talk.taken.append(update)

        tasks.start_soon(leave)
        tasks.start_soon(take)
        await anyio.wait_all_tasks_blocked()
        scope.cancel()
        await anyio.wait_all_tasks_blocked()
        talk.tell(said("a"))
    assert talk.taken == talk.told


async def test_a_queue_that_was_dropped_begins_anew() -> None:
    """Ours: what turned out to be about another turn."""
    talk = Talk(2)
    talk.reading.await_one(1)
    for word in "abcd":
        talk.tell(said(word))
    talk.inbox.empty()
    talk.told.clear()
    talk.reading.await_one(-1)
    for word in "efgh":
        talk.tell(said(word))
    for _ in range(4):
        await talk.take()
    assert talk.taken == talk.told
