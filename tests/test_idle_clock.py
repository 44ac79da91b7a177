"""The clock that asynchronous tests run on: it stands while there is something to do."""

import asyncio
import gc
import socket
import subprocess
import sys
import time

import anyio
import pytest
from anyio.abc import ByteStream, SocketAttribute

from tests.idle_clock import IdleLoop


async def test_what_is_ready_has_its_turn_before_a_bound_is_over() -> None:
    """Issue 14: a bound of a tenth of a second failed tests where 20 processes want two cores."""
    came = anyio.Event()

    async def answer() -> None:
        await anyio.lowlevel.checkpoint()
        await anyio.lowlevel.checkpoint()
        came.set()

    async with anyio.create_task_group() as tasks:
        with anyio.move_on_after(0.05) as bound:
            tasks.start_soon(answer)
            # Nobody schedules this process for longer than the bound.
            time.sleep(0.2)
            await came.wait()
    assert not bound.cancelled_caught


async def test_a_bound_is_over_for_a_task_that_looks_again_and_again() -> None:
    """Found by a run of the tests that did not end: somebody always had something to do."""
    with anyio.move_on_after(0.01) as bound:
        while True:
            await anyio.lowlevel.checkpoint()
    assert bound.cancelled_caught


async def test_a_bound_is_over_when_nothing_comes() -> None:
    """Ours: it must not stand for ever."""
    with anyio.move_on_after(0.01) as bound:
        await anyio.sleep_forever()
    assert bound.cancelled_caught


async def test_other_processes_take_real_time() -> None:
    """Ours: what a test starts has a clock of its own."""
    program = "import time; time.sleep(0.3)"
    before = anyio.current_time()
    await anyio.run_process([sys.executable, "-c", program], stderr=subprocess.DEVNULL)
    assert anyio.current_time() - before > 0.2


@pytest.mark.parametrize("rounds", range(6))
def test_a_loop_that_ends_while_a_connection_comes_leaves_no_socket(rounds: int) -> None:
    """Ours: the warning would fail another test, whichever the garbage is collected in."""

    class Closing(asyncio.Protocol):
        def connection_made(self, transport: asyncio.BaseTransport) -> None:
            transport.close()

    async def main() -> None:
        loop = asyncio.get_running_loop()
        server = await loop.create_server(Closing, "127.0.0.1", 0)
        with socket.create_connection(server.sockets[0].getsockname()):
            for _ in range(rounds):
                await asyncio.sleep(0)
            server.close()

    with asyncio.Runner(loop_factory=IdleLoop) as runner:
        runner.run(main())
    gc.collect()


@pytest.mark.parametrize("backend", ["asyncio", "trio"])
@pytest.mark.parametrize("rounds", range(6))
def test_a_listener_that_is_cancelled_while_a_connection_comes_leaves_no_socket(
    backend: str, rounds: int
) -> None:
    """Found by `make test`: asyncio accepted for nobody, which failed a later test."""

    async def serve(stream: ByteStream) -> None:
        async with stream:
            await stream.receive()

    async def main() -> None:
        async with (
            await anyio.create_tcp_listener(local_host="127.0.0.1") as listener,
            anyio.create_task_group() as tasks,
        ):
            tasks.start_soon(listener.serve, serve)
            await anyio.wait_all_tasks_blocked()
            with socket.create_connection(listener.extra(SocketAttribute.raw_socket).getsockname()):
                for _ in range(rounds):
                    await anyio.lowlevel.checkpoint()
                tasks.cancel_scope.cancel()

    options = {"loop_factory": IdleLoop} if backend == "asyncio" else {}
    anyio.run(main, backend=backend, backend_options=options)
    gc.collect()
