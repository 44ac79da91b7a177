"""One client that follows one session: a reader of the session's log.

A client gets events in the order of the log, from where it began.  While it keeps up, they are
passed on as soon as they are in the log; when it reads slowly, they wait in the log, not here.

What always holds
    * What belongs behind an event (an answer, a request) is sent behind it.
    * A client that does not read slows nobody else down.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from typing import Any, Final, Protocol

import anyio

from accord.gateway.configuration.rights import Role
from accord.gateway.sessions.log_events import Event
from accord.gateway.sessions.session_facts import SessionFacts
from accord.proxy.hop import OpenRequest
from accord.transport.transport import BACKLOG_BYTES_MAX

EVENTS_PER_READ: Final = 256


class Client(Protocol):
    """A connection to a client, as a session sees it."""

    principal: str
    display_name: str
    # Tells the prompts of this connection from others in the log.
    token: str

    @property
    def backlog(self) -> int:
        """Bytes that the client has not taken yet."""
        ...

    async def drain(self) -> None:
        """Wait until it has taken most of them."""
        ...

    def role_in(self, facts: SessionFacts) -> Role | None:
        """Return what the client may do in a session."""
        ...

    def show(self, attachment: Attachment, event: Event) -> None:
        """Send what an event means to this client."""
        ...

    def call(self, request: OpenRequest, params: bytes) -> None:
        """Pass a request of the agent on, and its answer back."""
        ...

    def ask(
        self, attachment: Attachment, key: int, method: str, params: bytes
    ) -> Callable[[], None] | None:
        """Ask what several people may answer; return what takes it back.

        None if the client cannot be asked.
        """
        ...

    def extension(self, method: str, params: dict[str, Any]) -> None:
        """Send a notification of the gateway's own, if the client understands it."""
        ...


class Reader(Protocol):
    """The log that an attachment follows."""

    @property
    def last_seq(self) -> int:
        """The number of the last event."""
        ...

    async def read_after(self, seq: int, limit: int) -> Sequence[Event]:
        """Return events behind a number."""
        ...


class Attachment:
    """`cursor` is the number of the last event that the client was sent."""

    def __init__(
        self, client: Client, reader: Reader, session_id: str, role: Role, cursor: int
    ) -> None:
        self.client = client
        self.session_id = session_id
        self.role: Role = role
        self.cursor = cursor
        # Events up to here are history: they were there before the client came.
        self.history_until = reader.last_seq
        self.is_over = False
        self._reader = reader
        self._due: deque[tuple[int, Callable[[], None]]] = deque()
        self._wake = anyio.Event()
        self._is_reading = True

    @property
    def is_replaying(self) -> bool:
        """Whether the client is still sent what was there before it came."""
        return self.cursor < self.history_until

    def after(self, seq: int, do: Callable[[], None]) -> None:
        """Do something once the client has been sent everything up to a number."""
        if self.cursor >= seq and not self._due:
            do()
        else:
            self._due.append((seq, do))
            self._wake.set()

    def pass_on(self, events: Sequence[Event]) -> None:
        """Take events that have just been written to the log."""
        keeps_up = not self._is_reading and self.client.backlog < BACKLOG_BYTES_MAX
        if keeps_up and events and events[0].seq == self.cursor + 1:
            self._send(events)
        else:
            self._wake.set()

    def end(self) -> None:
        """Send nothing more to the client."""
        self.is_over = True
        self._due.clear()
        self._wake.set()

    async def run(self) -> None:
        """Send what the client has not seen, until `end`."""
        while not self.is_over:
            self._is_reading = True
            if self.client.backlog >= BACKLOG_BYTES_MAX:
                await self.client.drain()
            elif self.cursor < self._reader.last_seq:
                self._send(await self._reader.read_after(self.cursor, EVENTS_PER_READ))
            else:
                self._do_due()
                self._is_reading = False
                self._wake = anyio.Event()
                if not self.is_over:
                    await self._wake.wait()

    def _send(self, events: Sequence[Event]) -> None:
        for event in events:
            if self.is_over:
                return
            self.client.show(self, event)
            self.cursor = event.seq
            self._do_due()

    def _do_due(self) -> None:
        while self._due and self._due[0][0] <= self.cursor and not self.is_over:
            self._due.popleft()[1]()
