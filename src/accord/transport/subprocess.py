"""An agent's process as a transport: frames on its stdin and stdout; its stderr is kept.

The process leads a process group of its own, which ends with us.  Its stderr is always read, since
a full pipe would stop it, and its last lines are part of the reason for the end.

What always holds
    * The end is reported with exit code or signal and the tail of stderr, as far as known.
    * If the process exits while a child of it holds stdout open, we do not wait for the child.
    * After `aclose` no process of the group is alive.
"""

import contextlib
import os
import shlex
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import anyio
from anyio.abc import TaskGroup

from accord.machine.own_command_line import readable_command
from accord.machine.processes.child_process import Exit, GroupProcess, spawn
from accord.machine.processes.program_lookup import with_program
from accord.machine.redacted_logs import log_redactor
from accord.transport.pipes import PipeTransport
from accord.transport.transport import STALL_SECONDS_MAX, Ended, Receiver

STDERR_BYTES_KEPT = 64 * 1024
# How much of a long command is shown in messages.
COMMAND_CHARACTERS_SHOWN = 200
# How long to wait for the exit code after the end of stdout, and for output after the exit.
EXIT_SECONDS_MAX = 1.0
LAST_OUTPUT_SECONDS_MAX = 0.5
# How long a process may take to exit after its stdin is closed.
LEAVE_SECONDS_MAX = 2.0

# A process of ours that connects to a URL, and how what it says about its end begins.
_CONNECT = ("accord", "connect")
_CONNECT_SAYS = "accord connect: "

StderrListener = Callable[[bytes], None]


class _Tail:
    """Keeps the last bytes of a stream."""

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
        # A listener may have held something back, such as the first half of a character.
        finish = getattr(self._listener, "finish", None)
        if finish is not None:
            finish()
        self.finished.set()

    @property
    def text(self) -> str:
        # Redacted as a whole, since a private key spans many lines.
        whole = log_redactor().text(self._kept.decode("utf-8", "replace"))
        return whole.encode()[-STDERR_BYTES_KEPT:].decode("utf-8", "replace")


class ConnectNotices:
    """Hands on what `accord connect` says while it runs: that its connection is interrupted.

    Its last line is the reason of its end, and is left out here; see `connect_failure`.
    """

    def __init__(self, say: Callable[[str], object]) -> None:
        self._say = say
        self._rest = b""

    @classmethod
    def of(cls, command: Sequence[str], say: Callable[[str], object]) -> "ConnectNotices | None":
        """Return a listener for the stderr of a command; None if it is another one."""
        return cls(say) if readable_command(tuple(command))[:2] == _CONNECT else None

    def __call__(self, data: bytes) -> None:
        *lines, rest = (self._rest + data).split(b"\n")
        self._rest = rest[-STDERR_BYTES_KEPT:]
        for line in lines:
            text = line.decode("utf-8", "replace").strip()
            if text and not text.startswith(_CONNECT_SAYS):
                self._say(text)


def connect_failure(words: Sequence[str], stderr: str) -> str | None:
    """Return why `accord connect` ended, in its own words; None for other commands.

    The user knows nothing of this process: its exit code says nothing of the remote agent.
    """
    lines = stderr.splitlines()
    if tuple(words[:2]) != _CONNECT or not lines or not lines[-1].startswith(_CONNECT_SAYS):
        return None
    return lines[-1].removeprefix(_CONNECT_SAYS)


class SubprocessTransport:
    """Starts a command in `start` and ends it in `aclose`."""

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
        return self._command

    @property
    def pid(self) -> int | None:
        """The id of the process and of its group, once started."""
        return None if self._process is None else self._process.pid

    @property
    def exit(self) -> Exit | None:
        """The exit status, once the process has ended."""
        return None if self._process is None else self._process.exit

    @property
    def stderr_tail(self) -> str:
        """The end of the process's stderr."""
        return self._tail.text

    @property
    def backlog(self) -> int:
        """Bytes that the process has not taken yet."""
        return 0 if self._pipes is None else self._pipes.backlog

    async def start(self, receiver: Receiver, tasks: TaskGroup) -> None:
        """Start the process and start to read.

        Raises:
            SpawnFailed: the program or folder does not exist; the message says which.
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
        """Write to the process's stdin."""
        assert self._pipes is not None
        self._pipes.write(data)

    async def drain(self) -> None:
        """Wait until the process has taken most of what was written."""
        assert self._pipes is not None
        await self._pipes.drain()

    def pause(self) -> None:
        if self._pipes is not None:
            self._pipes.pause()

    def resume(self) -> None:
        if self._pipes is not None:
            self._pipes.resume()

    def close_write(self) -> None:
        """Close the process's stdin; its output is read until it ends."""
        if self._pipes is not None:
            self._pipes.close_write()

    async def _watch_exit(self) -> None:
        """End the transport when the process exits, even if a child keeps stdout open."""
        assert self._process is not None
        assert self._pipes is not None
        await self._process.wait()
        # Read its remaining output, unless a child holds the pipe open and writes nothing.
        # While our own reader is paused, keep waiting.
        bytes_before = -1
        while not self._pipes.has_ended and (bytes_before != self._pipes.read_bytes):
            bytes_before = self._pipes.read_bytes
            await anyio.sleep(LAST_OUTPUT_SECONDS_MAX)
            while self._pipes.is_paused and not self._pipes.has_ended:
                bytes_before = -1
                await anyio.sleep(LAST_OUTPUT_SECONDS_MAX)
        self._pipes.end(Ended("the agent exited"))

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
        words = readable_command(self._command)
        failure = connect_failure(words, self._tail.text)
        if failure is not None and status is not None:
            self._receiver.ended(Ended(failure, clean=why.clean))
            return
        line = shlex.join(words)
        if len(line) > COMMAND_CHARACTERS_SHOWN:
            line = f"{line[:COMMAND_CHARACTERS_SHOWN]}…"
        if status is None:
            reason = f"the agent `{line}`: {why.reason}"
        else:
            reason = f"the agent `{line}` exited: {status}"
        self._receiver.ended(
            Ended(reason, None if status is None else str(status), self._tail.text, why.clean)
        )

    async def aclose(self) -> None:
        """Close stdin, then send SIGTERM and SIGKILL to the whole group, each after a while."""
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
