"""A burst of writes goes out together, in order, and nothing of it is lost."""

from __future__ import annotations

import os

import anyio
import pytest

from accord.transport.pipes import BURST_WRITES, GATHERED_BYTES_MAX
from tests.transport.test_pipes import Ends, started


def waiting_in(ends: Ends) -> bytes:
    """What the other side could read now."""
    try:
        return os.read(ends.out, 1024 * 1024)
    except BlockingIOError:
        return b""


async def test_the_first_writes_go_out_at_once_and_the_rest_when_the_loop_comes_round() -> None:
    """Decision 0006: a handler that says a few things and then computes is heard in time."""
    async with started() as ends:
        pieces = [b"%03d " % number for number in range(BURST_WRITES + 20)]
        for piece in pieces:
            ends.transport.write(piece)
        assert waiting_in(ends) == b"".join(pieces[:BURST_WRITES])
        assert await ends.take(4 * 20) == b"".join(pieces[BURST_WRITES:])


async def test_a_burst_is_over_when_the_loop_has_come_round_without_more() -> None:
    """Decision 0006: single writes are never held back."""
    async with started() as ends:
        for _ in range(BURST_WRITES + 1):
            ends.transport.write(b"x")
        await ends.take(BURST_WRITES + 1)
        # Twice: it is noticed one round later that nothing more came.
        await anyio.wait_all_tasks_blocked()
        await anyio.wait_all_tasks_blocked()
        ends.transport.write(b"alone")
        assert waiting_in(ends) == b"alone"


async def test_a_long_burst_does_not_wait_for_the_loop() -> None:
    """Decision 0006: what is held back is bounded."""
    async with started() as ends:
        piece = b"x" * 1024
        count = BURST_WRITES + GATHERED_BYTES_MAX // len(piece)
        for _ in range(count):
            ends.transport.write(piece)
        assert len(waiting_in(ends)) == count * len(piece)


async def test_a_large_write_in_a_burst_keeps_its_place() -> None:
    """Ours: it is not copied, and overtakes nothing."""
    async with started() as ends:
        for _ in range(BURST_WRITES):
            ends.transport.write(b"a")
        ends.transport.write(b"small")
        ends.transport.write(b"L" * GATHERED_BYTES_MAX)
        ends.transport.write(b"behind")
        wanted = b"a" * BURST_WRITES + b"small" + b"L" * GATHERED_BYTES_MAX + b"behind"
        assert await ends.take(len(wanted)) == wanted


@pytest.mark.parametrize("how", ["aclose", "close_write", "flush"])
async def test_the_end_sends_what_was_held_back(how: str) -> None:
    """Issue: nothing is lost."""
    async with started() as ends:
        for number in range(BURST_WRITES + 3):
            ends.transport.write(b"%d" % (number % 10))
        ending = getattr(ends.transport, how)()
        if ending is not None:
            await ending
        assert len(waiting_in(ends)) == BURST_WRITES + 3


async def test_what_is_written_before_the_start_is_never_held_back() -> None:
    """Ours: there is no loop yet that could come round."""
    async with anyio.create_task_group() as tasks:
        ends = Ends(tasks)
        for _ in range(BURST_WRITES + 5):
            ends.transport.write(b"x")
        await ends.transport.start(ends.receiver, tasks)
        assert await ends.take(BURST_WRITES + 5) == b"x" * (BURST_WRITES + 5)
        await ends.transport.aclose()


async def test_a_burst_into_a_full_pipe_waits_in_order() -> None:
    """Issue: a full pipe makes the rest wait, whatever way it came."""
    async with started() as ends:
        pieces = [bytes([65 + at % 26]) * 4096 for at in range(600)]
        for piece in pieces:
            ends.transport.write(piece)
        assert ends.transport.backlog > 0
        assert await ends.take(600 * 4096) == b"".join(pieces)
