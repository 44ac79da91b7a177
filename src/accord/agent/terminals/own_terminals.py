"""Terminals of a session that are the agent's own processes, told to the client as they print.

A command of the foreground ends with the tool call that runs it.  One of the background goes on
after the turn, and every state that the session reports lists it until its exit was told.

What always holds
    * A terminal is announced before it is listed or shown, and its id is never used again.
    * Its exit is told exactly once, after its last output and before it leaves the list.
    * A command, and what it started, is gone when its exit was told.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple, cast

import anyio

from accord.agent.serving.outgoing_checks import check_text
from accord.errors import LocalProtocolError
from accord.machine.logs import logger
from accord.schema import v2
from accord.schema.struct import UNSET

if TYPE_CHECKING:
    from accord.agent.session.session import AgentSession
    from accord.agent.terminals.output_report import OutputMask
    from accord.machine import Exit, Terminal, Terminals

# How long a command that is no longer wanted may take to leave by itself.
END_SECONDS_MAX = 1.0

_log = logger("accord.agent")


class Done(NamedTuple):
    """How a command ended.  `exit_code` is None when a signal ended it or it never ran."""

    exit_code: int | None
    output: str
    signal: str | None = None
    truncated: bool = False
    timed_out: bool = False
    denied: bool = False
    cancelled: bool = False
    # Where the client tells them apart; `output` has both, in the order in which they came.
    stdout: str | None = None
    stderr: str | None = None
    pid: int | None = None


def check_environment(env: Mapping[str, object]) -> dict[str, str]:
    """Variables for a command, if they are text.

    Raises:
        LocalProtocolError: one is not.
    """
    for name, value in env.items():
        check_text(f"the variable {name!r} of a command", value)
    return cast("dict[str, str]", dict(env))


def check_words(*words: object) -> None:
    """A command and its arguments are text; a list in their place is a common slip.

    Raises:
        LocalProtocolError: one is not.
    """
    for word in words:
        if not isinstance(word, str):
            raise LocalProtocolError(
                f"a command is run as run('git', 'status') or run('git status'), not with {word!r}"
            )
    if not words[0]:
        raise LocalProtocolError("a command needs the name of a program")


class Job(NamedTuple):
    """A command to run."""

    command: str
    args: tuple[str, ...]
    cwd: str
    env: dict[str, str]
    timeout: float | None
    output_bytes: int
    # The three below are for processes of ours: a client's terminal is the client's.
    # Most bytes of output that the client is told; None is all.
    told_bytes: int | None = None
    # Makes what hides secrets in the output, for the client's eyes.
    mask: Callable[[], OutputMask] | None = None
    # Names or patterns of variables that the command does not inherit.
    without_env: tuple[str, ...] = ()

    @property
    def line(self) -> str:
        """The command as a person would type it."""
        from shlex import join

        return join((self.command, *self.args)) if self.args else self.command


class OwnTerminal:
    """One command of ours while it runs, and what it left behind."""

    def __init__(self, owner: OwnTerminals, terminal_id: str, job: Job) -> None:
        from accord.agent.terminals.output_report import ToldOutput

        self._owner = owner
        self._job = job
        self._telling = ToldOutput(job.told_bytes, None if job.mask is None else job.mask())
        self._process: Terminal | None = None
        self._announced = anyio.Event()
        self._over = anyio.Event()
        self._stopped = False
        self.id = terminal_id

    @property
    def is_over(self) -> bool:
        """Whether its exit was told."""
        return self._over.is_set()

    @property
    def done(self) -> Done:
        """What is known of it now."""
        if self._process is None:
            return Done(None, "", cancelled=self._stopped)
        shown = self._process.output()
        code = None if shown.exit is None else shown.exit.code
        signal = None if shown.exit is None else shown.exit.signal
        return Done(code, shown.text, signal, shown.truncated, cancelled=self._stopped)

    async def wait(self) -> Done:
        """Wait until it has ended and the client was told."""
        await self._over.wait()
        return self.done

    async def kill(self) -> None:
        """End it: politely first, then not."""
        assert self._process is not None
        await self._process.kill()

    def stop(self) -> None:
        """The client wants it to end; the exit is told when it has."""
        self._stopped = True
        self._owner.session.connection.tasks.start_soon(self.kill, name=f"stop {self.id}")

    async def end(self) -> None:
        """End it within a bound, whatever else is being cancelled, and see its exit told."""
        with anyio.CancelScope(shield=True):
            if not self.is_over:
                with anyio.move_on_after(END_SECONDS_MAX):
                    await self.kill()
            await self._over.wait()

    async def open(self) -> None:
        """Start the process and its follower; returns when the client knows of it."""
        session = self._owner.session
        self._process = await self._owner.processes.create(
            self._job.command,
            self._job.args,
            env=self._job.env,
            cwd=self._job.cwd,
            output_byte_limit=self._job.output_bytes,
            on_output=self._told,
            without_env=self._job.without_env,
        )
        session.connection.tasks.start_soon(self._follow, name=f"follow {self.id}")
        try:
            await self._announced.wait()
        except BaseException:
            await self.end()
            raise

    async def _told(self, data: bytes) -> None:
        await self._announced.wait()
        await self._tell(self._telling.feed(data))

    async def _tell(self, data: bytes) -> None:
        if data:
            update = v2.TerminalOutputChunk(terminal_id=self.id, data=data)
            await self._owner.session.emit(update)

    async def _follow(self) -> None:
        """Its life, in a task of the connection: neither a turn nor its end cuts the story off."""
        assert self._process is not None
        session = self._owner.session
        try:
            await session.emit(
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
            await self._tell(self._telling.finish())
            await self._tell_exit(ended)
        except Exception as error:  # noqa: BLE001 - one terminal must not end the connection
            # The session or the client is gone, or the log fails: there is nobody to tell.
            _log.warning("terminal %s ended unseen: %s", self.id, error)
            await self._process.end()
        finally:
            self._announced.set()
            self._owner.ended(self)
            self._over.set()

    async def _tell_exit(self, ended: Exit) -> None:
        session = self._owner.session
        update = v2.TerminalUpdate(
            terminal_id=self.id,
            exit_status=v2.TerminalExitStatus(
                exit_code=UNSET if ended.code is None else ended.code,
                signal=UNSET if ended.signal is None else ended.signal,
            ),
            capabilities=None,
        )
        await session.present()
        await session.record_only(update)
        # In one breath: no state may list it after its exit, nor miss it before.
        session.post(update)
        self._owner.ended(self)


class OwnTerminals:
    """All of a session.  Guards: what is listed as background has been announced and not ended."""

    def __init__(self, session: AgentSession) -> None:
        self.session = session
        self._processes: Terminals | None = None
        self._running: dict[str, OwnTerminal] = {}
        self._background: dict[str, OwnTerminal] = {}
        # Who reports background work once reports it always.
        self.reports = False
        self._closed = False

    @property
    def processes(self) -> Terminals:
        """The processes; they end with the connection at the latest."""
        if self._processes is None:
            # Loaded with the first command: most of an agent's start would go into it.
            from accord.machine.terminals.terminals import Terminals

            self._processes = Terminals(self.session.connection.tasks)
        return self._processes

    def running(self, terminal_id: str) -> OwnTerminal | None:
        """The terminal of an id while its command runs."""
        return self._running.get(terminal_id)

    def running_ids(self) -> frozenset[str]:
        """The ids of all terminals whose commands run."""
        return frozenset(self._running)

    def background(self) -> Sequence[v2.BackgroundWork] | None:
        """What goes on behind the foreground, or None when that was never reported."""
        if not self.reports:
            return None
        return [v2.BackgroundTerminal(terminal_id=one) for one in self._background]

    async def start(self, job: Job, *, background: bool = False) -> OwnTerminal:
        """Start a command and tell the client of it.

        Raises:
            LocalProtocolError: the session is closed, so nobody would end the command.
            SpawnFailed: the command could not be started; the client was told nothing.
        """
        if self._closed:
            raise LocalProtocolError(f"session {self.session.id} is closed")
        terminal = OwnTerminal(self, self.session.new_id("term"), job)
        # The client may want to stop it as soon as it hears of it.
        self._running[terminal.id] = terminal
        try:
            await terminal.open()
        except BaseException:
            self._running.pop(terminal.id, None)
            raise
        if background and not terminal.is_over:
            self.reports = True
            self._background[terminal.id] = terminal
            self.session.post_state()
        return terminal

    def ended(self, terminal: OwnTerminal) -> None:
        """Its exit was told: it leaves the list."""
        self._running.pop(terminal.id, None)
        if self._background.pop(terminal.id, None) is not None:
            self.session.post_state()

    async def close(self) -> None:
        """End every command, of the background too, and start no other."""
        self._closed = True
        async with anyio.create_task_group() as tasks:
            for terminal in list(self._running.values()):
                tasks.start_soon(terminal.end)
        if self._processes is not None:
            # Also what commands detached, and left behind when they ended.
            await self._processes.close_all()


__all__ = ["END_SECONDS_MAX", "Done", "Job", "OwnTerminal", "OwnTerminals"]
