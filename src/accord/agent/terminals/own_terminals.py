"""Terminals of a session that are processes of the agent; the client gets their output.

A command in the foreground ends with the tool call that runs it.  One in the background goes on
after the turn, and every state of the session lists it until its exit is reported.

What always holds
    * A terminal is announced before it is listed or shown, and its id is never used again.
    * Its exit is reported exactly once, after its last output and before it leaves the list.
    * A command and the processes that it started have ended when its exit is reported.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import anyio

from accord.agent.session.updates import SessionUpdates
from accord.agent.terminals.command import Done, Job
from accord.errors import LocalProtocolError
from accord.machine.redacted_logs import logger
from accord.schema import v2
from accord.schema.struct import UNSET

if TYPE_CHECKING:
    from accord.machine import Exit, Terminal, Terminals

# How long a command that is no longer needed may take to end before it is killed.
END_SECONDS_MAX = 1.0

_log = logger("accord.agent")


class TerminalHandle:
    """A command that runs in a process of the agent, shown to the client as a terminal."""

    def __init__(self, owner: OwnTerminals, terminal_id: str, job: Job) -> None:
        from accord.agent.terminals.output_report import OutputReport

        self._owner = owner
        self._job = job
        self._report = OutputReport(job.told_bytes, None if job.mask is None else job.mask())
        self._process: Terminal | None = None
        self._announced = anyio.Event()
        self._over = anyio.Event()
        self._stopped = False
        self.id = terminal_id

    @property
    def is_over(self) -> bool:
        """Whether the command has ended and the end was reported."""
        return self._over.is_set()

    @property
    def done(self) -> Done:
        """Its output so far, and how it ended if it has."""
        if self._process is None:
            return Done(None, "", cancelled=self._stopped)
        shown = self._process.output()
        code = None if shown.exit is None else shown.exit.code
        signal = None if shown.exit is None else shown.exit.signal
        return Done(code, shown.text, signal, shown.truncated, cancelled=self._stopped)

    async def wait(self) -> Done:
        """Wait until the command has ended and the end was reported; return how it ended."""
        await self._over.wait()
        return self.done

    async def kill(self) -> None:
        """Terminate it, and kill it if that does not help."""
        assert self._process is not None
        await self._process.kill()

    def stop(self) -> None:
        """Terminate it in the background, for the client; its exit is reported then."""
        self._stopped = True
        self._owner.updates.connection.tasks.start_soon(self.kill, name=f"stop {self.id}")

    async def end(self) -> None:
        """Terminate it within a bound, shielded from cancellation, and wait for its report."""
        with anyio.CancelScope(shield=True):
            if not self.is_over:
                with anyio.move_on_after(END_SECONDS_MAX):
                    await self.kill()
            await self._over.wait()

    async def _open(self) -> None:
        """Start the process; return when the client knows of it."""
        updates = self._owner.updates
        self._process = await self._owner.processes.create(
            self._job.command,
            self._job.args,
            env=self._job.env,
            cwd=self._job.cwd,
            output_byte_limit=self._job.output_bytes,
            on_output=self._on_output,
            without_env=self._job.without_env,
        )
        updates.connection.tasks.start_soon(self._follow, name=f"follow {self.id}")
        try:
            await self._announced.wait()
        except BaseException:
            await self.end()
            raise

    async def _on_output(self, data: bytes) -> None:
        await self._announced.wait()
        await self._send(self._report.feed(data))

    async def _send(self, data: bytes) -> None:
        if data:
            update = v2.TerminalOutputChunk(terminal_id=self.id, data=data)
            await self._owner.updates.emit(update)

    async def _follow(self) -> None:
        """Report it from its start to its exit, in a task that does not end with the turn."""
        assert self._process is not None
        updates = self._owner.updates
        try:
            await updates.emit(
                v2.TerminalUpdate(
                    terminal_id=self.id,
                    command=self._job.line,
                    cwd=self._job.cwd,
                    capabilities=v2.TerminalCapabilities(cancel=v2.TerminalCancelCapabilities()),
                )
            )
            self._announced.set()
            ended = await self._process.wait()
            await self._owner.processes.release(self._process.id)
            await self._send(self._report.finish())
            await self._report_exit(ended)
        except Exception as error:  # noqa: BLE001 - one terminal must not end the connection
            # The session or the client is gone, or the log fails: nothing can be sent.
            _log.warning("the end of terminal %s was not reported: %s", self.id, error)
            await self._process.end()
        finally:
            self._announced.set()
            self._owner.ended(self)
            self._over.set()

    async def _report_exit(self, ended: Exit) -> None:
        updates = self._owner.updates
        update = v2.TerminalUpdate(
            terminal_id=self.id,
            exit_status=v2.TerminalExitStatus(
                exit_code=UNSET if ended.code is None else ended.code,
                signal=UNSET if ended.signal is None else ended.signal,
            ),
            capabilities=None,
        )
        await updates.present()
        await updates.record_only(update)
        # Without an await in between: no state may list it after its exit, nor miss it before.
        updates.post(update)
        self._owner.ended(self)


class OwnTerminals:
    """Guards: what is listed as background work has been announced and has not ended."""

    def __init__(self, updates: SessionUpdates, post_state: Callable[[], None]) -> None:
        """`post_state` is called when the list of background work changes."""
        self.updates = updates
        self._post_state = post_state
        self._processes: Terminals | None = None
        self._running: dict[str, TerminalHandle] = {}
        self._background: dict[str, TerminalHandle] = {}
        # Whether states list background work; once they do, they always do.
        self.reports = False
        self._closed = False

    @property
    def processes(self) -> Terminals:
        """The processes, which end with the connection at the latest."""
        if self._processes is None:
            # Imported here to keep the start of an agent fast.
            from accord.machine.terminals.terminals import Terminals

            self._processes = Terminals(self.updates.connection.tasks)
        return self._processes

    def running(self, terminal_id: str) -> TerminalHandle | None:
        """The terminal with this id while its command runs."""
        return self._running.get(terminal_id)

    def running_ids(self) -> frozenset[str]:
        """The ids of all terminals whose commands run."""
        return frozenset(self._running)

    def background(self) -> Sequence[v2.BackgroundWork] | None:
        """The background work, or None if it was never reported."""
        if not self.reports:
            return None
        return [v2.BackgroundTerminal(terminal_id=one) for one in self._background]

    async def start(self, job: Job, *, background: bool = False) -> TerminalHandle:
        """Start a command and announce it to the client.

        Raises:
            LocalProtocolError: the session is closed, so nothing would end the command.
            SpawnFailed: the command could not be started, and was not announced.
        """
        if self._closed:
            raise LocalProtocolError(f"session {self.updates.session_id} is closed")
        terminal = TerminalHandle(self, self.updates.new_id("term"), job)
        # The client may stop it as soon as it is announced.
        self._running[terminal.id] = terminal
        try:
            await terminal._open()  # pyright: ignore[reportPrivateUsage]
        except BaseException:
            self._running.pop(terminal.id, None)
            raise
        if background and not terminal.is_over:
            self.reports = True
            self._background[terminal.id] = terminal
            self._post_state()
        return terminal

    def ended(self, terminal: TerminalHandle) -> None:
        """Remove a terminal from the lists, since its exit was reported."""
        self._running.pop(terminal.id, None)
        if self._background.pop(terminal.id, None) is not None:
            self._post_state()

    async def close(self) -> None:
        """End every command, also in the background, and refuse to start others."""
        self._closed = True
        async with anyio.create_task_group() as tasks:
            for terminal in list(self._running.values()):
                tasks.start_soon(terminal.end)
        if self._processes is not None:
            # Including processes that commands detached.
            await self._processes.close_all()
