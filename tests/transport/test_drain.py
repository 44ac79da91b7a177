"""Backpressure with several senders at once."""

import os
from collections.abc import Awaitable, Callable

import anyio
import pytest

from accord.transport.memory import memory_pair
from accord.transport.pipes import PipeTransport
from accord.transport.transport import BACKLOG_BYTES_LOW, Ended
from tests.hang_limit import HANG_SECONDS

# More than the widest pipe and the low mark together.
MUCH = b"x" * (BACKLOG_BYTES_LOW + 4 * 1024 * 1024)
SENDERS = 3


class _Silent:
    def data_received(self, chunk: bytes) -> None:
        pass

    def ended(self, why: Ended) -> None:
        pass


async def _all_wait(wait: Callable[[], Awaitable[None]], relieve: Callable[[], None]) -> int:
    """How many of the waiting senders went on once the backlog was taken."""
    through = 0

    async def sender() -> None:
        nonlocal through
        await wait()
        through += 1

    with anyio.fail_after(HANG_SECONDS):
        async with anyio.create_task_group() as senders:
            for _ in range(SENDERS):
                senders.start_soon(sender)
            await anyio.wait_all_tasks_blocked()
            assert through == 0
            relieve()
    return through


@pytest.mark.parametrize("wait", ["drain", "flush"])
async def test_every_sender_goes_on_when_a_pipe_is_taken(wait: str) -> None:
    """Issue: a hundred sessions at once; a sender that is never woken is a hang."""
    read_fd, peer_write_fd = os.pipe()
    peer_read_fd, write_fd = os.pipe()
    transport = PipeTransport(read_fd, write_fd)
    async with anyio.create_task_group() as tasks:
        await transport.start(_Silent(), tasks)
        transport.write(MUCH)

        def take_all() -> None:
            async def take() -> None:
                taken = 0
                while taken < len(MUCH):
                    await anyio.wait_readable(peer_read_fd)
                    taken += len(os.read(peer_read_fd, 1 << 20))

            tasks.start_soon(take)

        assert await _all_wait(getattr(transport, wait), take_all) == SENDERS
        await transport.aclose()
        tasks.cancel_scope.cancel()
    os.close(peer_write_fd)
    os.close(peer_read_fd)


async def test_every_sender_goes_on_when_the_memory_end_takes() -> None:
    """Issue: the same over the transport of the tests."""
    ours, theirs = memory_pair()
    async with anyio.create_task_group() as tasks:
        await ours.start(_Silent(), tasks)
        ours.write(MUCH)
        theirs.pause()
        await theirs.start(_Silent(), tasks)
        assert await _all_wait(ours.drain, theirs.resume) == SENDERS
        await ours.aclose()
        tasks.cancel_scope.cancel()
