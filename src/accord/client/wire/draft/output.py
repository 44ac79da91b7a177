"""The output of one terminal on its way to an agent of the 2026-02 draft, and to the transcript.

The agent is called for each piece, `terminal/output`, and says that it was received; the next piece
of the same stream waits for that, so that a slow agent slows the command.

What always holds
    * Nothing is sent before `open`.
    * An agent that never answers, as if it were told and not asked, is not waited for twice.
    * A character whose bytes came in two pieces is sent whole.
"""

import codecs
from typing import Any

import anyio

from accord.client.session.state import SessionCore
from accord.errors import AccordError, MethodMissing, RequestFailed
from accord.machine.logs import logger
from accord.schema import draft
from accord.schema.codec import encode

_log = logger("accord.client")

ANSWER_SECONDS_MAX = 5.0
"""How long a piece may stay unanswered before nobody waits for such answers any more."""

LAST_PIECES_SECONDS_MAX = 5.0
"""How long the end of a command waits for its last pieces to be sent."""

_decoder = codecs.getincrementaldecoder("utf-8")


class SentOutput:
    """One terminal.  Guards: what was printed is sent in order, each stream for itself."""

    def __init__(self, session: SessionCore, line: str, cwd: str) -> None:
        self.session = session
        # Its command was ended because its time was over.
        self.timed_out = False
        # Set when the command has ended.
        self.over = anyio.Event()
        self._line = line
        self._cwd = cwd
        self._terminal_id = ""
        self._opened = anyio.Event()
        self._stopped = False
        self._decoders = {"stdout": _decoder("replace"), "stderr": _decoder("replace")}
        self._sending = 0
        self._idle = anyio.Event()
        self._early: list[bytes] = []

    def begin(self, terminal_id: str) -> None:
        """It has its id now, and is shown."""
        self._terminal_id = terminal_id
        session = self.session
        started = session.transcript.terminal_started(terminal_id, self._line, self._cwd)
        session.hand_on(started)
        for data in self._early:
            self._show(data)
        self._early.clear()

    def open(self) -> None:
        """The agent was told the id."""
        self._opened.set()

    def stop(self) -> None:
        """The agent wants to hear no more of it."""
        self._stopped = True
        self._opened.set()

    async def stdout(self, data: bytes) -> None:
        """The command printed this."""
        await self._take("stdout", data)

    async def stderr(self, data: bytes) -> None:
        await self._take("stderr", data)

    async def _take(self, stream: str, data: bytes) -> None:
        self._sending += 1
        try:
            if self._terminal_id:
                self._show(data)
            else:
                self._early.append(data)
            await self._opened.wait()
            await self._send(stream, self._decoders[stream].decode(data))
            await self.session.room()
        finally:
            self._sending -= 1
            if not self._sending:
                self._idle.set()
                self._idle = anyio.Event()

    def _show(self, data: bytes) -> None:
        session = self.session
        session.hand_on(session.transcript.terminal_output(self._terminal_id, data))

    async def all_sent(self) -> None:
        """Wait until nothing is on its way any more, but not for ever."""
        with anyio.move_on_after(LAST_PIECES_SECONDS_MAX):
            while self._sending:
                await self._idle.wait()
            for stream, decoder in self._decoders.items():
                # Half a character at the end.
                await self._send(stream, decoder.decode(b"", final=True))

    async def _send(self, stream: str, text: str) -> None:
        link = self.session.link
        if not text or self._stopped or link.unheard_output:
            return
        params = encode(
            draft.TerminalOutputRequest(terminal_id=self._terminal_id, data=text, stream=stream)
        )
        connection = link.connection
        if link.unanswered_output:
            await connection.notify("terminal/output", params)
            return
        try:
            with anyio.move_on_after(ANSWER_SECONDS_MAX) as scope:
                await connection.call("terminal/output", params)
            if scope.cancelled_caught:
                _log.info("the agent does not answer terminal/output; it is told from now on")
                link.unanswered_output = True
        except MethodMissing:
            _log.info("the agent does not want to hear what its commands print")
            link.unheard_output = True
        except RequestFailed as error:
            _log.info("the agent refused output of a terminal: %s", error)
        except AccordError:
            # The connection is over, and so is the terminal.
            self._stopped = True

    def end(self, ended: Any) -> None:
        """The command has ended."""
        transcript = self.session.transcript
        exited = transcript.terminal_exited(self._terminal_id, ended.code, ended.signal)
        self.session.hand_on(exited)


__all__ = ["SentOutput"]
