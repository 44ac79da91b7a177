"""Writes the output of `accord run`: for a person, for a pipe, as events, or the last message only.

Must not know the connection.  docs/reference/run.md has the forms.

What always holds
    * The answer is written unchanged.  Secrets are removed from standard error if it is not a
      terminal, because it is a log then.
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
from accord.machine.redacted_logs import log_redactor
from accord.machine.terminals.output_buffer import EARLIER_OUTPUT_OMITTED
from accord.schema.codec import encode, to_python
from accord.terminal.plain.display.output_stream import Output
from accord.terminal.plain.display.run_printer import TurnPrinter
from accord.transcript import Message

LINE_CHARACTERS_MAX = 4096
"""A longer line of a check's output is shown before it ends."""


class Report(Protocol):
    """The output format of a run; its methods are called as things happen."""

    asking: tuple[TurnPrinter, Output] | None
    """The stream on which a user sees a question; None if there is none."""

    def began(self, client: Client, session: Session) -> None:
        """Note that the session is open."""
        ...

    def update(self, update: Update) -> None: ...

    def decided(self, decided: Decided) -> None:
        """Show a permission decision."""
        ...

    def retrying(self, error: RateLimited, seconds: float) -> None:
        """Show that the agent reached a rate limit and is asked again after a delay."""
        ...

    def checking(self, command: str) -> None:
        """Show that the command of `--check` starts."""
        ...

    def check_printed(self, text: str) -> None: ...

    def checked(self, checked: Checked) -> None: ...

    def finished(self, outcome: Outcome, reply: Reply | None) -> None: ...

    def pause(self) -> None:
        """End the current line, because something else is about to be written."""
        ...

    @property
    def is_full(self) -> bool:
        """Whether enough is buffered to be written before more is added."""
        ...

    async def drain(self) -> None:
        """Write what is buffered."""
        ...


class _Log(Output):
    """Writes the agent's actions to a log that others may read, line by line."""

    def __init__(self, stream: TextIO) -> None:
        super().__init__(stream)
        self._redactor = log_redactor()

    def write(self, text: str) -> None:
        """Add text and remove its secrets."""
        super().write(self._redactor.line(text))


class _Lines:
    """Writes text that arrives in pieces, line by line, with control characters escaped."""

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
    """Text for people; on a pipe, messages only, with the agent's actions on standard error."""

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
        # Whether the last message was replaced since.
        self._ends = False
        # Whether the last line of the messages is unfinished.
        self._open = False
        # Whether the buffered messages came before the buffered actions.
        self._messages_first = False
        # Message text after buffered actions, if messages are buffered before those.
        self._held: list[str] = []

    def began(self, client: Client, session: Session) -> None:
        """Print nothing: the agent's own output starts the text."""

    def update(self, update: Update) -> None:
        """Show an update; on a pipe, messages are written unchanged."""
        self._messages_first = self._out.has_waiting
        self._printer.show(update)
        if not self._together and update.kind == "message":
            self._write(update.item, update.text, is_new=update.replaces)

    def _write(self, message: Message, text: str, *, is_new: bool) -> None:
        """Write a message unchanged, with a blank line before the next or a replacing one."""
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
        """Print nothing: the call is shown as denied when it ends."""
        if not decided.allowed:
            self._printer.denied(decided.request, why_denied(decided))

    def retrying(self, error: RateLimited, seconds: float) -> None:
        _complain_of_limit(error, seconds)

    def checking(self, command: str) -> None:
        """Show the command as a shell shows typed input."""
        self._end_line()
        self._activity.write(f"\n$ {visible_line(command)}\n")

    def check_printed(self, text: str) -> None:
        self._check.feed(text)

    def checked(self, checked: Checked) -> None:
        """End its last line; a failure is reported at the end."""
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
        """End the line on a terminal; a pipe gets only the agent's text."""
        self._printer.pause()

    @property
    def is_full(self) -> bool:
        """Whether either is full, or both have content: in a log of both, the order counts."""
        if self._held or (self._out.has_waiting and self._error.has_waiting):
            return True
        return self._out.is_full or self._error.is_full

    async def drain(self) -> None:
        """Write what is buffered in the order of arrival."""
        streams = (self._error, self._out)
        for stream in reversed(streams) if self._messages_first else streams:
            await stream.drain()
        if self._held:
            self._out.write("".join(self._held))
            self._held.clear()
            await self._out.drain()


class QuietReport:
    """Prints the agent's last message and nothing else."""

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
        """Report the wait, because nothing else explains it."""
        _complain_of_limit(error, seconds)

    def checking(self, command: str) -> None:
        """Print nothing: this format does not show it."""

    def check_printed(self, text: str) -> None:
        """Print nothing unless the check fails."""

    def checked(self, checked: Checked) -> None:
        """Print the output of a failed check."""
        if not checked.passed and checked.text.strip():
            if checked.truncated:
                complain(f"[{EARLIER_OUTPUT_OMITTED}]")
            complain(checked.text.rstrip("\n"))

    def finished(self, outcome: Outcome, reply: Reply | None) -> None:
        messages = () if reply is None else reply.messages
        said = [one.text for one in messages if one.role == "agent" and one.text.strip()]
        if said:
            # A terminal gets no control characters.
            text = visible(said[-1]) if self._out.isatty() else said[-1]
            self._out.write(text.rstrip("\n") + "\n")

    def pause(self) -> None:
        """Do nothing: there is one text."""

    @property
    def is_full(self) -> bool:
        """Return False: there is one text."""
        return False

    async def drain(self) -> None:
        await self._out.drain()


class JsonReport:
    """Prints one JSON event per line."""

    asking: tuple[TurnPrinter, Output] | None = None

    def __init__(self) -> None:
        # JSON is UTF-8 in every locale.
        self._out = Output(sys.stdout, "utf-8")

    def began(self, client: Client, session: Session) -> None:
        """Print the event with the agent, the session and its folder."""
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
        """Print the event of an update, if it has one."""
        event = event_of(update)
        if event is not None:
            self._put(event)

    def decided(self, decided: Decided) -> None:
        self._put(permission_event(decided))

    def retrying(self, error: RateLimited, seconds: float) -> None:
        self._put(retry_event(error, seconds))

    def checking(self, command: str) -> None:
        """Print nothing: the event has the whole output."""

    def check_printed(self, text: str) -> None:
        """Print nothing: this format does not show it."""

    def checked(self, checked: Checked) -> None:
        self._put(check_event(checked))

    def finished(self, outcome: Outcome, reply: Reply | None) -> None:
        """Print the last event; its error may quote the agent's stderr."""
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
        """Do nothing: events are whole lines."""

    @property
    def is_full(self) -> bool:
        """Whether many or large events are buffered."""
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
    complain(f"accord: the agent reached a rate limit ({said}); trying again in {seconds:g} s")


FORMATS: dict[str, Callable[[], Report]] = {
    "text": TextReport,
    "json": JsonReport,
    "quiet": QuietReport,
}
