"""Commands that run for an agent, and their output, up to a bound.

It must not know wire types or who asks; permissions and the choice of directory are the caller's.

Always holds
    * No command outlives its release, `close_all`, or the task group it was given to.  Until then
      what a command left running in the background (`server &`) may go on.
    * A program that a command detached (`setsid`, a daemon) outlives the release, so that one
      command can start a server for the next; `close_all` ends it.
    * Exit is known when the command itself has ended, even if its children hold the pipe; what it
      printed before is then in the output.
    * stdin is empty, stdout and stderr share one pipe, so their order is the order of arrival.
      Who listens to stderr apart gets two pipes, and the order that they are read in.
"""

from __future__ import annotations

import os
import subprocess
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass

import anyio
import anyio.abc
from anyio.lowlevel import checkpoint

from accord.machine.errors import MachineError, TerminalUnknown, TooManyTerminals
from accord.machine.processes.child_process import (
    KILL_SECONDS,
    TERMINATE_SECONDS,
    Exit,
    GroupProcess,
    end_tree,
    environment,
    spawn,
)
from accord.machine.processes.descendants import new_mark
from accord.machine.processes.program_lookup import find_program
from accord.machine.redacted_logs import logger
from accord.machine.terminals.output_buffer import OUTPUT_BYTES_DEFAULT, OutputBuffer

TERMINALS_MAX = 128
"""Terminals of one registry that are not released yet."""


READ_BYTES = 65536
"""Most bytes taken from the pipe at once: as much as it holds."""

QUIET_SECONDS = 0.1
"""Output counts as drained after the exit when nothing came for this long."""

DRAIN_SECONDS_MAX = 2.0
"""The exit is told after this time even if output still comes."""

SHELL_CHARACTERS = frozenset(" \t\r\n|&;<>()$`\\\"'*?~")
"""A command without arguments that has one of these is a line for the shell."""

OutputListener = Callable[[bytes], Awaitable[None]]

_log = logger("accord.machine")


@dataclass(frozen=True)
class TerminalOutput:
    """What a terminal shows now; `exit` is None while the command runs."""

    text: str
    truncated: bool
    exit: Exit | None


def command_line(command: str, args: Sequence[str] = (), *, shell: str | None = None) -> list[str]:
    """What to execute: the program with its arguments, or a shell with the line it is to run.

    Real agents send whole lines such as `ls | wc` as the command with no arguments.  A program
    whose own name has a space is found before the shell is asked.
    """
    if args or SHELL_CHARACTERS.isdisjoint(command) or find_program(command) is not None:
        return [command, *args]
    return [shell or find_program("bash") or "/bin/sh", "-c", command]


class Terminal:
    """One command, from its start to its release.  Made by `Terminals.create`."""

    def __init__(
        self,
        terminal_id: str,
        process: GroupProcess,
        buffer: OutputBuffer,
        on_output: OutputListener | None,
        on_stderr: OutputListener | None = None,
    ) -> None:
        self.id = terminal_id
        self._process = process
        self._buffer = buffer
        # What is pumped, and who hears it; None once its listener has failed.
        self._listeners = {"stdout": on_output, "stderr": on_stderr}
        self._pumping = 1 if on_stderr is None else 2
        self._exit: Exit | None = None
        self._settled = anyio.Event()
        self._pipe_ended = anyio.Event()
        self._over = anyio.Event()
        self._scope = anyio.CancelScope()
        self._pieces = 0

    @property
    def pid(self) -> int:
        """The command's process id, also the id of its group."""
        return self._process.pid

    def output(self) -> TerminalOutput:
        """The newest output within the limit, and the exit if the command has ended."""
        return TerminalOutput(self._buffer.text, self._buffer.truncated, self._exit)

    async def wait(self) -> Exit:
        """Wait until the command has ended and its output was taken."""
        await self._settled.wait()
        return self._exit or Exit()

    async def kill(self) -> None:
        """End the command and what it started: SIGTERM, then SIGKILL.  Output stays readable."""
        await self._process.stop_group(TERMINATE_SECONDS, KILL_SECONDS)
        with anyio.move_on_after(KILL_SECONDS):
            await self._settled.wait()

    def signal(self, number: int) -> bool:
        """Send a signal to the command and what it started; False when nothing of it is left."""
        return self._process.group.signal(number)

    async def end(self) -> None:
        """Kill the command and close its pipe.  Waiters get the exit."""
        try:
            await self.kill()
        finally:
            self._scope.cancel()
            with anyio.CancelScope(shield=True):
                await self._over.wait()

    async def live(self) -> None:
        """The terminal's own task: takes output, notes the exit, cleans up when it is cancelled."""
        try:
            with self._scope:
                async with anyio.create_task_group() as tasks:
                    tasks.start_soon(self._pump, "stdout", self._process.stdout)
                    if self._pumping > 1:
                        tasks.start_soon(self._pump, "stderr", self._process.stderr)
                    exit_ = await self._process.wait()
                    await self._drain()
                    self._settle(exit_)
                    await anyio.sleep_forever()
        finally:
            with anyio.CancelScope(shield=True):
                self._settle(await self._process.end_now())
            self._over.set()

    def _settle(self, exit_: Exit) -> None:
        if self._exit is None:
            self._exit = exit_
            self._settled.set()

    async def _pump(self, name: str, pipe: anyio.abc.ByteReceiveStream | None) -> None:
        assert pipe is not None
        try:
            while True:
                data = await pipe.receive(READ_BYTES)
                self._pieces += 1
                self._buffer.feed(data)
                await self._tell_listener(name, data)
                # A command that prints without end must not keep others from their turn.
                await checkpoint()
        except (anyio.EndOfStream, anyio.ClosedResourceError, anyio.BrokenResourceError):
            pass
        finally:
            self._pumping -= 1
            if not self._pumping:
                self._buffer.finish()
                self._pipe_ended.set()

    async def _tell_listener(self, name: str, data: bytes) -> None:
        listener = self._listeners[name]
        if listener is None:
            return
        try:
            await listener(data)
        except Exception:  # noqa: BLE001 - the listener's fault must not stop the command
            self._listeners[name] = None
            _log.exception(
                "the output listener of terminal %s failed and is not asked again", self.id
            )

    async def _drain(self) -> None:
        with anyio.move_on_after(DRAIN_SECONDS_MAX):
            seen = -1
            while seen != self._pieces and not self._pipe_ended.is_set():
                seen = self._pieces
                with anyio.move_on_after(QUIET_SECONDS):
                    await self._pipe_ended.wait()


