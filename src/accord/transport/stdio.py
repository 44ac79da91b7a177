"""This process's stdin and stdout as a transport, protected from stray prints.

The transport gets private copies of descriptors 0 and 1.  Then 1 leads to stderr and 0 to
/dev/null, so that a `print`, a C library or a child process can neither write into the conversation
nor read from it.  Closing the transport restores both.  On a terminal, control characters are
written as JSON escapes.
"""

import os
import stat
import sys
from collections.abc import Callable

from anyio.abc import TaskGroup

from accord.errors import LocalProtocolError
from accord.transport.pipes import PipeTransport
from accord.transport.transport import STALL_SECONDS_MAX, Receiver


def _private(fd: int, mode: int) -> int:
    """Return a private descriptor for the same pipe or terminal.

    It is opened again if possible: a duplicate would share its non-blocking flag with every other
    holder, such as our own stderr on a terminal and the shell.
    """
    kind = os.fstat(fd).st_mode
    if stat.S_ISFIFO(kind) or os.isatty(fd):
        try:
            return os.open(f"/proc/self/fd/{fd}", mode | os.O_NONBLOCK | os.O_NOCTTY)
        except OSError:
            pass
    return os.dup(fd)


def _is_open(fd: int) -> bool:
    try:
        os.fstat(fd)
    except OSError:
        return False
    return True


def _to_nowhere(fd: int) -> None:
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, fd)
    os.close(nowhere)


def _flush_stdout() -> None:
    # A program may have replaced it, also by None.
    if sys.stdout is not None:
        sys.stdout.flush()


class StdioTransport(PipeTransport):
    """The transport of an agent that an editor started."""

    def __init__(self, *, stall_seconds: float = STALL_SECONDS_MAX) -> None:
        # `start` takes over the descriptors.
        super().__init__(-1, -1, stall_seconds=stall_seconds)
        self._saved: tuple[int, int] | None = None
        self._blocking = (True, True)
        # Escapes control characters if stdout is a terminal.
        self._escape: Callable[[bytes], bytes] | None = None

    async def start(self, receiver: Receiver, tasks: TaskGroup) -> None:
        """Take over the descriptors and start to read.

        Raises:
            LocalProtocolError: stdin or stdout is closed.
        """
        for name, stream, fd in (("stdin", sys.__stdin__, 0), ("stdout", sys.__stdout__, 1)):
            if stream is None or not _is_open(fd):
                raise LocalProtocolError(
                    f"{name} is closed, but an agent talks to its client through it;"
                    " start the agent from a client, or configure it in an editor"
                )
        _flush_stdout()
        self._blocking = (os.get_blocking(0), os.get_blocking(1))
        self._read_fd, self._write_fd = _private(0, os.O_RDONLY), _private(1, os.O_WRONLY)
        if os.isatty(1):
            from accord.machine.console.control_characters import VisibleMessages

            self._escape = VisibleMessages().feed
        self._saved = (os.dup(0), os.dup(1))
        nowhere = os.open(os.devnull, os.O_RDONLY)
        os.dup2(nowhere, 0)
        os.close(nowhere)
        if _is_open(2):
            os.dup2(2, 1)
        else:
            _to_nowhere(1)
        await super().start(receiver, tasks)

    def write(self, data: bytes) -> None:
        """Write a message, or a part of one."""
        super().write(data if self._escape is None else self._escape(data))

    async def aclose(self) -> None:
        """Close the transport and restore the process's stdin and stdout."""
        if self._saved is None:
            return
        await super().aclose()
        _flush_stdout()
        for saved, fd, blocking in zip(self._saved, (0, 1), self._blocking, strict=True):
            os.set_blocking(saved, blocking)
            os.dup2(saved, fd)
            os.close(saved)
        self._saved = None


__all__ = ["StdioTransport"]
