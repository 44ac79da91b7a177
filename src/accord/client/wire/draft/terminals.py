"""The terminals that agents of the 2026-02 draft ask of a client.

Output is sent to the agent as it comes, stdout and stderr apart, and is shown in the transcript as
that of every other terminal.  A command may have a time limit, and be sent any signal.

A command passes the permissions even when the agent never asked for one.

What always holds
    * Nothing is sent about a terminal before the agent was told its id.
    * All that a command printed is on its way before its end is told.
"""

import os
import signal
from contextlib import suppress
from typing import Any

import anyio

from accord.client.services.permission_gate import PermissionGate
from accord.client.services.requests import Outcome, given, result_of
from accord.client.services.services import Services
from accord.client.wire.draft.output import SentOutput
from accord.client.wire.draft.owners import Owners
from accord.connection.connection import IncomingRequest
from accord.errors import RequestError
from accord.jsonrpc.error_codes import INVALID_SESSION_STATE, RESOURCE_NOT_FOUND
from accord.schema import draft
from accord.schema.codec import decode, encode
from accord.schema.struct import UNSET
from accord.translate.draft.vocabulary import UNKNOWN_EXIT, exit_code_of


class TerminalRequests:
    def __init__(self, services: Services, owners: Owners, strict: bool) -> None:
        self._services = services
        self._owners = owners
        self._strict = strict
        self._gate = PermissionGate(services)
        self._terminals: Any = services.terminals
        self._streams = services.streams_output
        self._running: dict[str, SentOutput] = {}

    def create(self, request: IncomingRequest) -> Outcome:
        """Ask the permissions, start the command, and send what it prints."""
        wanted = decode(draft.CreateTerminalRequest, request.params, strict=self._strict)
        session = self._owners.of_path(given(wanted.cwd))
        args, env = list(wanted.args or ()), dict(wanted.env or {})
        cwd = os.path.normpath(os.path.join(session.cwd, wanted.cwd or "."))

        async def work() -> bytes:
            await self._gate.check_command(session.id, wanted.command, args, cwd, env)
            sent = SentOutput(session, " ".join((wanted.command, *args)), cwd)
            # The agent learns the id by the answer; what is printed meanwhile waits for that.
            request.on_answered = sent.open
            terminal_id = await self._started(session.id, wanted, args, env, cwd, sent)
            self._running[terminal_id] = sent
            sent.begin(terminal_id)
            # As elsewhere, 0 means no limit.
            timeout = given(wanted.timeout) or None
            session.link.connection.run(lambda: self._watch(terminal_id, sent, timeout))
            return encode(
                draft.CreateTerminalResponse(
                    terminal_id=terminal_id, pid=await self._pid(session.id, terminal_id)
                )
            )

        return work

    async def _started(
        self,
        session_id: str,
        wanted: draft.CreateTerminalRequest,
        args: list[str],
        env: dict[str, str],
        cwd: str,
        sent: SentOutput,
    ) -> str:
        listeners = self._services.output_listeners(on_output=sent.stdout, on_stderr=sent.stderr)
        try:
            terminal_id: str = await result_of(
                self._terminals.create(
                    session_id,
                    wanted.command,
                    args,
                    env=env,
                    cwd=cwd,
                    output_byte_limit=None,
                    **listeners,
                )
            )
        except RequestError as error:
            raise _too_many(error) from None
        await self._services.require_running(session_id, terminal_id)
        return terminal_id

    async def _pid(self, session_id: str, terminal_id: str) -> Any:
        pid_of = getattr(self._terminals, "pid", None)
        if pid_of is None:
            return UNSET
        with suppress(RequestError):
            return await result_of(pid_of(session_id, terminal_id))
        return UNSET

    async def _watch(self, terminal_id: str, sent: SentOutput, timeout: int | None) -> None:
        """Show how a command ended, and end it when its time is over."""
        terminals, session_id = self._terminals, sent.session.id
        try:
            with anyio.move_on_after(None if timeout is None else timeout / 1000) as scope:
                await result_of(terminals.wait_for_exit(session_id, terminal_id))
            if scope.cancelled_caught:
                sent.timed_out = True
                await result_of(terminals.kill(session_id, terminal_id))
            ended = await result_of(terminals.wait_for_exit(session_id, terminal_id))
            if not self._streams:
                shown = await result_of(terminals.output(session_id, terminal_id))
                await sent.stdout(shown.text.encode("utf-8", "replace"))
        except RequestError:
            # Released, and the service has forgotten it.
            return
        finally:
            sent.over.set()
            if sent.session.is_closed:
                # Nobody can release it any more.
                self._running.pop(terminal_id, None)
        sent.end(ended)

    def wait_for_exit(self, request: IncomingRequest) -> Outcome:
        """Answer when the command has ended, or the agent has waited long enough."""
        wanted = decode(draft.WaitForTerminalExitRequest, request.params, strict=self._strict)
        sent = self._terminal(wanted.terminal_id)
        timeout = given(wanted.timeout)

        async def work() -> bytes:
            terminals = self._terminals
            # Of a command that has ended the exit is known, however short the wait.
            waits = timeout is not None and not sent.over.is_set()
            with anyio.move_on_after(timeout / 1000 if timeout is not None and waits else None):
                ended = await result_of(
                    terminals.wait_for_exit(sent.session.id, wanted.terminal_id)
                )
                await sent.all_sent()
                return encode(
                    draft.WaitForTerminalExitResponse(
                        exit_code=exit_code_of(ended.code, ended.signal),
                        signal=ended.signal or UNSET,
                        timed_out=True if sent.timed_out else UNSET,
                    )
                )
            return encode(draft.WaitForTerminalExitResponse(exit_code=UNKNOWN_EXIT, timed_out=True))

        return work

    def kill(self, request: IncomingRequest) -> Outcome:
        """Send a signal, or end the command for good."""
        wanted = decode(draft.KillTerminalRequest, request.params, strict=self._strict)
        number = _signal(wanted.signal or "SIGTERM")
        if wanted.force is True:
            number = signal.SIGKILL
        sent = self._terminal(wanted.terminal_id)

        async def work() -> bytes:
            terminals, session_id = self._terminals, sent.session.id
            send = getattr(terminals, "signal", None)
            killed = not sent.over.is_set()
            if send is not None:
                killed = await result_of(send(session_id, wanted.terminal_id, number)) is True
            elif killed:
                await result_of(terminals.kill(session_id, wanted.terminal_id))
            return encode(draft.KillTerminalResponse(killed=killed))

        return work

    def release(self, request: IncomingRequest) -> Outcome:
        """End the command and forget the terminal, but for what the transcript shows."""
        wanted = decode(draft.ReleaseTerminalRequest, request.params, strict=self._strict)
        sent = self._running.pop(wanted.terminal_id, None)
        if sent is None:
            return encode(draft.ReleaseTerminalResponse(released=False))

        async def work() -> bytes:
            await result_of(self._terminals.release(sent.session.id, wanted.terminal_id))
            sent.stop()
            return encode(draft.ReleaseTerminalResponse(released=True))

        return work

    def _terminal(self, terminal_id: str) -> SentOutput:
        found = self._running.get(terminal_id)
        if found is None:
            raise RequestError(
                RESOURCE_NOT_FOUND, f"No such terminal: {terminal_id}", {"terminalId": terminal_id}
            )
        return found


def _signal(name: str) -> signal.Signals:
    upper = name.upper()
    try:
        return signal.Signals[upper if upper.startswith("SIG") else f"SIG{upper}"]
    except KeyError:
        raise RequestError.invalid_params(f"there is no signal {name!r}", "$.signal") from None


def _too_many(error: RequestError) -> RequestError:
    """The bound on terminals is one that was told, as `maxConcurrent`."""
    reason = error.data.get("reason") if isinstance(error.data, dict) else None
    if reason != "too_many_terminals":
        return error
    return RequestError(
        INVALID_SESSION_STATE,
        f"maxConcurrent: {error.message}",
        {"reason": "invalid_session_state", "suggestion": "release a terminal first"},
    )


__all__ = ["TerminalRequests"]
