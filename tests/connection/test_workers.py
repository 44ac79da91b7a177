"""Tasks that are used again."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Coroutine
from typing import Any

import anyio
import pytest

from accord.connection import workers
from accord.connection.workers import Workers
from tests.connection.raw_peer import SECONDS


async def test_a_worker_that_is_done_takes_the_next_job() -> None:
    """Ours: starting a task costs more than a small request."""
    tasks_seen: list[int] = []
    async with anyio.create_task_group() as tasks:
        pool = Workers(tasks)

        async def job() -> None:
            tasks_seen.append(anyio.get_current_task().id)

        for _ in range(3):
            pool.run(job)
            await anyio.wait_all_tasks_blocked()
        tasks.cancel_scope.cancel()
    assert len(set(tasks_seen)) == 1


async def test_jobs_at_once_have_tasks_of_their_own_and_few_are_kept() -> None:
    """Issue: everything has a bound."""
    tasks_seen: set[int] = set()
    many = workers.IDLE_WORKERS_MAX + 20
    async with anyio.create_task_group() as tasks:
        pool = Workers(tasks)
        go = anyio.Event()

        async def job() -> None:
            tasks_seen.add(anyio.get_current_task().id)
            await go.wait()

        for _ in range(many):
            pool.run(job)
        await anyio.wait_all_tasks_blocked()
        assert len(tasks_seen) == many
        with anyio.fail_after(SECONDS):
            go.set()
            await anyio.wait_all_tasks_blocked()
        tasks_seen.clear()
        go = anyio.Event()
        for _ in range(many):
            pool.run(job)
        await anyio.wait_all_tasks_blocked()
        assert len(tasks_seen) == many
        tasks.cancel_scope.cancel()


class _LazyGroup:
    """A task group that starts its tasks later, the last one first: a scheduler may do that."""

    def __init__(self) -> None:
        self.started: list[Callable[[], Coroutine[Any, Any, None]]] = []

    def start_soon(self, function: Callable[[], Coroutine[Any, Any, None]], *, name: str) -> None:
        self.started.append(function)


async def test_jobs_begin_in_the_order_in_which_they_were_given() -> None:
    """Issue 12: a terminal's release overtook the wait for its exit, which then found nothing."""
    begun: list[int] = []
    lazy = _LazyGroup()
    pool = Workers(lazy)  # type: ignore[arg-type]

    def job(number: int) -> Callable[[], Awaitable[None]]:
        async def work() -> None:
            begun.append(number)

        return work

    for number in range(3):
        pool.run(job(number))
    async with anyio.create_task_group() as tasks:
        for function in reversed(lazy.started):
            tasks.start_soon(function)
            await anyio.wait_all_tasks_blocked()
        tasks.cancel_scope.cancel()
    assert begun == [0, 1, 2]


@pytest.mark.parametrize("leaving", [SystemExit(7), KeyboardInterrupt()])
async def test_an_exit_goes_through_the_group(leaving: BaseException) -> None:
    """Ours: bare, it would stop the event loop with everything still open."""

    async def job() -> None:
        raise leaving

    async def conversation() -> None:
        async with anyio.create_task_group() as tasks:
            Workers(tasks).run(job)
            await anyio.sleep_forever()

    with pytest.raises(BaseExceptionGroup) as caught:
        await conversation()
    (inner,) = caught.value.exceptions
    assert isinstance(inner, BaseExceptionGroup)
    assert inner.exceptions == (leaving,)
