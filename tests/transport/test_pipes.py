"""A pair of descriptors as a transport, on both event loops."""

from __future__ import annotations

import fcntl
import os
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
import pytest
from anyio.abc import TaskGroup

from accord.transport.pipes import READ_BYTES_MIN, PipeTransport, widen_pipe
from accord.transport.transport import BACKLOG_BYTES_LOW
from tests.transport.collector import SECONDS, Collecting

MEBIBYTE = 1024 * 1024


class Ends:
    """A transport, its receiver, and the other ends of its two pipes."""

    def __init__(self, tasks: TaskGroup, **options: Any) -> None:
        self.tasks = tasks
        read_fd, self.into = os.pipe()
        self.out, write_fd = os.pipe()
        os.set_blocking(self.out, False)
        self.receiver = Collecting()
        self.transport = PipeTransport(read_fd, write_fd, **options)

    async def take(self, count: int) -> bytes:
        """Read so many bytes of what the transport writes."""
        data = b""
        with anyio.fail_after(SECONDS):
            while len(data) < count:
                await anyio.wait_readable(self.out)
                data += os.read(self.out, min(65536, count - len(data)))
        return data

    def close(self, name: str) -> None:
        """Close one of the other ends."""
        if getattr(self, name) >= 0:
            os.close(getattr(self, name))
            setattr(self, name, -1)


@asynccontextmanager
async def started(**options: Any) -> AsyncIterator[Ends]:
    """A transport that runs."""
    async with anyio.create_task_group() as tasks:
        ends = Ends(tasks, **options)
        await ends.transport.start(ends.receiver, tasks)
        try:
            yield ends
        finally:
            with anyio.CancelScope(shield=True), anyio.fail_after(SECONDS):
                await ends.transport.aclose()
            ends.close("into")
            ends.close("out")
            tasks.cancel_scope.cancel()
    assert len(ends.receiver.ends) == 1


async def test_bytes_go_both_ways() -> None:
    """The promise of a transport."""
    async with started() as ends:
        os.write(ends.into, b"hello")
        await ends.receiver.until(lambda: ends.receiver.data == b"hello")
        ends.transport.write(b"there")
        assert await ends.take(5) == b"there"
        assert ends.transport.backlog == 0
        assert not ends.transport.has_ended


async def test_a_full_pipe_makes_the_rest_wait_in_order() -> None:
    """Issue: bounded by those who wait in `drain`; nothing is lost or mixed up."""
    async with started() as ends:
        pieces = [bytes([65 + at]) * MEBIBYTE for at in range(5)]
        for piece in pieces:
            ends.transport.write(piece)
        assert ends.transport.backlog > 2 * MEBIBYTE
        woken: list[int] = []

        async def drain(number: int) -> None:
            await ends.transport.drain()
            woken.append(number)

        for number in range(3):
            ends.tasks.start_soon(drain, number)
        await anyio.wait_all_tasks_blocked()
        assert woken == []
        assert await ends.take(5 * MEBIBYTE) == b"".join(pieces)
        with anyio.fail_after(SECONDS):
            await ends.transport.flush()
            while len(woken) < 3:
                await anyio.lowlevel.checkpoint()


async def test_large_writes_go_on_as_soon_as_the_peer_takes_some() -> None:
    """Ours: the parts of a large frame are written one by one, and the peer reads meanwhile."""
    async with started() as ends:
        part = b"x" * MEBIBYTE
        ends.transport.write(part)
        ends.transport.write(part)
        held = ends.transport.backlog
        assert held > 0
        taken = os.read(ends.out, MEBIBYTE)
        # Without giving way to the event loop, which would find the pipe writable.
        ends.transport.write(b"y" * 65_536)
        assert ends.transport.backlog < held
        rest = await ends.take(2 * MEBIBYTE + 65_536 - len(taken))
        assert taken + rest == part + part + b"y" * 65_536


