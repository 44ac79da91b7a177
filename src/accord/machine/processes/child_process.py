"""Child processes in process groups of their own, and their orderly end.

It must not know what the programs say to us.

Always holds
    * A process that `spawn` returned is ended by `end`, by leaving its `async with`, or by the
      end of this process (`process_groups.py`), with everything that it started (`descendants.py`).
    * Cancelling hurries: a cancelled `spawn` leaves nothing behind, a cancelled `end` goes
      straight to SIGKILL.
"""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from types import TracebackType

import anyio
import anyio.abc
from anyio import to_thread
from anyio.lowlevel import checkpoint_if_cancelled

from accord.errors import SpawnFailed
from accord.machine.processes import descendants
from accord.machine.processes.process_groups import ProcessGroup, track, watch

STDIN_SECONDS = 2.0
"""How long a process may take to leave after its stdin was closed."""

TERMINATE_SECONDS = 2.0
"""How long its group may take after SIGTERM."""

KILL_SECONDS = 2.0
"""How long we wait for the system to carry out SIGKILL before we stop watching."""

POLL_SECONDS = (0.01, 0.1)
"""How often a group without its leader is looked at, at first and later.

No event tells when a group is empty, and each look reads the process table.
"""


@dataclass(frozen=True)
class Exit:
    """How a process ended: `code` or the name of the `signal`; neither where it is unknown."""

    code: int | None = None
    signal: str | None = None

    @classmethod
    def from_returncode(cls, returncode: int) -> Exit:
        """Read the number of the subprocess module: negative means a signal."""
        if returncode >= 0:
            return cls(code=returncode)
        try:
            return cls(signal=signal.Signals(-returncode).name)
        except ValueError:
            return cls(signal=f"SIG{-returncode}")

    def __str__(self) -> str:
        if self.signal is not None:
            return f"killed by {self.signal}"
        return "exit unknown" if self.code is None else f"exit code {self.code}"


def environment(
    extra: Mapping[str, str] | None = None,
    *,
    inherited: Mapping[str, str] | None = None,
    without: Sequence[str] = (),
) -> dict[str, str]:
    """The variables for a child: `inherited` (ours by default), less `without`, plus `extra`.

    `without` has names or shell patterns such as `AWS_*`.  `extra` wins: what a caller names
    explicitly is given even where a pattern matches it.
    """
    base = os.environ if inherited is None else inherited
    kept = {
        name: value
        for name, value in base.items()
        if not any(fnmatchcase(name, pattern) for pattern in without)
    }
    return {**kept, **(extra or {})}


