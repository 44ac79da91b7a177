"""The output of one terminal on its way to an agent of the 2026-02 draft, and to the transcript.

The agent is called for each piece, and says that it was received; the next piece of the same
stream waits for that, so that a slow agent slows the command.

What always holds
    * Nothing is sent before `open`.
    * An agent that never answers, as if it were told and not asked, is not waited for twice.
    * A character whose bytes came in two pieces is sent whole.
"""

import codecs

import anyio

from accord.client.session.state import SessionCore
from accord.client.wire.v1.terminals import ShownTerminal
from accord.errors import AccordError, MethodMissing, RequestFailed
from accord.machine.redacted_logs import logger
from accord.schema import draft
from accord.schema.codec import encode
from accord.translate.draft.agent.terminals import PUSHED_OUTPUT

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
        """The agent was told the id."""
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
            # The connection is over, and so is the terminal.
            self._stopped = True
