"""What `accord run` writes: for a person, for a pipe, as events, or the last words only.

Must not know the connection.  docs/reference/run.md has the forms.

What always holds
    * The answer goes to whoever asked as it is.  What is told on standard error, where that is no
      terminal, is without secrets: it is a log.
    * On a pipe, standard output has the agent's messages (or the events) and nothing else.
    * Events are one JSON object per line, and the last one is `end`.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any, Protocol, TextIO

from accord import RateLimited, Update
from accord.cli.console import complain
from accord.cli.run.check_command import Checked
from accord.cli.run.exit_status import ExitCode, Outcome
from accord.cli.run.json_events import (
    check_event,
    event_of,
    permission_event,
    retry_event,
    without_nulls,
)
from accord.client import Client, Reply, Session
from accord.client.audit.services import why_denied
from accord.client.permissions.request import Decided
from accord.machine.console.control_characters import visible, visible_json, visible_line
from accord.machine.logs import log_redactor
from accord.schema.codec import encode, to_python
from accord.terminal.plain.display.output_stream import Output
from accord.terminal.plain.display.turn_printer import TurnPrinter
from accord.transcript import Message

LINE_CHARACTERS_MAX = 4096
"""A line of a check's output that is longer is shown before its end has come."""


class Report(Protocol):
    """Where a run is told to."""

    asking: tuple[TurnPrinter, Output] | None
    """Where a question can be put so that a person sees it, if there is such a place."""

    def began(self, client: Client, session: Session) -> None:
        """The session is open."""
        ...

    def update(self, update: Update) -> None: ...

    def decided(self, decided: Decided) -> None:
        """A permission was given or denied."""
        ...

    def retrying(self, error: RateLimited, seconds: float) -> None:
        """The agent says: too many; it is asked again after so long."""
        ...

    def checking(self, command: str) -> None:
        """The user's own check begins."""
        ...

    def check_printed(self, text: str) -> None: ...

    def checked(self, checked: Checked) -> None: ...

    def finished(self, outcome: Outcome, reply: Reply | None) -> None: ...

    def pause(self) -> None:
        """Something else is about to be written: end what is being said."""
        ...

    @property
    def is_full(self) -> bool:
        """Whether so much was told that it should be written before more is."""
        ...

    async def drain(self) -> None:
        """Write what was told."""
        ...


class _Log(Output):
    """What is done, for a log that others may read; it comes line by line."""

    def __init__(self, stream: TextIO) -> None:
        super().__init__(stream)
        self._redactor = log_redactor()

    def write(self, text: str) -> None:
        """Take text, without its secrets."""
        super().write(self._redactor.line(text))


class _Lines:
    """Text that comes in pieces, written line by line and made visible."""

    def __init__(self, out: Output) -> None:
        self._out = out
        self._begun = ""

    def feed(self, text: str) -> None:
        whole, newline, self._begun = (self._begun + text).rpartition("\n")
        if len(self._begun) > LINE_CHARACTERS_MAX:
            self.end()
        for line in whole.split("\n") if newline else ():
            self._out.write(visible(line.removesuffix("\r")) + "\n")

    def end(self) -> None:
        """End the last line."""
        if self._begun:
            self._out.write(visible(self._begun) + "\n")
        self._begun = ""


class TextReport:
    """For people; on a pipe the messages alone, with what is done on standard error."""

    def __init__(self) -> None:
        self._out = Output(sys.stdout)
        self._error = Output(sys.stderr) if sys.stderr.isatty() else _Log(sys.stderr)
        self._together = self._out.isatty()
        self._activity = activity = self._out if self._together else self._error
        self._check = _Lines(activity)
        self._printer = TurnPrinter(
            activity, messages=self._together, thoughts=activity.isatty() or self._together
        )
        self.asking = (self._printer, activity) if activity.isatty() else None
        self._speaker: Message | None = None
        # Whether what the last one said was replaced since.
        self._ends = False
        # Whether the last line of the messages is still open.
        self._open = False
        # Whether messages that wait came before the activity that waits.
        self._messages_first = False
        # What a message says after activity that waits, where messages wait before that.
        self._held: list[str] = []

    def began(self, client: Client, session: Session) -> None:
        """Nothing: the agent's own words begin."""

    def update(self, update: Update) -> None:
        """Show it; on a pipe, messages as they are."""
        self._messages_first = self._out.has_waiting
        self._printer.show(update)
        if not self._together and update.kind == "message":
            self._write(update.item, update.text, is_new=update.replaces)

    def _write(self, message: Message, text: str, *, is_new: bool) -> None:
        """A message as it is; a blank line is between two, and before what replaces one."""
        if is_new and self._speaker is message:
            self._ends = True
        if text:
            if self._speaker is not None and (self._ends or self._speaker is not message):
                text = f"\n\n{text}" if self._open else f"\n{text}"
            self._speaker, self._ends = message, False
            if self._messages_first and self._error.has_waiting:
                self._held.append(text)
            else:
                self._out.write(text)
            self._open = not text.endswith("\n")

    def decided(self, decided: Decided) -> None:
        """The call is shown as denied when it ends."""
        if not decided.allowed:
            self._printer.denied(decided.request, why_denied(decided))

    def retrying(self, error: RateLimited, seconds: float) -> None:
        _complain_of_limit(error, seconds)

    def checking(self, command: str) -> None:
        """As a shell shows what was typed."""
        self._end_line()
        self._activity.write(f"\n$ {visible_line(command)}\n")

    def check_printed(self, text: str) -> None:
        self._check.feed(text)

    def checked(self, checked: Checked) -> None:
        """End its last line; how it ended is told at the end where it is news."""
        self._check.end()
        if checked.passed:
            self._activity.write(f"(the check passed: {checked.exit})\n")

    def finished(self, outcome: Outcome, reply: Reply | None) -> None:
        """End the last line."""
        self._end_line()

    def _end_line(self) -> None:
        self._messages_first = True
        self._printer.pause()
        if self._open:
            self._out.write("\n")
            self._open = False

    def pause(self) -> None:
        """End the line on the screen; what goes to a pipe is the agent's own."""
        self._printer.pause()

    @property
    def is_full(self) -> bool:
        """Whether either is, or both wait: in a log that has both, their order counts."""
        if self._held or (self._out.has_waiting and self._error.has_waiting):
            return True
        return self._out.is_full or self._error.is_full

    async def drain(self) -> None:
        """Write, in the order in which it came."""
        streams = (self._error, self._out)
        for stream in reversed(streams) if self._messages_first else streams:
            await stream.drain()
        if self._held:
            self._out.write("".join(self._held))
            self._held.clear()
            await self._out.drain()


