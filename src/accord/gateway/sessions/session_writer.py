"""Puts the events of one session into its log, and passes them on once they are there.

What always holds
    * An event is durable in the log before any client sees it, and before anything that follows
      from it, such as sending a prompt to the agent, is done.
    * Events are in the log, and are passed on, in the order of the calls of `put`.
    * After a failure nothing more is written or passed on: the session ends.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from typing import Final, NamedTuple, Protocol

import anyio
from anyio.abc import TaskGroup

from accord.gateway.sessions.log_events import Event

TAIL_BYTES_MAX: Final = 256 * 1024
"""The newest events that are kept in memory, for clients that read along."""

WAITING_BYTES_MAX: Final = 1024 * 1024
"""Bytes that wait for the log before the agent is no longer read."""

EVENTS_PER_APPEND_MAX: Final = 256
BYTES_PER_APPEND_MAX: Final = 16 * 1024 * 1024
"""A group ends with the event that reaches it."""


class Log(Protocol):
    """The log of one session, which nobody else writes."""

    async def append(self, events: Sequence[tuple[str, bytes]]) -> int:
        """Store events; return the number of the last one."""
        ...

    async def read_after(self, seq: int, limit: int) -> Sequence[Event]:
        """Return the next events behind a number, in order."""
        ...


class Waiting(NamedTuple):
    """An event that is not in the log yet, and what follows once it is."""

    kind: str
    body: bytes
    then: Callable[[int], None] | None


class SessionWriter:
    """Guards: `last_seq` is the number of the last event that is in the log."""

    def __init__(
        self,
        log: Log,
        tasks: TaskGroup,
        *,
        last_seq: int = 0,
        written: Callable[[Sequence[Event]], None],
        failed: Callable[[Exception], None],
        slow_down: Callable[[bool], None] = lambda _: None,
    ) -> None:
        """`written` gets events once they are in the log; `slow_down` pauses and resumes."""
        self.last_seq = last_seq
        self.tail: deque[Event] = deque()
        self._tail_bytes = 0
        self._log = log
        self._tasks = tasks
        self._written = written
        self._failed = failed
        self._slow_down = slow_down
        self._waiting: deque[Waiting] = deque()
        self._waiting_bytes = 0
        self._is_running = False
        self._is_slowed = False
        self._has_failed = False
        self._idle = anyio.Event()
        self._idle.set()

    def put(self, kind: str, body: bytes, then: Callable[[int], None] | None = None) -> None:
        """Queue an event; `then` is called with its number when it is in the log."""
        if self._has_failed:
            return
        self._waiting.append(Waiting(kind, body, then))
        self._waiting_bytes += len(body)
        if self._waiting_bytes > WAITING_BYTES_MAX and not self._is_slowed:
            self._is_slowed = True
            self._slow_down(True)
        if not self._is_running:
            self._is_running = True
            self._idle = anyio.Event()
            self._tasks.start_soon(self._write, name="session log")

    async def flush(self) -> None:
        """Wait until everything that was put is in the log, or cannot be."""
        await self._idle.wait()

    def has_in_memory(self, seq: int) -> bool:
        """Whether the events behind a number are in memory."""
        return bool(self.tail) and self.tail[0].seq <= seq + 1

    async def read_after(self, seq: int, limit: int) -> Sequence[Event]:
        """Return events behind a number, from memory where they are still there."""
        if self.has_in_memory(seq):
            skipped = seq + 1 - self.tail[0].seq
            return [self.tail[at] for at in range(skipped, min(len(self.tail), skipped + limit))]
        return await self._log.read_after(seq, limit)

    async def _write(self) -> None:
        try:
            while self._waiting:
                await self._write_some()
        except Exception as error:  # noqa: BLE001 - the session ends, not the gateway
            self._has_failed = True
            self._waiting.clear()
            self._failed(error)
        finally:
            self._is_running = False
            self._idle.set()

    async def _write_some(self) -> None:
        some: list[Waiting] = []
        size = 0
        for one in self._waiting:
            some.append(one)
            size += len(one.body)
            if len(some) == EVENTS_PER_APPEND_MAX or size >= BYTES_PER_APPEND_MAX:
                break
        last = self.last_seq
        # Cancelling would not take back what is on its way to the disk.
        with anyio.CancelScope(shield=True):
            last = await self._log.append([(one.kind, one.body) for one in some])
        first = last - len(some) + 1
        events = []
        for number, one in enumerate(some, first):
            self._waiting.popleft()
            self._waiting_bytes -= len(one.body)
            events.append(Event(number, one.kind, one.body))
        self.last_seq = last
        self._keep(events)
        self._written(events)
        for number, one in enumerate(some, first):
            if one.then is not None:
                one.then(number)
        if self._is_slowed and self._waiting_bytes < WAITING_BYTES_MAX // 2:
            self._is_slowed = False
            self._slow_down(False)

    def _keep(self, events: Sequence[Event]) -> None:
        for event in events:
            self.tail.append(event)
            self._tail_bytes += len(event.body)
        while self._tail_bytes > TAIL_BYTES_MAX and len(self.tail) > 1:
            self._tail_bytes -= len(self.tail.popleft().body)