class GroupProcess:
    """A child process that leads a process group of its own."""

    def __init__(self, process: anyio.abc.Process, group: ProcessGroup, mark: str = "") -> None:
        self._process = process
        self.group = group
        self._mark = mark

    @property
    def pid(self) -> int:
        """The process id, which is also the id of its group."""
        return self._process.pid

    @property
    def stdin(self) -> anyio.abc.ByteSendStream | None:
        """The pipe to it, if one was asked for."""
        return self._process.stdin

    @property
    def stdout(self) -> anyio.abc.ByteReceiveStream | None:
        """The pipe from it, if one was asked for."""
        return self._process.stdout

    @property
    def stderr(self) -> anyio.abc.ByteReceiveStream | None:
        """The pipe from its standard error, if one was asked for."""
        return self._process.stderr

    @property
    def exit(self) -> Exit | None:
        """How it ended, or None while it runs."""
        returncode = self._process.returncode
        return None if returncode is None else Exit.from_returncode(returncode)

    async def wait(self) -> Exit:
        """Wait until the process itself has ended; its children may live on and hold pipes."""
        returncode = await self._process.wait()
        self.group.leader_reaped()
        return Exit.from_returncode(returncode)

    async def end(
        self,
        *,
        stdin_seconds: float = STDIN_SECONDS,
        terminate_seconds: float = TERMINATE_SECONDS,
        kill_seconds: float = KILL_SECONDS,
    ) -> Exit:
        """Close stdin, then SIGTERM, then SIGKILL to the group; pipes are closed at the end.

        Programs that left the group (`setsid`, daemons) get SIGTERM and SIGKILL after that.

        Returns when the process and its group are gone, at the latest after the three bounds
        together, and the last two once more where programs had left the group.  A process that has
        ended already only loses what is left of its group.
        """
        hurried = True
        try:
            if self._process.stdin is not None:
                await self._close_stdin()
                await self._gone_within(stdin_seconds, leader_only=True)
            await self.stop_group(terminate_seconds, kill_seconds)
            hurried = False
        finally:
            with anyio.CancelScope(shield=True):
                await self.end_now(kill_seconds)
                await end_tree(self._mark, 0.0 if hurried else terminate_seconds, kill_seconds)
        return self.exit or Exit()

    async def stop_group(
        self, terminate_seconds: float = TERMINATE_SECONDS, kill_seconds: float = KILL_SECONDS
    ) -> None:
        """Send SIGTERM to the group, then SIGKILL to the rest.  Pipes stay open."""
        try:
            if self.group.signal(signal.SIGTERM):
                # A stopped process acts on SIGTERM only after it was woken.
                self.group.signal(signal.SIGCONT)
                await self._gone_within(terminate_seconds)
        finally:
            if self.group.signal(signal.SIGKILL):
                with anyio.CancelScope(shield=True):
                    await self._gone_within(kill_seconds)

    async def _gone_within(self, seconds: float, *, leader_only: bool = False) -> None:
        with anyio.move_on_after(seconds):
            await self.wait()
            pause, pause_max = POLL_SECONDS
            while not leader_only and self.group.alive():
                await anyio.sleep(pause)
                pause = min(2 * pause, pause_max)

    async def _close_stdin(self) -> None:
        assert self._process.stdin is not None
        try:
            await self._process.stdin.aclose()
        except (OSError, anyio.BrokenResourceError, anyio.ClosedResourceError):
            # It had left before, with something of ours still unread.
            pass

    async def end_now(self, kill_seconds: float = KILL_SECONDS) -> Exit:
        """SIGKILL to the group at once; then no member lives and no pipe is open."""
        self.group.signal(signal.SIGKILL)
        with anyio.move_on_after(kill_seconds):
            await self.wait()
        self.group.signal(signal.SIGKILL)
        self.group.forget()
        if self._process.returncode is not None:
            await self._process.aclose()
        return self.exit or Exit()

    async def __aenter__(self) -> GroupProcess:
        return self

    async def __aexit__(
        self,
        exc_type: type[BaseException] | None,
        exc: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        await self.end()


async def end_tree(
    mark: str, terminate_seconds: float = TERMINATE_SECONDS, kill_seconds: float = KILL_SECONDS
) -> None:
    """End whatever carries this mark; see `spawn`."""
    await to_thread.run_sync(descendants.end_marked, mark, terminate_seconds, kill_seconds)


async def spawn(
    command: Sequence[str],
    *,
    cwd: str | os.PathLike[str] | None = None,
    env: Mapping[str, str] | None = None,
    stdin: int = subprocess.PIPE,
    stdout: int = subprocess.PIPE,
    stderr: int = subprocess.PIPE,
    mark: str | None = None,
) -> GroupProcess:
    """Start a program in a session and process group of its own.

    It carries a mark in its environment (`descendants.py`), a new one unless several programs are
    to share one.

    Raises:
        SpawnFailed: there is no such program or directory, or the system refused; the message
            names the command.
    """
    if not command:
        raise SpawnFailed("cannot start a program: the command is empty")
    child: GroupProcess | None = None
    mark = mark or descendants.new_mark()
    watch()
    # Shielded, so that a cancellation never comes between fork and our knowing of it.
    with anyio.CancelScope(shield=True):
        try:
            process = await anyio.open_process(
                list(command),
                stdin=stdin,
                stdout=stdout,
                stderr=stderr,
                cwd=cwd,
                env=descendants.marked(env, mark),
                start_new_session=True,
            )
        except (OSError, ValueError) as error:
            raise SpawnFailed(_why_not(command[0], cwd, error)) from error
        child = GroupProcess(process, track(process.pid), mark)
    assert child is not None
    try:
        await checkpoint_if_cancelled()
    except BaseException:
        with anyio.CancelScope(shield=True):
            await child.end_now()
        raise
    return child


def _why_not(program: str, cwd: str | os.PathLike[str] | None, error: Exception) -> str:
    """One sentence that names the program and what is wrong."""
    if cwd is not None and not os.path.isdir(cwd):
        wrong = "is not a directory" if os.path.exists(cwd) else "does not exist"
        return f"cannot start {program!r}: the working directory {os.fspath(cwd)!r} {wrong}"
    if isinstance(error, FileNotFoundError):
        return f"cannot start {program!r}: no such program"
    if isinstance(error, PermissionError):
        return f"cannot start {program!r}: permission denied"
    reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
    return f"cannot start {program!r}: {reason}"
