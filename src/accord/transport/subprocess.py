"""An agent's process as a transport: its stdin and stdout carry frames, its stderr is kept.

The process leads a group of its own, and whatever ends us ends the group.  Its stderr is always
drained, since a full pipe would stop it, and the last words are part of the reason of the end.

What always holds
    * The end is told with exit code or signal and the tail of stderr, as far as they are known.
    * A process that is gone while a child of it holds stdout open does not keep us waiting.
    * After `aclose` no process of the group is alive.
"""

import contextlib
import os
import shlex
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import anyio
from anyio.abc import TaskGroup

from accord.machine.logs import log_redactor
from accord.machine.processes.child_process import Exit, GroupProcess, spawn
from accord.machine.processes.program_lookup import with_program
from accord.transport.pipes import PipeTransport
from accord.transport.transport import STALL_SECONDS_MAX, Ended, Receiver

STDERR_BYTES_KEPT = 64 * 1024
# Of a long command, so much is shown where its end is told.
COMMAND_CHARACTERS_SHOWN = 200
# How long the exit code may lag behind the end of stdout, and the last output behind the exit.
EXIT_SECONDS_MAX = 1.0
LAST_WORDS_SECONDS_MAX = 0.5
# How long a process may take to go by itself when its stdin is closed.
LEAVE_SECONDS_MAX = 2.0

StderrListener = Callable[[bytes], None]


class _Tail:
    """The last bytes of a stream, cut from the front."""

    def __init__(self, listener: StderrListener | None) -> None:
        self._kept = bytearray()
        self._listener = listener
        self.finished = anyio.Event()

    def data_received(self, data: bytes) -> None:
        self._kept += data
        if len(self._kept) > 2 * STDERR_BYTES_KEPT:
            del self._kept[:-STDERR_BYTES_KEPT]
        if self._listener is not None:
            self._listener(data)

    def ended(self, why: Ended) -> None:
        # A listener may have kept something back, such as the first half of a letter.
        finish = getattr(self._listener, "finish", None)
        if finish is not None:
            finish()
        self.finished.set()

    @property
    def text(self) -> str:
        # Before it is cut, and before others take single lines of it: a private key has many.
        whole = log_redactor().text(self._kept.decode("utf-8", "replace"))
        return whole.encode()[-STDERR_BYTES_KEPT:].decode("utf-8", "replace")