async def test_a_pipe_that_cannot_be_widened_serves_all_the_same(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Ours: the system has a limit on what all pipes of a user may hold."""

    def refuse(*arguments: object) -> int:
        raise PermissionError

    monkeypatch.setattr(fcntl, "fcntl", refuse)
    async with started() as ends:
        ends.transport.write(b"x" * MEBIBYTE)
        assert await ends.take(MEBIBYTE) == b"x" * MEBIBYTE


async def test_what_comes_at_once_is_read_until_somebody_pauses() -> None:
    """Ours: several reads before the loop comes round, and none behind a pause."""
    async with started() as ends:
        widen_pipe(ends.into)
        ends.transport.pause()
        sent = os.write(ends.into, b"x" * (4 * READ_BYTES_MIN))
        reads: list[int] = []

        def pause_at_second(data: bytes) -> None:
            reads.append(len(data))
            ends.receiver.data += data
            if len(reads) == 2:
                ends.transport.pause()

        ends.receiver.data_received = pause_at_second  # type: ignore[method-assign]
        ends.transport.resume()
        with anyio.fail_after(SECONDS):
            while len(reads) < 2:
                await anyio.lowlevel.checkpoint()
        await anyio.wait_all_tasks_blocked()
        assert reads == [READ_BYTES_MIN, 2 * READ_BYTES_MIN]
        ends.transport.resume()
        with anyio.fail_after(SECONDS):
            while len(ends.receiver.data) < sent:
                await anyio.lowlevel.checkpoint()


async def test_what_is_written_before_the_start_goes_first() -> None:
    """Ours: a greeting need not wait for the transport."""
    async with anyio.create_task_group() as tasks:
        ends = Ends(tasks)
        ends.transport.write(b"first ")
        assert ends.transport.backlog == 6
        await ends.transport.start(ends.receiver, tasks)
        ends.transport.write(b"second")
        assert await ends.take(12) == b"first second"
        await ends.transport.aclose()
        ends.close("into")
        ends.close("out")


async def test_a_pause_stops_the_reading_and_the_pipe_fills() -> None:
    """The peer's own writes back up."""
    async with started() as ends:
        ends.transport.pause()
        assert ends.transport.is_paused
        os.write(ends.into, b"unheard")
        await anyio.wait_all_tasks_blocked()
        assert ends.receiver.data == b""
        ends.transport.resume()
        await ends.receiver.until(lambda: ends.receiver.data == b"unheard")


async def test_a_peer_that_closed_its_sending_side_can_still_be_answered() -> None:
    """TR-STDIO-08: its last question deserves an answer."""
    async with started() as ends:
        os.write(ends.into, b"question")
        ends.close("into")
        why = await ends.receiver.end()
        assert (why.clean, why.writable) == (True, True)
        assert ends.receiver.data == b"question"
        ends.transport.write(b"answer")
        assert await ends.take(6) == b"answer"


async def test_what_waits_when_we_close_is_given_a_moment() -> None:
    """Ours: an answer that is on its way arrives."""
    async with started() as ends:
        ends.transport.write(b"x" * (3 * MEBIBYTE))
        taken: list[int] = []

        async def take() -> None:
            taken.append(len(await ends.take(3 * MEBIBYTE)))

        ends.tasks.start_soon(take)
        with anyio.fail_after(SECONDS):
            await ends.transport.aclose()
            while not taken:
                await anyio.lowlevel.checkpoint()
        assert taken == [3 * MEBIBYTE]


async def test_a_peer_that_closed_its_reading_side_ends_the_transport_soon() -> None:
    """A fault of others: later sends wait for ever.  What it still says is heard."""
    async with started() as ends:
        ends.close("out")
        ends.transport.write(b"anybody there?")
        ends.transport.write(b"hello?")
        assert ends.transport.backlog == 0
        os.write(ends.into, b"why I leave")
        why = await ends.receiver.end()
        assert "reading side" in why.reason
        assert not why.writable
        assert ends.receiver.data == b"why I leave"


async def test_a_reader_that_goes_while_much_waits_wakes_the_waiting() -> None:
    """Issue 3: none with a hang."""
    async with started() as ends:
        ends.transport.write(b"x" * (4 * MEBIBYTE))
        ends.tasks.start_soon(ends.transport.drain)
        ends.tasks.start_soon(ends.transport.flush)
        await anyio.wait_all_tasks_blocked()
        ends.close("out")
        with anyio.fail_after(SECONDS):
            await ends.transport.drain()
            await ends.transport.flush()
        await ends.receiver.end()


async def test_a_peer_that_takes_nothing_is_lost_after_the_limit() -> None:
    """Issue 3: a peer that stops reading."""
    async with started(stall_seconds=0.1) as ends:
        ends.transport.write(b"x" * (4 * MEBIBYTE))
        with anyio.fail_after(SECONDS):
            await ends.transport.drain()
        assert (await ends.receiver.end()).reason == "the peer read nothing for 0.1 s"


async def test_a_peer_that_takes_a_little_is_not_lost(monkeypatch: pytest.MonkeyPatch) -> None:
    """The limit is on silence, not on slowness: each look finds that something was taken."""
    looks: list[Callable[[], None]] = []
    async with started() as ends:
        driver = ends.transport._driver
        monkeypatch.setattr(driver, "later", lambda seconds, look: looks.append(look))
        ends.transport.write(b"x" * (4 * MEBIBYTE))
        for _ in range(2):
            await ends.take(MEBIBYTE)
            await anyio.wait_all_tasks_blocked()
            looks.pop()()
            assert not ends.transport.has_ended
            assert len(looks) == 1
        await ends.take(2 * MEBIBYTE)
        looks.pop()()
        assert looks == []
        ends.transport.write(b"y" * (4 * MEBIBYTE))
        looks.pop()()
        assert (await ends.receiver.end()).reason.startswith("the peer read nothing")


async def test_a_stalled_peer_that_also_closed_its_side_does_not_hold_us() -> None:
    """Ours: what waits for it is given up by the same limit."""
    async with started(stall_seconds=0.1) as ends:
        ends.transport.write(b"x" * (4 * MEBIBYTE))
        ends.close("into")
        await ends.receiver.end()
        with anyio.fail_after(SECONDS):
            await ends.transport.flush()
        assert ends.transport.backlog == 0


async def test_regular_files_stand_in_for_pipes(tmp_path: Path) -> None:
    """A fault of others: no replay from a file."""
    source, sink = tmp_path / "in", tmp_path / "out"
    source.write_bytes(b"line\n" * 200_000)
    receiver = Collecting()
    async with anyio.create_task_group() as tasks:
        transport = PipeTransport(
            os.open(source, os.O_RDONLY), os.open(sink, os.O_WRONLY | os.O_CREAT)
        )
        await transport.start(receiver, tasks)
        transport.pause()
        transport.resume()
        transport.write(b"answer")
        await receiver.end()
        await transport.aclose()
        await transport.aclose()
    assert receiver.data == b"line\n" * 200_000
    assert sink.read_bytes() == b"answer"


@pytest.mark.parametrize("device", [os.devnull, "/dev/zero"])
async def test_devices_that_no_selector_takes_are_read(device: str) -> None:
    """Ours: an agent that is started with /dev/null."""
    receiver = Collecting()
    async with anyio.create_task_group() as tasks:
        transport = PipeTransport(os.open(device, os.O_RDONLY), os.open(os.devnull, os.O_WRONLY))
        await transport.start(receiver, tasks)
        await receiver.until(lambda: receiver.ends or len(receiver.data) > BACKLOG_BYTES_LOW)
        await transport.aclose()
    assert len(receiver.ends) == 1


async def test_a_descriptor_that_cannot_be_read_is_an_end_with_a_reason(tmp_path: Path) -> None:
    """Ours: not an exception in the event loop."""
    receiver = Collecting()
    async with anyio.create_task_group() as tasks:
        transport = PipeTransport(os.open(tmp_path, os.O_RDONLY), os.open(os.devnull, os.O_WRONLY))
        await transport.start(receiver, tasks)
        assert "reading failed" in (await receiver.end()).reason
        await transport.aclose()


async def test_closing_the_writing_side_alone_tells_the_peer() -> None:
    """What a client does first when it ends an agent."""
    async with started() as ends:
        ends.transport.close_write()
        ends.transport.close_write()
        with anyio.fail_after(SECONDS):
            await anyio.wait_readable(ends.out)
        assert os.read(ends.out, 10) == b""
        os.write(ends.into, b"still here")
        await ends.receiver.until(lambda: ends.receiver.data == b"still here")


async def test_a_peer_that_reads_no_more_is_noticed_without_a_write() -> None:
    """Ours: who waits for an answer would wait for ever, since nothing more is written."""
    async with started() as ends:
        ends.close("out")
        end = await ends.receiver.end()
        assert end.reason == "the peer closed its reading side"
