"""Descriptors 0 and 1 of this process, lent to a transport and given back."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import anyio
import pytest

from accord.transport.stdio import StdioTransport
from tests.transport.collector import Collecting


class Pipes:
    """Pipes in place of this process's stdin and stdout."""

    def __init__(self) -> None:
        read_fd, self.into = os.pipe()
        self.out, write_fd = os.pipe()
        self._saved = (os.dup(0), os.dup(1))
        os.dup2(read_fd, 0)
        os.dup2(write_fd, 1)
        os.close(read_fd)
        os.close(write_fd)
        os.set_blocking(self.out, False)

    def restore(self) -> None:
        """As it was before."""
        for saved, fd in zip(self._saved, (0, 1), strict=True):
            os.dup2(saved, fd)
            os.close(saved)
        os.close(self.into)
        os.close(self.out)


@contextmanager
def piped() -> Iterator[Pipes]:
    """The pipes, and everything as it was afterwards.

    Not a fixture: between set-up and call pytest moves the descriptors itself.
    """
    made = Pipes()
    try:
        yield made
    finally:
        made.restore()


@pytest.mark.rule("TR-STDIO-03")
async def test_the_wire_is_private_and_stdout_leads_to_stderr(
    capfd: pytest.CaptureFixture[str],
) -> None:
    """Design: a stray print cannot break the connection; afterwards all is as it was."""
    with piped() as pipes:
        await _play(pipes)
    assert "a stray print\n" in capfd.readouterr().err


async def _play(pipes: Pipes) -> None:
    transport, receiver = StdioTransport(), Collecting()
    before = os.fstat(0).st_ino, os.fstat(1).st_ino
    assert transport.backlog == 0
    transport.pause()
    transport.resume()
    await transport.aclose()
    async with anyio.create_task_group() as tasks:
        await transport.start(receiver, tasks)
        os.write(1, b"a stray print\n")
        assert os.read(0, 10) == b""
        os.write(pipes.into, b"in")
        await receiver.until(lambda: receiver.data == b"in")
        transport.pause()
        transport.resume()
        transport.write(b"out\n")
        await transport.drain()
        await transport.flush()
        assert transport.backlog == 0
        assert os.get_blocking(1)
        await transport.aclose()
        await transport.aclose()
    assert (os.fstat(0).st_ino, os.fstat(1).st_ino) == before
    assert os.get_blocking(0)
    assert os.get_blocking(1)
    assert os.read(pipes.out, 100) == b"out\n"
    assert len(receiver.ends) == 1


async def test_where_a_descriptor_cannot_be_opened_anew_it_is_copied(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Ours: without /proc the wire works all the same."""
    real = os.open

    def refuse(path: Any, *args: Any, **kwargs: Any) -> int:
        if str(path).startswith("/proc/self/fd/"):
            raise PermissionError(13, "no")
        return real(path, *args, **kwargs)

    monkeypatch.setattr(os, "open", refuse)
    transport, receiver = StdioTransport(), Collecting()
    with piped() as pipes:
        async with anyio.create_task_group() as tasks:
            await transport.start(receiver, tasks)
            transport.write(b"out\n")
            os.write(pipes.into, b"in")
            await receiver.until(lambda: receiver.data == b"in")
            await transport.aclose()
        assert os.read(pipes.out, 100) == b"out\n"
        assert os.get_blocking(0)