class SubprocessTransport:
    """Starts a command when it is started itself, and ends it when it is closed."""

    def __init__(
        self,
        command: Sequence[str],
        *,
        cwd: str | Path | None = None,
        env: Mapping[str, str] | None = None,
        stderr: StderrListener | None = None,
        stall_seconds: float = STALL_SECONDS_MAX,
    ) -> None:
        self._command = tuple(command)
        self._cwd = cwd
        self._env = env
        self._stall_seconds = stall_seconds
        self._tail = _Tail(stderr)
        self._process: GroupProcess | None = None
        self._pipes: PipeTransport | None = None
        self._stderr: PipeTransport | None = None
        self._receiver: Receiver | None = None
        self._tasks: TaskGroup | None = None
        self._told = False
        self._closing = False

    @property
    def command(self) -> tuple[str, ...]:
        """What was started."""
        return self._command

    @property
    def pid(self) -> int | None:
        """The process and its group, once started."""
        return None if self._process is None else self._process.pid

    @property
    def exit(self) -> Exit | None:
        """How the process ended, once it has."""
        return None if self._process is None else self._process.exit

    @property
    def stderr_tail(self) -> str:
        """What the process said on stderr last."""
        return self._tail.text

    @property
    def backlog(self) -> int:
        """Bytes that the process has not taken yet."""
        return 0 if self._pipes is None else self._pipes.backlog

    async def start(self, receiver: Receiver, tasks: TaskGroup) -> None:
        """Start the process and begin to read.

        Raises:
            SpawnFailed: there is no such program or folder; the message says which.
        """
        self._receiver, self._tasks = receiver, tasks
        stdin_read, stdin_write = os.pipe()
        stdout_read, stdout_write = os.pipe()
        stderr_read, stderr_write = os.pipe()
        try:
            self._process = await spawn(
                with_program(self._command, self._env),
                cwd=self._cwd,
                env=self._env,
                stdin=stdin_read,
                stdout=stdout_write,
                stderr=stderr_write,
            )
        except BaseException:
            for fd in (stdin_write, stdout_read, stderr_read):
                os.close(fd)
            raise
        finally:
            for fd in (stdin_read, stdout_write, stderr_write):
                os.close(fd)
        self._pipes = PipeTransport(
            stdout_read, stdin_write, stall_seconds=self._stall_seconds, on_end=self._pipes_ended
        )
        self._stderr = PipeTransport(stderr_read, stderr_read)
        await self._stderr.start(self._tail, tasks)
        await self._pipes.start(receiver, tasks)
        tasks.start_soon(self._watch_exit, name="agent process")

    def write(self, data: bytes) -> None:
        """Send to the process's stdin."""
        assert self._pipes is not None
        self._pipes.write(data)

    async def drain(self) -> None:
        """Wait until the process has taken most of what was written."""
        assert self._pipes is not None
        await self._pipes.drain()

    def pause(self) -> None:
        """Stop reading stdout."""
        if self._pipes is not None:
            self._pipes.pause()

    def resume(self) -> None:
        """Read stdout again."""
        if self._pipes is not None:
            self._pipes.resume()

    def close_write(self) -> None:
        """Tell the process that no more comes; what it still says is read until it ends."""
        if self._pipes is not None:
            self._pipes.close_write()

    async def _watch_exit(self) -> None:
        """The process may be gone while a child of it keeps stdout open."""
        assert self._process is not None
        assert self._pipes is not None
        await self._process.wait()
        # What it wrote before it ended is read to its end, unless a child of it holds the pipe
        # open and says nothing.  While our own reader has paused, there is no hurry.
        heard = -1
        while not self._pipes.has_ended and (heard != self._pipes.read_bytes):
            heard = self._pipes.read_bytes
            await anyio.sleep(LAST_WORDS_SECONDS_MAX)
            while self._pipes.is_paused and not self._pipes.has_ended:
                heard = -1
                await anyio.sleep(LAST_WORDS_SECONDS_MAX)
        self._pipes.end(Ended("the agent ended"))

    def _pipes_ended(self, why: Ended) -> None:
        assert self._tasks is not None
        if not self._closing:
            self._tasks.start_soon(self._explain_end, why, name="agent end")

    async def _explain_end(self, why: Ended) -> None:
        assert self._process is not None
        with anyio.move_on_after(EXIT_SECONDS_MAX):
            await self._process.wait()
            await self._tail.finished.wait()
        self._tell(why, self._process.exit)

    def _tell(self, why: Ended, status: Exit | None) -> None:
        if self._told:
            return
        self._told = True
        assert self._receiver is not None
        line = shlex.join(self._command)
        if len(line) > COMMAND_CHARACTERS_SHOWN:
            line = f"{line[:COMMAND_CHARACTERS_SHOWN]}…"
        if status is None:
            reason = f"the agent `{line}`: {why.reason}"
        else:
            reason = f"the agent `{line}` ended: {status}"
        self._receiver.ended(
            Ended(reason, None if status is None else str(status), self._tail.text, why.clean)
        )

    async def aclose(self) -> None:
        """Close stdin, then SIGTERM, then SIGKILL to the whole group, each within its bound."""
        self._closing = True
        if self._pipes is not None and self._process is not None:
            self._pipes.close_write()
            with anyio.CancelScope(shield=True):
                with anyio.move_on_after(LEAVE_SECONDS_MAX):
                    await self._process.wait()
                await self._process.end()
            await self._pipes.aclose()
        if self._stderr is not None:
            with contextlib.suppress(OSError):
                await self._stderr.aclose()
        if self._receiver is not None and self._process is not None:
            self._tell(Ended("closed here", clean=True), self._process.exit)


__all__ = ["SubprocessTransport"]
