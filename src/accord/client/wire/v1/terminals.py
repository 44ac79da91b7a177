"""Terminals that v1 agents run on the client, shown in the transcript like those of v2 agents.

What always holds: the output of a command is in the transcript while it runs and stays there,
also when its terminal is released before the command has ended.
"""

import inspect
from collections.abc import Callable
from typing import Any

from accord.client.connection.agent_connection import AgentLink
from accord.client.services.permission_gate import PermissionGate
from accord.client.services.service_interfaces import (
    DONE,
    Ended,
    Outcome,
    RunsTerminals,
    Shown,
    given,
    result_of,
)
from accord.client.session.state import SessionCore
from accord.connection.connection import IncomingRequest
from accord.errors import RequestError
from accord.schema import v1
from accord.schema.codec import decode, encode
from accord.schema.struct import UNSET, UnsetType


class TerminalRequests:
    def __init__(
        self, link: AgentLink[SessionCore], terminals: RunsTerminals, strict: bool
    ) -> None:
        self._link = link
        self._services = link.services
        self._terminals = terminals
        self._gate = PermissionGate(link.services)
        self._strict = strict
        self._streams = link.services.streams_output
        self._watched: dict[str, ShownTerminal] = {}

    def create(self, request: IncomingRequest) -> Outcome:
        """Ask the permissions, start the command, and show it."""
        wanted = decode(v1.CreateTerminalRequest, request.params, strict=self._strict)
        session = self._link.session(wanted.session_id)
        args = list(wanted.args or ())
        env = {variable.name: variable.value for variable in wanted.env or ()}
        cwd = given(wanted.cwd)

        async def work() -> bytes:
            where = cwd or session.cwd
            await self._gate.check_command(session.id, wanted.command, args, where, env)
            watched = self._shown(session)
            terminal_id = await result_of(
                self._terminals.create(
                    session.id,
                    wanted.command,
                    args,
                    env=env,
                    cwd=cwd,
                    output_byte_limit=given(wanted.output_byte_limit),
                    **self._listeners(watched),
                )
            )
            await self._services.require_running(session.id, terminal_id)
            line = " ".join((wanted.command, *args))
            watched.begin(terminal_id, line, where)
            self._watched[terminal_id] = watched
            session.link.connection.run(lambda: self._watch(terminal_id, watched))
            return encode(await self._created(request, terminal_id, watched))

        return work

    def _shown(self, session: SessionCore) -> "ShownTerminal":
        return ShownTerminal(session)

    def _listeners(self, shown: "ShownTerminal") -> dict[str, Any]:
        return self._services.output_listeners(on_output=shown.take)

    async def _created(
        self, request: IncomingRequest, terminal_id: str, shown: "ShownTerminal"
    ) -> v1.CreateTerminalResponse:
        """The answer for a terminal that is there and shown."""
        return v1.CreateTerminalResponse(terminal_id=terminal_id)

    async def _watch(self, terminal_id: str, watched: "ShownTerminal") -> None:
        """Show how a command of ours ended."""
        terminals = self._terminals
        session_id = watched.session.id
        try:
            ended = await result_of(terminals.wait_for_exit(session_id, terminal_id))
            if not self._streams and not watched.is_shown:
                watched.show(await result_of(terminals.output(session_id, terminal_id)))
        except RequestError:
            # Released, and the service has forgotten it.
            return
        finally:
            self._watched.pop(terminal_id, None)
        watched.end(ended)

    def output(self, request: IncomingRequest) -> Outcome:
        """Answer with the output so far, and with the exit status if the command has ended."""
        wanted = decode(v1.TerminalOutputRequest, request.params, strict=self._strict)
        shown = self._terminals.output(wanted.session_id, wanted.terminal_id)
        if inspect.isawaitable(shown):
            return lambda: _encoded(shown, _output)
        return encode(_output(shown))

    def wait_for_exit(self, request: IncomingRequest) -> Outcome:
        """Answer when the command has ended."""
        wanted = decode(v1.WaitForTerminalExitRequest, request.params, strict=self._strict)
        terminals = self._terminals
        return lambda: _encoded(
            terminals.wait_for_exit(wanted.session_id, wanted.terminal_id), _exit
        )

    def kill(self, request: IncomingRequest) -> Outcome:
        wanted = decode(v1.KillTerminalRequest, request.params, strict=self._strict)
        terminals = self._terminals
        return lambda: _encoded(terminals.kill(wanted.session_id, wanted.terminal_id), None)

    def release(self, request: IncomingRequest) -> Outcome:
        """End the command and forget the terminal; the transcript keeps showing it."""
        wanted = decode(v1.ReleaseTerminalRequest, request.params, strict=self._strict)
        terminals = self._terminals

        async def work() -> bytes:
            watched = self._watched.get(wanted.terminal_id)
            if watched is not None and not self._streams:
                shown = terminals.output(wanted.session_id, wanted.terminal_id)
                watched.show(await result_of(shown))
            await result_of(terminals.release(wanted.session_id, wanted.terminal_id))
            return DONE

        return work


class ShownTerminal:
    """A terminal of ours as its session's transcript shows it."""

    def __init__(self, session: SessionCore) -> None:
        self.session = session
        self.is_shown = False
        self.terminal_id: str | None = None
        # Output that came before the service returned the terminal's id.
        self._early = b""

    def begin(self, terminal_id: str, command: str, cwd: str) -> None:
        """Show the terminal, whose id is known now."""
        session = self.session
        session.hand_on(session.transcript.terminal_started(terminal_id, command, cwd))
        self.terminal_id = terminal_id
        if self._early:
            session.hand_on(session.transcript.terminal_output(terminal_id, self._early))
            self._early = b""

    async def take(self, data: bytes) -> None:
        """Show output; the command waits while readers of the session are far behind."""
        if self.add(data):
            await self.session.room()

    def add(self, data: bytes) -> bool:
        """Show output; False where that has to wait for the id."""
        if self.terminal_id is None:
            self._early += data
            return False
        session = self.session
        session.hand_on(session.transcript.terminal_output(self.terminal_id, data))
        return True

    def show(self, shown: Shown) -> None:
        """Show the whole output of a service that does not stream it."""
        assert self.terminal_id is not None
        if not self.is_shown:
            self.is_shown = True
            data = shown.text.encode("utf-8", "replace")
            session = self.session
            session.hand_on(session.transcript.terminal_output(self.terminal_id, data))

    def end(self, ended: Ended) -> None:
        """Show how the command ended."""
        assert self.terminal_id is not None
        transcript = self.session.transcript
        exited = transcript.terminal_exited(self.terminal_id, ended.code, ended.signal)
        self.session.hand_on(exited)


async def _encoded(value: Any, convert: Callable[[Any], Any] | None) -> bytes:
    found = await result_of(value)
    return DONE if convert is None else encode(convert(found))


def _output(shown: Shown) -> v1.TerminalOutputResponse:
    status: v1.TerminalExitStatus | UnsetType = UNSET
    if shown.exit is not None:
        status = v1.TerminalExitStatus(exit_code=shown.exit.code, signal=shown.exit.signal)
    return v1.TerminalOutputResponse(
        output=shown.text, truncated=shown.truncated, exit_status=status
    )


def _exit(ended: Ended) -> v1.WaitForTerminalExitResponse:
    return v1.WaitForTerminalExitResponse(exit_code=ended.code, signal=ended.signal)
