"""Terminal requests of agents of the 2026-02 draft, which arrive through the translator.

As those of v1 agents, and besides: output is sent to the agent as it comes, stdout and stderr
apart, and a command may be sent any signal.  Time limits are the translator's.

What always holds
    * Nothing is sent about a terminal before the agent was told its id.
    * All that a command printed is on its way before its end is told.
"""

import signal
from contextlib import suppress
from typing import Any

from accord.client.connection.agent_connection import AgentLink
from accord.client.services.service_interfaces import RunsTerminals
from accord.client.services.service_results import Outcome, result_of
from accord.client.session.state import SessionCore
from accord.client.wire.draft.meta import kept_details
from accord.client.wire.draft.terminal_output import OutputAnswers, SentOutput
from accord.client.wire.v1.terminals import ShownTerminal, TerminalRequests
from accord.connection.connection import IncomingRequest
from accord.errors import RequestError
from accord.schema import v1
from accord.schema.codec import decode, encode
from accord.translate.meta_store import draft_meta


class DetailedTerminals(TerminalRequests):
    """Serves the terminal requests of a draft agent."""

    def __init__(self, link: AgentLink[SessionCore], terminals: RunsTerminals) -> None:
        super().__init__(link, terminals, strict=False)
        self._answers = OutputAnswers()
        self._sent: dict[str, SentOutput] = {}

    def _shown(self, session: SessionCore) -> SentOutput:
        return SentOutput(session, self._answers)

    def _listeners(self, shown: ShownTerminal) -> dict[str, Any]:
        assert isinstance(shown, SentOutput)
        return self._services.output_listeners(on_output=shown.stdout, on_stderr=shown.stderr)

    async def _created(
        self, request: IncomingRequest, terminal_id: str, shown: ShownTerminal
    ) -> v1.CreateTerminalResponse:
        """The answer with the process id; the agent learns the terminal's id by it."""
        assert isinstance(shown, SentOutput)
        self._sent[terminal_id] = shown
        # What is printed meanwhile waits for that.
        request.on_answered = shown.open
        told: dict[str, Any] = {}
        pid_of = getattr(self._terminals, "pid", None)
        if pid_of is not None:
            with suppress(RequestError):
                told["pid"] = await result_of(pid_of(shown.session.id, terminal_id))
        return v1.CreateTerminalResponse(terminal_id=terminal_id, meta=draft_meta(told))

    async def _watch(self, terminal_id: str, watched: ShownTerminal) -> None:
        """Show how a command ended; a service that does not stream is asked for all of it."""
        assert isinstance(watched, SentOutput)
        terminals, session_id = self._terminals, watched.session.id
        try:
            ended = await result_of(terminals.wait_for_exit(session_id, terminal_id))
            if not self._streams:
                printed = await result_of(terminals.output(session_id, terminal_id))
                await watched.stdout(printed.text.encode("utf-8", "replace"))
        except RequestError:
            # Released, and the service has forgotten it.
            return
        finally:
            watched.over.set()
            if watched.session.is_closed:
                # Nobody can release it any more.
                self._sent.pop(terminal_id, None)
        watched.end(ended)

    def wait_for_exit(self, request: IncomingRequest) -> Outcome:
        """Answer when the command has ended and its output is on its way."""
        wanted = decode(v1.WaitForTerminalExitRequest, request.params)
        shown = self._sent.get(wanted.terminal_id)

        async def work() -> bytes:
            ended = await result_of(
                self._terminals.wait_for_exit(wanted.session_id, wanted.terminal_id)
            )
            if shown is not None:
                await shown.all_sent()
            return encode(v1.WaitForTerminalExitResponse(exit_code=ended.code, signal=ended.signal))

        return work

    def kill(self, request: IncomingRequest) -> Outcome:
        """Send a signal, or end the command for good."""
        wanted = decode(v1.KillTerminalRequest, request.params)
        told = kept_details(wanted)
        number = signal.SIGKILL if told.get("force") is True else _signal(told.get("signal"))
        shown = self._sent.get(wanted.terminal_id)

        async def work() -> bytes:
            terminals, session_id = self._terminals, wanted.session_id
            send = getattr(terminals, "signal", None)
            killed = shown is None or not shown.over.is_set()
            if send is not None:
                killed = await result_of(send(session_id, wanted.terminal_id, number)) is True
            elif killed:
                await result_of(terminals.kill(session_id, wanted.terminal_id))
            return encode(v1.KillTerminalResponse(meta=draft_meta({"killed": killed})))

        return work

    def release(self, request: IncomingRequest) -> Outcome:
        """End the command and forget the terminal, but for what the transcript shows."""
        wanted = decode(v1.ReleaseTerminalRequest, request.params)
        shown = self._sent.pop(wanted.terminal_id, None)

        async def work() -> bytes:
            await result_of(self._terminals.release(wanted.session_id, wanted.terminal_id))
            if shown is not None:
                shown.stop()
            return encode(v1.ReleaseTerminalResponse())

        return work


def _signal(name: Any) -> signal.Signals:
    if name is None:
        return signal.SIGTERM
    upper = str(name).upper()
    try:
        return signal.Signals[upper if upper.startswith("SIG") else f"SIG{upper}"]
    except KeyError:
        raise RequestError.invalid_params(f"there is no signal {name!r}", "$.signal") from None
