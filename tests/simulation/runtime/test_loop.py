"""The seeded loop: virtual time, an order of its own, and no hang."""

import asyncio
from collections.abc import Awaitable, Callable
from random import Random

import pytest

from tests.simulation.runtime import loop as module
from tests.simulation.runtime.loop import Policy, SeededLoop, Stuck


def run(
    main: Callable[[], Awaitable[object]], seed: int = 1, policy: Policy = "shuffled"
) -> object:
    """Run one coroutine on a loop of its own."""
    loop = SeededLoop(Random(seed), policy)
    try:
        return loop.run_until_complete(main())
    finally:
        loop.over = True
        loop.close()


async def order_of_ten() -> list[int]:
    """In which order ten tasks that could all go on did so."""
    order: list[int] = []

    async def note(number: int) -> None:
        await asyncio.sleep(0)
        order.append(number)

    await asyncio.gather(*(note(number) for number in range(10)))
    return order


def test_time_passes_without_waiting_for_it() -> None:
    """Ours: hours of a world are milliseconds here."""

    async def sleep() -> float:
        started = asyncio.get_running_loop().time()
        await asyncio.sleep(3600)
        return asyncio.get_running_loop().time() - started

    passed = run(sleep)
    assert isinstance(passed, float)
    assert passed >= 3600


def test_the_order_of_tasks_is_the_seeds() -> None:
    """Ours: every order that an event loop may choose comes up, and comes up again."""
    orders = {seed: str(run(order_of_ten, seed)) for seed in range(20)}
    assert len(set(orders.values())) > 15
    assert orders == {seed: str(run(order_of_ten, seed)) for seed in range(20)}
    assert run(order_of_ten, 1, "fifo") == list(range(10))


def test_plain_callbacks_keep_their_order() -> None:
    """asyncio: callbacks are called in the order in which they are registered."""

    async def call() -> list[int]:
        called: list[int] = []
        for number in range(20):
            asyncio.get_running_loop().call_soon(called.append, number)
        await asyncio.sleep(1)
        return called

    for seed in range(5):
        assert run(call, seed) == list(range(20))


def test_a_world_that_can_go_nowhere_is_an_error() -> None:
    """Ours: a deadlock is found, not waited for."""

    async def wait() -> None:
        await asyncio.Event().wait()

    with pytest.raises(Stuck, match="nothing is ready"):
        run(wait)


def test_a_world_that_never_ends_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ours: so is one that goes round and round."""
    monkeypatch.setattr(module, "STEPS_MAX", 1000)

    async def spin() -> None:
        while True:
            await asyncio.sleep(0)

    with pytest.raises(Stuck, match="no end after"):
        run(spin)
