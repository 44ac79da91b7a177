"""One client that follows one session: a reader of the session's log.

A client gets events in the order of the log, from where it began.  While it keeps up, they are
passed on as soon as they are in the log; when it reads slowly, they wait in the log, not here.

What always holds
    * What belongs behind an event (an answer, a request) is sent behind it.
    * An answer that must be given is given, also if the client stops following first.
    * A client that does not read slows nobody else down.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from typing import Any, Final, NamedTuple, Protocol

import anyio

from accord.errors import AccordError
from accord.gateway.agents.agent_process import AgentProcess, Answer
from accord.gateway.configuration.rights import Role
from accord.gateway.sessions.log_events import Event
from accord.gateway.sessions.session_facts import SessionFacts
from accord.transport.transport import BACKLOG_BYTES_MAX

EVENTS_PER_READ: Final = 256


class Client(Protocol):
    """A connection to a client, as a session sees it."""

    principal: str
    display_name: str
    # Tells the prompts of this connection from others in the log.
    token: str

    @property
    def services(self) -> frozenset[str]:
        """What the client does for an agent: files and terminals, by method."""
        ...

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

    def ask(
        self, method: str, params: bytes, told: Callable[[Answer], None]
    ) -> Callable[[], None] | None:
        """Ask the client something; return what takes it back, None if it cannot be asked."""
        ...

    def ask_alone(
        self, method: str, params: bytes, told: Callable[[Answer], None]
    ) -> Callable[[], None]:
        """Ask the client something that nobody else is asked; its end is an answer too."""
        ...

    @property
    def process(self) -> AgentProcess | None:
        """The process that the connection has started, unless a session has it."""
        ...

    def send(self, frame: bytes) -> None:
        """Write a whole message to the client."""
        ...

    def extension(self, method: str, params: dict[str, Any], *, droppable: bool = False) -> None:
        """Send a notification of the gateway's own, if the client understands it.

        What is droppable is not sent to a client that has much to read already.
        """
        ...

    def disconnect(self, why: str) -> None:
        """End the connection: the client cannot be sent what it has missed."""
        ...


class Reader(Protocol):
    """The log that an attachment follows."""

    written_bytes: int

    @property
    def last_seq(self) -> int:
        """The number of the last event."""
        ...

    async def read_after(self, seq: int, limit: int) -> Sequence[Event]:
        """Return events behind a number."""
        ...


class _Due(NamedTuple):
    seq: int
    do: Callable[[], None]
    must: bool


class Attachment:
    """`cursor` is the number of the last event that the client was sent."""

    def __init__(
        self,
        client: Client,
        reader: Reader,
        session_id: str,
        role: Role,
        *,
        cursor: int,
        history_until: int,
    ) -> None:
        """Events up to `history_until` are history: they were there before the client came."""
        self.client = client
        self.session_id = session_id
        self.role: Role = role
        self.cursor = cursor
        # How much had been written when the client was last sent something.
        self.moved_at = reader.written_bytes
        self.history_until = history_until
        self.is_over = False
        # What its user does, as far as the client says it.
        self.is_typing = False
        self.has_focus = False
        self._reader = reader
        self._due: deque[_Due] = deque()
        self._wake = anyio.Event()
        self._is_reading = True

    @property
    def is_replaying(self) -> bool:
        """Whether the client is still sent what was there before it came."""
        return self.cursor < self.history_until

    def after(self, seq: int, do: Callable[[], None], *, must: bool = False) -> None:
        """Do something once the client has been sent everything up to a number.

        If the client stops following first, what `must` be done is done then.
        """
        if self.is_over:
            if must:
                do()
        elif self.cursor >= seq and not self._due:
            do()
        else:
            self._due.append(_Due(seq, do, must))
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
        due, self._due = self._due, deque()
        for one in due:
            if one.must:
                one.do()
        self._wake.set()

    async def run(self) -> None:
        """Send what the client has not seen, until `end`."""
        try:
            while not self.is_over:
                await self._run_once()
        except AccordError as error:
            if not self.is_over:
                self.client.disconnect(str(error))

    async def _run_once(self) -> None:
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
            self.moved_at = self._reader.written_bytes
            self._do_due()

    def _do_due(self) -> None:
        while self._due and self._due[0].seq <= self.cursor and not self.is_over:
            self._due.popleft().do()
