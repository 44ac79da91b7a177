"""Terminal requests of agents of the 2026-02 draft, which arrive through the translator.

As those of v1 agents, and besides: output is sent to the agent as it comes, stdout and stderr
apart, and a command may be sent any signal.  Time limits are the translator's.

What always holds
    * Nothing is sent about a terminal before the agent was told its id.
    * All that a command printed is on its way before its end is told.
"""

import codecs
import signal
from contextlib import suppress
from typing import Any

import anyio

from accord.client.connection.agent_connection import AgentLink
from accord.client.services.service_interfaces import Outcome, RunsTerminals, result_of
from accord.client.session.state import SessionCore
from accord.client.wire.draft.wire import kept_details
from accord.client.wire.v1.terminals import ShownTerminal, TerminalRequests
from accord.connection.connection import IncomingRequest
from accord.errors import AccordError, MethodMissing, RequestError, RequestFailed
from accord.machine.redacted_logs import logger
from accord.schema import draft, v1
from accord.schema.codec import decode, encode
from accord.translate.draft.agent.terminals import PUSHED_OUTPUT
from accord.translate.meta_store import draft_meta

_log = logger("accord.client")

ANSWER_SECONDS_MAX = 5.0
"""How long a piece may stay unanswered before nobody waits for such answers any more."""

LAST_PIECES_SECONDS_MAX = 5.0
"""How long the end of a command waits for its last pieces to be sent."""

_decoder = codecs.getincrementaldecoder("utf-8")


class OutputAnswers:
    """What the agent of one connection does with the output that is sent to it."""

    def __init__(self) -> None:
        # Whether it leaves the output unanswered, and whether it does not want to hear of it.
        self.are_missing = self.are_refusals = False


class SentOutput(ShownTerminal):
    """One terminal.  Guards: what was printed is sent in order, each stream for itself."""

    def __init__(self, session: SessionCore, answers: OutputAnswers) -> None:
        super().__init__(session)
        self._answers = answers
        # Set when the command has ended.
        self.over = anyio.Event()
        self._opened = anyio.Event()
        self._stopped = False
        self._decoders = {"stdout": _decoder("replace"), "stderr": _decoder("replace")}
        self._sending = 0
        self._idle = anyio.Event()

    def open(self) -> None:
        """Note that the agent has the id."""
        self._opened.set()

    def stop(self) -> None:
        """The agent wants to hear no more of it."""
        self._stopped = True
        self._opened.set()

    async def stdout(self, data: bytes) -> None:
        """The command printed this."""
        await self._push("stdout", data)

    async def stderr(self, data: bytes) -> None:
        await self._push("stderr", data)

    async def _push(self, stream: str, data: bytes) -> None:
        self._sending += 1
        try:
            self.add(data)
            await self._opened.wait()
            await self._send(stream, self._decoders[stream].decode(data))
            await self.session.room()
        finally:
            self._sending -= 1
            if not self._sending:
                self._idle.set()
                self._idle = anyio.Event()

    async def all_sent(self) -> None:
        """Wait until nothing is on its way any more, but not for ever."""
        with anyio.move_on_after(LAST_PIECES_SECONDS_MAX):
            while self._sending:
                await self._idle.wait()
            for stream, decoder in self._decoders.items():
                # Half a character at the end.
                await self._send(stream, decoder.decode(b"", final=True))

    async def _send(self, stream: str, text: str) -> None:
        answers = self._answers
        if not text or self._stopped or answers.are_refusals:
            return
        assert self.terminal_id is not None, "the agent was told the id"
        params = encode(
            draft.TerminalOutputRequest(terminal_id=self.terminal_id, data=text, stream=stream)
        )
        connection = self.session.link.connection
        if answers.are_missing:
            await connection.notify(PUSHED_OUTPUT, params)
            return
        try:
            with anyio.move_on_after(ANSWER_SECONDS_MAX) as scope:
                await connection.call(PUSHED_OUTPUT, params)
            if scope.cancelled_caught:
                _log.info("the agent does not answer terminal/output; notifying it from now on")
                answers.are_missing = True
        except MethodMissing:
            _log.info("the agent does not accept the output of its commands")
            answers.are_refusals = True
        except RequestFailed as error:
            _log.info("the agent refused output of a terminal: %s", error)
        except AccordError:
            # The connection has ended, and the terminal with it.
            self._stopped = True


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
                # The agent cannot release it any more.
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
