"""What the engine in memory offers to simulations."""

from collections.abc import Awaitable, Callable

import anyio
import pytest

from accord.gateway.engine.engine_errors import Fenced
from accord.gateway.engine.interface import Lease
from accord.gateway.engine.memory import MemoryDisk, MemoryEngine
from tests.gateway.engine.worlds import events, frames_of, record


class Pauses:
    """Holds every operation until the test lets it go on."""

    def __init__(self) -> None:
        self.held: list[anyio.Event] | None = None

    async def __call__(self) -> None:
        if self.held is None:
            return
        event = anyio.Event()
        self.held.append(event)
        await event.wait()


async def owned(engine: MemoryEngine) -> Lease:
    await engine.create(record())
    return await engine.own("s", await engine.enter("a"))


async def test_an_append_that_is_under_way_when_another_takes_over_is_refused() -> None:
    """nodes.md: bytes of an old owner that were held back and arrive after the take-over."""
    pause, now = Pauses(), 0.0
    engine = MemoryEngine(pause=pause, lease_clock=lambda: now)
    old = await owned(engine)
    node = await engine.enter("b")
    pause.held = []
    refused: list[Fenced] = []

    async def late() -> None:
        with pytest.raises(Fenced) as raised:
            await engine.append(old, events("late"))
        refused.append(raised.value)

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(late)
        await anyio.wait_all_tasks_blocked()
        [held], pause.held = pause.held, None
        now += 100
        new = await engine.own("s", node)
        held.set()
    assert (len(refused), new.last) == (1, 0)
    assert await frames_of(engine) == []


@pytest.mark.parametrize(("pauses", "stored"), [(1, []), (2, ["a", "b"])])
async def test_an_append_can_be_cancelled_on_its_way_and_on_its_way_back(
    pauses: int, stored: list[str]
) -> None:
    """Issue 17: whole or not at all, and the log tells which."""
    pause = Pauses()
    engine = MemoryEngine(pause=pause)
    lease = await owned(engine)
    pause.held = []
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(engine.append, lease, events("a", "b"))
        for number in range(pauses):
            await anyio.wait_all_tasks_blocked()
            if number < pauses - 1:
                pause.held[number].set()
        tasks.cancel_scope.cancel()
    pause.held = None
    assert await frames_of(engine) == stored
    assert (await engine.log_state("s")).last == len(stored)


async def test_two_runs_are_the_same() -> None:
    """Ours: no thread, no clock, no random number."""

    async def run() -> list[object]:
        disk = MemoryDisk()
        options: dict[str, Callable[[], float]] = {"now": lambda: 1.0, "lease_clock": lambda: 1.0}
        async with MemoryEngine(disk, **options) as engine:  # type: ignore[arg-type]
            lease = await owned(engine)
            await engine.append(lease, events("a"))
        async with MemoryEngine(disk, **options) as engine:  # type: ignore[arg-type]
            node = await engine.enter("a")
            return [lease, await engine.own("s", node), await engine.read_after("s", 0)]

    assert await run() == await run()


async def test_nothing_waits_unless_it_is_told_to() -> None:
    """Ours: with a pause that does not wait, an operation is over at once."""

    async def at_once() -> None:
        pass

    def step(work: Awaitable[object]) -> object:
        try:
            work.__await__().send(None)
        except StopIteration as stop:
            return stop.value
        raise AssertionError("it waits")

    engine = MemoryEngine(pause=at_once, lease_clock=lambda: 0.0)
    assert step(engine.create(record())) is not None
    assert step(engine.enter("a")) is not None
