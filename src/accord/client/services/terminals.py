"""Terminals for agents that run commands through their client: `terminal/*`.

It must not know permissions, which the gate asks first, or the wire's structs.  It may be replaced
by any object with the same methods.

Always holds
    * A terminal belongs to one session; its id is unknown to all others.
    * The end of the session, the connection or the client ends its commands.
    * Every failure is a RequestError that says what was wrong.
"""

from __future__ import annotations

import os
from collections.abc import Awaitable, Callable, Generator, Mapping, Sequence
from copy import copy
from typing import Any

import anyio
from anyio.abc import TaskGroup

from accord.errors import LocalProtocolError, RequestError, SpawnFailed
from accord.machine import (
    TERMINALS_MAX,
    Exit,
    MachineError,
    Terminal,
    TerminalOutput,
    Terminals,
    TerminalUnknown,
    TooManyTerminals,
)
from accord.machine.terminals.terminals import OutputListener

RELEASED_MAX = 16
"""Released terminals whose last output can still be shown; the oldest is forgotten first."""


class TerminalService:
    """Commands on this computer, each in a process group of its own."""

    def __init__(
        self,
        *,
        count_max: int = TERMINALS_MAX,
        shell: str | None = None,
        without_env: Sequence[str] = (),
        tasks: TaskGroup | None = None,
    ) -> None:
        """`without_env` are names or patterns of variables that commands do not inherit.

        `tasks` runs the terminals; a client gives it by `for_connection`.
        """
        self._count_max = count_max
        self._shell = shell
        self._without_env = tuple(without_env)
        self._terminals: Terminals | None = None
        self._sessions: dict[str, dict[str, Terminal]] = {}
        self._directories: dict[str, str] = {}
        self._released: dict[str, TerminalOutput] = {}
        if tasks is not None:
            self._run_in(tasks)

    def for_connection(self, tasks: TaskGroup) -> TerminalService:
        """A copy with its own terminals, which run in `tasks` and end with it."""
        # A copy keeps the class of a subclass.
        other = copy(self)
        other._run_in(tasks)
        return other

    def _run_in(self, tasks: TaskGroup) -> None:
        self._terminals = Terminals(
            tasks,
            count_max=self._count_max,
            shell=self._shell,
            without_env=self._without_env,
        )
        self._sessions = {}
        self._directories = {}
        self._released = {}

    @property
    def streams_output(self) -> bool:
        """Whether output is reported as it comes: always."""
        return True

    def capabilities(self) -> bool:
        """The capability to offer to the agent."""
        return True

    @property
    def count_max(self) -> int:
        """Terminals that may be open at once on one connection."""
        return self._count_max

    def add_session(self, session_id: str, cwd: str) -> None:
        """Commands of this session run in this folder by default."""
        self._sessions.setdefault(session_id, {})
        self._directories[session_id] = cwd

    async def create(
        self,
        session_id: str,
        command: str,
        args: Sequence[str] = (),
        *,
        env: Mapping[str, str] | None = None,
        cwd: str | None = None,
        output_byte_limit: int | None = None,
        on_output: OutputListener | None = None,
        on_stderr: OutputListener | None = None,
    ) -> str:
        """Start a command and return the id of its terminal at once.

        `on_output` is awaited with every piece of output; while it waits, the command waits.
        With `on_stderr`, output on stderr goes there, and `on_output` gets the rest.

        Raises:
            RequestError: the command cannot be started.
        """
        if self._terminals is None:
            raise LocalProtocolError("terminals need a task group; see for_connection")
        mine = self._of_session(session_id)
        where = self._directories[session_id] if cwd is None else cwd
        _check(command, args, env, where)
        try:
            terminal = await self._terminals.create(
                command,
                args,
                env=env,
                cwd=where,
                output_byte_limit=output_byte_limit,
                on_output=on_output,
                on_stderr=on_stderr,
            )
        except SpawnFailed as error:
            raise RequestError.invalid_params(str(error), "$.command") from error
        except TooManyTerminals as error:
            raise RequestError(-32603, str(error), {"reason": "too_many_terminals"}) from error
        except MachineError as error:
            raise RequestError.invalid_request(str(error)) from error
        if self._sessions.get(session_id) is not mine:
            # The session was closed while the command started, and perhaps opened again.
            await self._terminals.release(terminal.id)
            raise RequestError.session_missing(session_id)
        mine[terminal.id] = terminal
        return terminal.id

    def output(self, session_id: str, terminal_id: str) -> TerminalOutput:
        """What the terminal shows now; its `exit` is None while the command runs."""
        return self._terminal(session_id, terminal_id).output()

    async def wait_for_exit(self, session_id: str, terminal_id: str) -> Exit:
        """Wait until the command has ended."""
        return await self._terminal(session_id, terminal_id).wait()

    async def kill(self, session_id: str, terminal_id: str) -> None:
        """End the command; the id stays valid."""
        await self._terminal(session_id, terminal_id).kill()

    def pid(self, session_id: str, terminal_id: str) -> int:
        """The process id of the command."""
        return self._terminal(session_id, terminal_id).pid

    def signal(self, session_id: str, terminal_id: str, number: int) -> bool:
        """Send a signal to the command and its children; False when none of them is left."""
        return self._terminal(session_id, terminal_id).signal(number)

    async def release(self, session_id: str, terminal_id: str) -> None:
        """End the command; the id is unknown from the call on."""
        terminal = self._terminal(session_id, terminal_id)
        del self._of_session(session_id)[terminal_id]
        await self._end(terminal)

    def shown(self, terminal_id: str) -> TerminalOutput | None:
        """The last output of a terminal, also of a released one, for display."""
        for terminals in self._sessions.values():
            if terminal_id in terminals:
                return terminals[terminal_id].output()
        return self._released.get(terminal_id)

    def close_session(self, session_id: str) -> Awaitable[None]:
        """Close a session with this call, so that its id may be added again at once.

        The result is to be awaited: it ends all its commands, at the same time.
        """
        self._directories.pop(session_id, None)
        return _SessionEnd(self._end_all, self._sessions.pop(session_id, {}))

    async def _end_all(self, terminals: Mapping[str, Terminal]) -> None:
        async with anyio.create_task_group() as tasks:
            for terminal in terminals.values():
                tasks.start_soon(self._end, terminal)

    async def close_all(self) -> None:
        """End all commands: the connection is over."""
        self._sessions.clear()
        self._directories.clear()
        if self._terminals is not None:
            await self._terminals.close_all()

    async def _end(self, terminal: Terminal) -> None:
        assert self._terminals is not None
        try:
            await self._terminals.release(terminal.id)
        except TerminalUnknown:
            # `close_all` has released it.
            pass
        self._released[terminal.id] = terminal.output()
        while len(self._released) > RELEASED_MAX:
            del self._released[next(iter(self._released))]

    def _of_session(self, session_id: str) -> dict[str, Terminal]:
        terminals = self._sessions.get(session_id)
        if terminals is None:
            raise RequestError.session_missing(session_id)
        return terminals

    def _terminal(self, session_id: str, terminal_id: str) -> Terminal:
        terminal = self._of_session(session_id).get(terminal_id)
        if terminal is None:
            raise RequestError(
                -32002, f"No such terminal: {terminal_id}", {"terminalId": terminal_id}
            )
        return terminal


class _SessionEnd:
    """The end of a session's commands; unlike a coroutine, it need not be awaited."""

    def __init__(
        self, end: Callable[[Mapping[str, Terminal]], Awaitable[None]], of: Mapping[str, Terminal]
    ) -> None:
        self._end = end
        self._terminals = of

    def __await__(self) -> Generator[Any, Any, None]:
        return self._end(self._terminals).__await__()


def _check(command: str, args: Sequence[str], env: Mapping[str, str] | None, cwd: str) -> None:
    """Refuse what the system would refuse with a less clear message."""
    if not command:
        raise RequestError.invalid_params("the command is empty", "$.command")
    if any("\0" in text for text in (command, cwd, *args)):
        raise RequestError.invalid_params(
            "a NUL character cannot be part of a command", "$.command"
        )
    for name, value in (env or {}).items():
        if not name or "=" in name or "\0" in name + value:
            raise RequestError.invalid_params(f"no variable can be named {name!r}", "$.env")
    if not cwd.startswith("/") or not os.path.isdir(cwd):
        raise RequestError.invalid_params(f"not an absolute directory: {cwd}", "$.cwd")


__all__ = ["RELEASED_MAX", "TerminalService"]
