"""The terminals that v1 agents ask of a client, shown in the transcript as v2 agents show theirs.

A command passes the permissions even when the agent never asked for one.

What always holds: what a command printed is in the transcript while it runs and stays there,
also when its terminal is released before the command has ended.
"""

import inspect
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import anyio

from accord.client.permissions.commands import terminal_line
from accord.client.services.services import Services
from accord.client.session.state import Conversation
from accord.client.wire.v1.service import DONE, FindSession, Outcome, given, result_of, takes
from accord.connection.connection import IncomingRequest
from accord.errors import RequestError
from accord.schema import v1
from accord.schema.codec import decode, encode
from accord.schema.struct import UNSET, UnsetType

# Of a command that may not run, so much is told.
LINE_SHOWN_MAX = 500


class TerminalRequests:
    """`terminal/*`."""

    def __init__(self, services: Services, session_of: FindSession, strict: bool) -> None:
        self._services = services
        self._session_of = session_of
        self._strict = strict
        self._streams = takes(services.terminals.create, "on_output")
        self._watched: dict[str, _Watched] = {}

    def create(self, request: IncomingRequest) -> Outcome:
        """Ask the permissions, start the command, and show it."""
        wanted = decode(v1.CreateTerminalRequest, request.params, strict=self._strict)
        session = self._session_of(wanted.session_id)
        args = list(wanted.args or ())
        env = {variable.name: variable.value for variable in wanted.env or ()}
        cwd = given(wanted.cwd)

        async def work() -> bytes:
            permissions, asked = (
                self._services.permissions,
                (wanted.command, args, cwd or session.cwd, env),
            )
            if not await permissions.may_run(session.id, *asked):
                line = terminal_line(wanted.command, args)
                shown = line if len(line) <= LINE_SHOWN_MAX else line[:LINE_SHOWN_MAX] + "…"
                why = permissions.why_refused(session.id, *asked)
                because = "" if why is None else f"; {why}"
                raise RequestError.permission_denied(f"running {shown} is not allowed{because}")
            watched = _Watched(session)
            terminal_id = await result_of(
                self._services.terminals.create(
                    session.id,
                    wanted.command,
                    args,
                    env=env,
                    cwd=cwd,
                    output_byte_limit=given(wanted.output_byte_limit),
                    **({"on_output": watched.take} if self._streams else {}),
                )
            )
            if self._services.are_over:
                await end_late(self._services, session.id, terminal_id)
            line = " ".join((wanted.command, *args))
            watched.begin(terminal_id, line, cwd or session.cwd)
            self._watched[terminal_id] = watched
            session.link.connection.run(lambda: self._watch(terminal_id, watched))
            return encode(v1.CreateTerminalResponse(terminal_id=terminal_id))

        return work

    async def _watch(self, terminal_id: str, watched: "_Watched") -> None:
        """Show how a command of ours ended."""
        terminals = self._services.terminals
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
        """What the terminal shows now, and how the command ended if it has."""
        wanted = decode(v1.TerminalOutputRequest, request.params, strict=self._strict)
        shown = self._services.terminals.output(wanted.session_id, wanted.terminal_id)
        if inspect.isawaitable(shown):
            return lambda: _encoded(shown, _output)
        return encode(_output(shown))

    def wait_for_exit(self, request: IncomingRequest) -> Outcome:
        """Answer when the command has ended."""
        wanted = decode(v1.WaitForTerminalExitRequest, request.params, strict=self._strict)
        terminals = self._services.terminals
        return lambda: _encoded(
            terminals.wait_for_exit(wanted.session_id, wanted.terminal_id), _exit
        )

    def kill(self, request: IncomingRequest) -> Outcome:
        """End the command."""
        wanted = decode(v1.KillTerminalRequest, request.params, strict=self._strict)
        terminals = self._services.terminals
        return lambda: _encoded(terminals.kill(wanted.session_id, wanted.terminal_id), None)

    def release(self, request: IncomingRequest) -> Outcome:
        """End the command and forget the terminal, but for what the transcript shows."""
        wanted = decode(v1.ReleaseTerminalRequest, request.params, strict=self._strict)
        terminals = self._services.terminals

        async def work() -> bytes:
            watched = self._watched.get(wanted.terminal_id)
            if watched is not None and not self._streams:
                shown = terminals.output(wanted.session_id, wanted.terminal_id)
                watched.show(await result_of(shown))
            await result_of(terminals.release(wanted.session_id, wanted.terminal_id))
            return DONE

        return work


class _Watched:
    """A terminal of ours as its session's transcript shows it."""

    def __init__(self, session: Conversation) -> None:
        self.session = session
        self.is_shown = False
        self._terminal_id: str | None = None
        # What was printed before the service had named the terminal.
        self._early = b""

    def begin(self, terminal_id: str, command: str, cwd: str) -> None:
        """It has its id now."""
        session = self.session
        session.hand_on(session.transcript.terminal_started(terminal_id, command, cwd))
        self._terminal_id = terminal_id
        if self._early:
            session.hand_on(session.transcript.terminal_output(terminal_id, self._early))
            self._early = b""

    async def take(self, data: bytes) -> None:
        """The command printed this; it waits while whoever looks is far behind."""
        if self._terminal_id is None:
            self._early += data
            return
        session = self.session
        session.hand_on(session.transcript.terminal_output(self._terminal_id, data))
        await session.room()

    def show(self, shown: Any) -> None:
        """All that a service tells which does not tell it piece by piece."""
        assert self._terminal_id is not None
        if not self.is_shown:
            self.is_shown = True
            data = shown.text.encode("utf-8", "replace")
            session = self.session
            session.hand_on(session.transcript.terminal_output(self._terminal_id, data))

    def end(self, ended: Any) -> None:
        """The command has ended."""
        assert self._terminal_id is not None
        transcript = self.session.transcript
        exited = transcript.terminal_exited(self._terminal_id, ended.code, ended.signal)
        self.session.hand_on(exited)


async def end_late(services: Services, session_id: str, terminal_id: str) -> None:
    """The agent was lost while the command started, and `close_all` may not have seen it.

    Raises:
        RequestError: always, for whoever asked for the command.
    """
    with anyio.CancelScope(shield=True), suppress(RequestError):
        await result_of(services.terminals.release(session_id, terminal_id))
    raise RequestError.cancelled("the connection has ended")


async def _encoded(value: Any, convert: Callable[[Any], Any] | None) -> bytes:
    found = await result_of(value)
    return DONE if convert is None else encode(convert(found))


def _output(shown: Any) -> v1.TerminalOutputResponse:
    status: v1.TerminalExitStatus | UnsetType = UNSET
    if shown.exit is not None:
        status = v1.TerminalExitStatus(exit_code=shown.exit.code, signal=shown.exit.signal)
    return v1.TerminalOutputResponse(
        output=shown.text, truncated=shown.truncated, exit_status=status
    )


def _exit(ended: Any) -> v1.WaitForTerminalExitResponse:
    return v1.WaitForTerminalExitResponse(exit_code=ended.code, signal=ended.signal)


__all__ = ["TerminalRequests", "end_late"]
