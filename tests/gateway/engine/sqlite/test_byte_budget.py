"""A bound on bytes: in order, never exceeded, and never lost to a cancelled waiter."""

import anyio
import pytest
from hypothesis import given
from hypothesis import strategies as st

from accord.gateway.engine.sqlite.byte_budget import ByteBudget


async def test_work_begins_in_the_order_of_the_calls() -> None:
    """Ours: a large one is not overtaken by small ones."""
    budget, began = ByteBudget(10), list[int]()

    async def work(size: int) -> None:
        await budget.take(size)
        began.append(size)

    await budget.take(6)
    async with anyio.create_task_group() as tasks:
        for size in (8, 5, 50, 2):
            tasks.start_soon(work, size)
            await anyio.wait_all_tasks_blocked()
        assert began == []
        budget.give_back(6)
        await anyio.wait_all_tasks_blocked()
        assert began == [8]
        budget.give_back(8)
        await anyio.wait_all_tasks_blocked()
        # There is room for the last one, but the one before it is larger than the whole budget.
        assert began == [8, 5]
        budget.give_back(5)
        await anyio.wait_all_tasks_blocked()
        assert began == [8, 5, 50]
        budget.give_back(50)
    assert began == [8, 5, 50, 2]


@pytest.mark.parametrize("is_let_in", [False, True])
async def test_a_cancelled_waiter_leaves_its_room_to_the_next(is_let_in: bool) -> None:
    """Ours: before it is let in, and just after."""
    budget, began = ByteBudget(10), anyio.Event()

    async def work(event: anyio.Event) -> None:
        await budget.take(10)
        with budget.lent(10):
            event.set()

    await budget.take(10)
    async with anyio.create_task_group() as outer:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(work, anyio.Event())
            await anyio.wait_all_tasks_blocked()
            outer.start_soon(work, began)
            await anyio.wait_all_tasks_blocked()
            if is_let_in:
                budget.give_back(10)
            tasks.cancel_scope.cancel()
        if not is_let_in:
            budget.give_back(10)
        await began.wait()


@given(st.lists(st.integers(0, 20), max_size=12), st.randoms())
def test_the_bound_holds(sizes: list[int], dice: object) -> None:
    """Ours: whatever comes, the bytes under way fit, or belong to one piece of work."""
    under_way: list[int] = []
    done: list[int] = []

    async def run() -> None:
        budget = ByteBudget(16)

        async def work(size: int) -> None:
            await budget.take(size)
            with budget.lent(size):
                under_way.append(size)
                filled = [one for one in under_way if one]
                assert sum(filled) <= 16 or len(filled) == 1
                await anyio.lowlevel.checkpoint()
                under_way.remove(size)
                done.append(size)

        async with anyio.create_task_group() as tasks:
            for size in sizes:
                tasks.start_soon(work, size)

    anyio.run(run)
    assert sorted(done) == sorted(sizes)