class Terminals:
    """The terminals of one connection.  Every method that takes an id may raise TerminalUnknown."""

    def __init__(
        self,
        tasks: anyio.abc.TaskGroup,
        *,
        count_max: int = TERMINALS_MAX,
        shell: str | None = None,
        without_env: Sequence[str] = (),
    ) -> None:
        """`tasks` runs the terminals; when it is cancelled they are killed.

        `shell` runs whole lines (bash where there is one, else sh); `without_env` are names or
        patterns of variables that commands do not inherit.
        """
        self._tasks = tasks
        self._count_max = count_max
        self._shell = shell
        self._without_env = tuple(without_env)
        self._terminals: dict[str, Terminal] = {}
        self._starting = 0
        self._closed = False
        self._mark: str | None = None

    def __len__(self) -> int:
        return len(self._terminals)

    def __getitem__(self, terminal_id: str) -> Terminal:
        try:
            return self._terminals[terminal_id]
        except KeyError:
            raise TerminalUnknown(terminal_id) from None

    async def create(
        self,
        command: str,
        args: Sequence[str] = (),
        *,
        env: Mapping[str, str] | None = None,
        cwd: str | os.PathLike[str] | None = None,
        output_byte_limit: int | None = None,
        on_output: OutputListener | None = None,
        on_stderr: OutputListener | None = None,
        without_env: Sequence[str] = (),
    ) -> Terminal:
        """Start a command and return at once; its `id` is good until it is released.

        `without_env` is not inherited by this one, beside what none of the registry inherits.

        `on_output` is awaited with every piece of output as it came (bytes, characters may be
        split); while it waits, the command's printing waits too.  With `on_stderr` that one hears
        what comes on stderr, and `on_output` the rest.

        Raises:
            SpawnFailed: the command could not be started; the message names it.
            TooManyTerminals: release one first.
        """
        if self._closed:
            raise MachineError("the terminals are closed")
        if len(self._terminals) + self._starting >= self._count_max:
            raise TooManyTerminals(self._count_max)
        bytes_max = OUTPUT_BYTES_DEFAULT if output_byte_limit is None else output_byte_limit
        buffer = OutputBuffer(bytes_max)
        self._mark = self._mark or new_mark()
        self._starting += 1
        try:
            process = await spawn(
                command_line(command, args, shell=self._shell),
                cwd=cwd,
                env=environment(env, without=(*self._without_env, *without_env)),
                stdin=subprocess.DEVNULL,
                stderr=subprocess.STDOUT if on_stderr is None else subprocess.PIPE,
                mark=self._mark,
            )
        finally:
            self._starting -= 1
        terminal_id = f"term_{os.urandom(16).hex()}"
        terminal = Terminal(terminal_id, process, buffer, on_output, on_stderr)
        try:
            if self._closed:
                raise MachineError("the terminals were closed")
            self._tasks.start_soon(terminal.live, name=f"terminal {terminal.id}")
        except BaseException:
            with anyio.CancelScope(shield=True):
                await process.end_now()
            raise
        self._terminals[terminal.id] = terminal
        return terminal

    def output(self, terminal_id: str) -> TerminalOutput:
        """Return the output of a terminal; see `Terminal.output`."""
        return self[terminal_id].output()

    async def wait(self, terminal_id: str) -> Exit:
        """Wait for the end of a terminal; see `Terminal.wait`."""
        return await self[terminal_id].wait()

    async def kill(self, terminal_id: str) -> None:
        """See `Terminal.kill`: the id stays good."""
        await self[terminal_id].kill()

    async def release(self, terminal_id: str) -> None:
        """End the command; the id is unknown from the first moment on."""
        terminal = self[terminal_id]
        del self._terminals[terminal_id]
        await terminal.end()

    async def close_all(self) -> None:
        """End every command at the same time, with all that they detached; take no new one."""
        self._closed = True
        terminals = tuple(self._terminals.values())
        self._terminals.clear()
        async with anyio.create_task_group() as tasks:
            for terminal in terminals:
                tasks.start_soon(terminal.end)
        if self._mark is not None:
            with anyio.CancelScope(shield=True):
                await end_tree(self._mark)
