"""Two ends in one process."""

from __future__ import annotations

import anyio

from accord.transport.memory import memory_pair
from accord.transport.transport import BACKLOG_BYTES_LOW
from tests.transport.collector import SECONDS, Collecting


async def test_bytes_go_both_ways_in_order() -> None:
    """The promise of a transport."""
    one, other = memory_pair()
    ours, theirs = Collecting(), Collecting()
    async with anyio.create_task_group() as tasks:
        await one.start(ours, tasks)
        await other.start(theirs, tasks)
        for number in range(100):
            one.write(b"%d " % number)
        other.write(b"back")
        await theirs.until(lambda: theirs.data.endswith(b"99 "))
        await ours.until(lambda: ours.data == b"back")
        assert theirs.data.split() == [b"%d" % number for number in range(100)]
        await one.aclose()
        await theirs.end()
        await other.aclose()
    assert ours.ends[0].reason == "closed here"
    assert theirs.ends[0].reason == "the peer closed the connection"


async def test_what_was_written_before_the_end_arrives_before_it() -> None:
    """Even while the other end has paused."""
    one, other = memory_pair()
    theirs = Collecting()
    async with anyio.create_task_group() as tasks:
        await other.start(theirs, tasks)
        other.pause()
        one.write(b"last words")
        await one.aclose()
        await anyio.wait_all_tasks_blocked()
        assert theirs.data == b""
        other.resume()
        assert (await theirs.end()).clean
    assert theirs.data == b"last words"


async def test_a_side_that_has_ended_its_output_still_receives() -> None:
    """As with pipes: what was written arrives before the end, and nothing behind it."""
    one, other = memory_pair()
    ours, theirs = Collecting(), Collecting()
    async with anyio.create_task_group() as tasks:
        await one.start(ours, tasks)
        await other.start(theirs, tasks)
        one.write(b"last words")
        one.close_write()
        one.write(b"too late")
        assert (await theirs.end()).writable
        assert theirs.data == b"last words"
        other.write(b"an answer")
        await other.aclose()
        other.close_write()
        assert not (await ours.end()).writable
    assert ours.data == b"an answer"


async def test_all_who_wait_for_the_other_end_are_woken() -> None:
    """Issue: a slow reader slows the writer, and none is forgotten."""
    one, other = memory_pair()
    theirs = Collecting()
    drained: list[int] = []
    async with anyio.create_task_group() as tasks:
        await other.start(theirs, tasks)
        other.pause()
        one.write(b"x" * (BACKLOG_BYTES_LOW + 1))
        assert one.backlog == BACKLOG_BYTES_LOW + 1

        async def wait(number: int) -> None:
            await one.drain()
            drained.append(number)

        for number in range(3):
            tasks.start_soon(wait, number)
        await anyio.wait_all_tasks_blocked()
        assert drained == []
        other.resume()
        with anyio.fail_after(SECONDS):
            while len(drained) < 3:
                await anyio.lowlevel.checkpoint()
        assert one.backlog == 0
        await one.aclose()


async def test_closing_wakes_who_waits_and_later_writes_go_nowhere() -> None:
    """`write` never raises for a peer that is gone."""
    one, other = memory_pair()
    async with anyio.create_task_group() as tasks:
        await other.start(Collecting(), tasks)
        other.pause()
        one.write(b"x" * (BACKLOG_BYTES_LOW + 1))
        tasks.start_soon(one.drain)
        await anyio.wait_all_tasks_blocked()
        with anyio.fail_after(SECONDS):
            await one.aclose()
            await one.aclose()
        one.write(b"late")
        other.write(b"late")
        assert one.backlog == 0
        other.resume()
