"""The part of a session that knows when it may speak.

A client that has not been told of a session yet drops what is said in it, and many stop working
over it; so what an agent says while a session is made waits for the answer that names it.  While
the past is told again, what is new waits too.

It must not know how anything is said.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Generator, Iterable
from contextlib import contextmanager
from typing import Any

import anyio

from accord.agent.session.record import RecordedSession
from accord.errors import ConnectionLost
from accord.machine.logs import logger
from accord.schema import v2
from accord.store import SessionRecord, SessionStore

HELD_MAX = 1024
"""Updates that wait for the answer; one more, and all are told at once."""

_log = logger("accord.agent")

# A past does not have these, so they are still told behind it.
OF_THE_MOMENT = (v2.Notice, v2.StateUpdate)


class IntroducedSession(RecordedSession, ABC):
    """Guards: what is told is in the order of the log, and behind what makes sense of it."""

    def __init__(self, store: SessionStore, record: SessionRecord) -> None:
        super().__init__(store, record)
        self._held: list[Any] | None = None
        self._is_known = False
        self._replayed: anyio.Event | None = None
        self.closed = False

    def hold(self) -> None:
        """Keep what is said from now on, unless the client knows the session already."""
        if not self._is_known and self._held is None:
            self._held = []

    def introduce(self) -> None:
        """The client has the answer: tell it what was kept, and from now on everything at once."""
        self._is_known = True
        held, self._held = self._held, None
        self._tell_late(held or ())

    async def begin_turn(self) -> None:
        """The client has sent a prompt: it knows the session, however it came to."""
        if not self._is_known:
            self.introduce()
        await super().begin_turn()

    def _keep(self, held: list[Any], update: Any) -> None:
        held.append(update)
        if len(held) > HELD_MAX:
            self.introduce()

    def _tell_late(self, updates: Iterable[Any]) -> None:
        """Who said this has gone on: what is wrong with it can harm nobody else."""
        for update in updates:
            if self.closed:
                return
            try:
                self._tell(update)
            except ConnectionLost:
                return
            except Exception:  # noqa: BLE001 - whatever it is, the client has its answer
                _log.exception("what was said before the client knew the session cannot be sent")

    @abstractmethod
    def _tell(self, update: Any) -> None:
        """Send it, unless it has to be kept."""

    @contextmanager
    def replaying(self) -> Generator[None]:
        """While the past is told again, the present waits.  What was kept is part of that past."""
        kept = [one for one in self._held or () if isinstance(one, OF_THE_MOMENT)]
        self._held, self._is_known = None, True
        over = self._replayed = anyio.Event()
        try:
            yield
            self._tell_late(kept)
        finally:
            over.set()
            if self._replayed is over:
                self._replayed = None

    async def present(self) -> None:
        """Wait until no past is being told: what is new comes after all that is old."""
        while self._replayed is not None:
            await self._replayed.wait()


__all__ = ["HELD_MAX", "OF_THE_MOMENT", "IntroducedSession"]