class QuietReport:
    """The agent's last message, and nothing else."""

    asking: tuple[TurnPrinter, Output] | None = None

    def __init__(self) -> None:
        self._out = Output(sys.stdout)

    def began(self, client: Client, session: Session) -> None:
        """Print nothing: this format does not show it."""

    def update(self, update: Update) -> None:
        """Print nothing: this format does not show it."""

    def decided(self, decided: Decided) -> None:
        """Print nothing: this format does not show it."""

    def retrying(self, error: RateLimited, seconds: float) -> None:
        """Say so: nothing else explains the wait."""
        _complain_of_limit(error, seconds)

    def checking(self, command: str) -> None:
        """Print nothing: this format does not show it."""

    def check_printed(self, text: str) -> None:
        """Nothing, unless it fails."""

    def checked(self, checked: Checked) -> None:
        """What it printed, where it failed."""
        if not checked.passed and checked.text.strip():
            complain(checked.text.rstrip("\n"))

    def finished(self, outcome: Outcome, reply: Reply | None) -> None:
        messages = () if reply is None else reply.messages
        said = [one.text for one in messages if one.role == "agent" and one.text.strip()]
        if said:
            # To a terminal nothing goes that could command it.
            text = visible(said[-1]) if self._out.isatty() else said[-1]
            self._out.write(text.rstrip("\n") + "\n")

    def pause(self) -> None:
        """Nothing: there is one text."""

    @property
    def is_full(self) -> bool:
        """Never: there is one text."""
        return False

    async def drain(self) -> None:
        await self._out.drain()


class JsonReport:
    """One event per line."""

    asking: tuple[TurnPrinter, Output] | None = None

    def __init__(self) -> None:
        # JSON is UTF-8, whatever the locale says.
        self._out = Output(sys.stdout, "utf-8")

    def began(self, client: Client, session: Session) -> None:
        """Who answers, and where."""
        info = client.agent_info
        self._put(
            {
                "type": "session",
                "sessionId": session.id,
                "cwd": session.cwd,
                "protocolVersion": client.protocol_version,
                "agent": None if info is None else {"name": info.name, "version": info.version},
            }
        )

    def update(self, update: Update) -> None:
        """Tell it, unless it is of a kind that has no event."""
        event = event_of(update)
        if event is not None:
            self._put(event)

    def decided(self, decided: Decided) -> None:
        self._put(permission_event(decided))

    def retrying(self, error: RateLimited, seconds: float) -> None:
        self._put(retry_event(error, seconds))

    def checking(self, command: str) -> None:
        """Nothing: it is told as a whole."""

    def check_printed(self, text: str) -> None:
        """Print nothing: this format does not show it."""

    def checked(self, checked: Checked) -> None:
        self._put(check_event(checked))

    def finished(self, outcome: Outcome, reply: Reply | None) -> None:
        """How it ended; the error may quote what the agent wrote to its stderr."""
        is_done = outcome.code is ExitCode.DONE
        usage = None if reply is None else reply.usage
        self._put(
            {
                "type": "end",
                "exitCode": int(outcome.code),
                "stopReason": outcome.stop_reason,
                "text": "" if reply is None else reply.text,
                "usage": None if usage is None else to_python(encode(usage)),
                "error": None if is_done else log_redactor().line(outcome.sentence() or ""),
            }
        )

    def pause(self) -> None:
        """Nothing: events are whole lines."""

    @property
    def is_full(self) -> bool:
        """Whether many events wait to be written, or large ones."""
        return self._out.is_full

    async def drain(self) -> None:
        await self._out.drain()

    def _put(self, event: dict[str, Any]) -> None:
        line = encode(without_nulls(event)).decode()
        if self._out.isatty():
            line = visible_json(line)
        self._out.write(line + "\n")


def _complain_of_limit(error: RateLimited, seconds: float) -> None:
    said = " ".join(error.message.split())
    complain(f"accord: the agent is at a rate limit ({said}); next try in {seconds:g} s")


FORMATS: dict[str, Callable[[], Report]] = {
    "text": TextReport,
    "json": JsonReport,
    "quiet": QuietReport,
}


__all__ = ["FORMATS", "JsonReport", "QuietReport", "Report", "TextReport"]
