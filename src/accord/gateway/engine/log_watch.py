"""The readers that wait for events, and what is known of the ends of the logs they read.

All events of a log pass through the process that has the engine, so the end of a log is known once
it has been read or written.

What always holds
    * A reader that begins to wait before an event is announced is woken by it, and by nothing else.
    * What is known of a log is never ahead of what is stored.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable

import anyio

from accord.gateway.engine.engine_errors import Gap
from accord.gateway.engine.interface import LogState

# Over it everything is forgotten, and read again when it is needed.
ENDS_MAX = 10_000


class _Reader:
    """One call of `wait`."""

    __slots__ = ("event", "seq")

    def __init__(self, seq: int) -> None:
        self.seq = seq
        self.event = anyio.Event()


class LogWatch:
    """Wakes readers.  `state` reads the extent of a log; it raises if there is no such session."""

    def __init__(self, state: Callable[[str], Awaitable[LogState]]) -> None:
        self._state = state
        self._ends: dict[str, int] = {}
        self._readers: dict[str, list[_Reader]] = {}

    async def wait(self, session: str, seq: int) -> int:
        """Return the number of the newest event once it is larger than `seq`.

        Raises:
            Gap: the log never had `seq`.
        """
        while True:
            # Before the look at the end of the log: what comes after that look wakes the reader.
            reader = _Reader(seq)
            self._readers.setdefault(session, []).append(reader)
            try:
                last = await self._last(session)
                if last > seq:
                    return last
                if last < seq:
                    raise Gap(session, seq, (await self._state(session)).first, last)
                await reader.event.wait()
            finally:
                self._forget_reader(session, reader)

    async def _last(self, session: str) -> int:
        last = self._ends.get(session)
        if last is None:
            return (await self._state(session)).last
        await anyio.lowlevel.checkpoint()
        return last

    def _forget_reader(self, session: str, reader: _Reader) -> None:
        readers = self._readers.get(session)
        if readers is not None and reader in readers:
            readers.remove(reader)
            if not readers:
                del self._readers[session]

    def announce(self, session: str, last: int) -> None:
        """Wake the readers before this event, which is stored."""
        if len(self._ends) >= ENDS_MAX and session not in self._ends:
            self._ends.clear()
        self._ends[session] = last
        readers = self._readers.get(session)
        if readers is None:
            return
        for reader in readers:
            if reader.seq < last:
                reader.event.set()

    def forget(self, session: str) -> None:
        """Wake all readers of a deleted session; they look again and find nothing."""
        self._ends.pop(session, None)
        for reader in self._readers.pop(session, ()):
            reader.event.set()

    @property
    def waiting(self) -> int:
        """The number of readers that wait."""
        return sum(map(len, self._readers.values()))
