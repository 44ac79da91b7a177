"""Terminals whose stderr is heard apart, and signals to what runs in them."""

import signal

import pytest

from accord.machine.processes.child_process import Exit
from tests.machine.terminals.test_terminals import terminals_open

pytestmark = pytest.mark.anyio


async def test_stderr_can_be_heard_apart() -> None:
    """Ours: two pipes, one buffer; the end is told when both have ended."""
    out, err = bytearray(), bytearray()

    async def to_out(data: bytes) -> None:
        out.extend(data)

    async def to_err(data: bytes) -> None:
        err.extend(data)

    async with terminals_open() as terminals:
        line = "echo one; echo two >&2; echo three"
        terminal = await terminals.create(line, on_output=to_out, on_stderr=to_err)
        assert await terminal.wait() == Exit(code=0)
        assert (bytes(out), bytes(err)) == (b"one\nthree\n", b"two\n")
        assert sorted(terminal.output().text.split()) == ["one", "three", "two"]


async def test_a_listener_of_one_stream_that_fails_does_not_stop_the_other(
    caplog: pytest.LogCaptureFixture,
) -> None:
    """Ours."""
    err = bytearray()

    async def fails(data: bytes) -> None:
        raise ZeroDivisionError

    async def to_err(data: bytes) -> None:
        err.extend(data)

    async with terminals_open() as terminals:
        line = "echo one; echo two >&2"
        terminal = await terminals.create(line, on_output=fails, on_stderr=to_err)
        await terminal.wait()
    assert bytes(err) == b"two\n"
    assert "listener" in caplog.text


async def test_a_command_can_be_sent_any_signal() -> None:
    """Ours: to all of its group; False when nothing of it is left."""
    async with terminals_open() as terminals:
        terminal = await terminals.create("sleep", ["60"])
        assert terminal.signal(signal.SIGUSR1)
        assert await terminal.wait() == Exit(signal="SIGUSR1")
        assert not terminal.signal(signal.SIGTERM)
