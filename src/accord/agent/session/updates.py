"""The updates of one session: into the log, then to the client, in one order.

A client that does not know a session yet drops its updates, and many clients fail over them.  So
what an agent says while a session is made waits for the answer that names it.  While a past is
replayed, new updates wait too.

What always holds
    * An update is in the log before it is sent, and updates are sent in the order of the log.
    * Nothing is sent for a session that is closed.
"""

from __future__ import annotations

import itertools
import os
from collections.abc import AsyncIterator, Awaitable, Callable, Generator, Iterable
from contextlib import contextmanager
from functools import partial
from typing import Any

import anyio
from anyio.lowlevel import checkpoint_if_cancelled

from accord.agent.serving.outgoing_checks import unsayable
from accord.agent.serving.wire import Wire
from accord.connection import Connection
from accord.connection.lazy_event import LazyEvent
from accord.errors import ConnectionLost, LocalProtocolError
from accord.machine.redacted_logs import logger
from accord.schema import v2
from accord.schema.codec import encode
from accord.schema.method import SESSION_UPDATE
from accord.store import SessionLog

HELD_MAX = 1024
"""Updates that wait for the answer; one more, and all are sent at once."""

_log = logger("accord.agent")

# A replay leaves these out, so they are still sent behind it.
OF_THE_MOMENT = (v2.Notice, v2.StateUpdate)


class LogThenSend:
    """Guards: everything in the log of one session is sent, in the order of the log.

    A log that takes time leaves a gap between writing and sending.  A caller that is cancelled in
    this gap must still send, since the log cannot take the update back.  Of two callers that wait
    at the same time, the first must send first, or a client that loads the session later sees
    another order.
    """

    __slots__ = ("_last",)

    def __init__(self) -> None:
        # Set when the latest update that is being written has been sent.
        self._last: LazyEvent | None = None

    async def then(self, writing: Awaitable[None], send: Callable[[], object]) -> None:
        """Wait until an update is written, then send it; a cancellation waits for that.

        Call this in the order of the log.  What cannot be written is not sent.
        """
        before, sent = self._last, LazyEvent()
        self._last = sent
        try:
            with anyio.CancelScope(shield=True):
                await writing
                if before is not None:
                    await before.wait()
            send()
        finally:
            sent.set()
            if self._last is sent:
                self._last = None


class SessionUpdates:
    """Guards: what is sent is in the order of the log, and behind what makes sense of it."""

    def __init__(
        self, connection: Connection, wire: Wire, log: SessionLog, session_id: str
    ) -> None:
        self.connection = connection
        self.wire = wire
        self.log = log
        self.session_id = session_id
        self.log_then_send = LogThenSend()
        self.closed = False
        self._post_update = connection.poster(SESSION_UPDATE)
        self._held: list[Any] | None = None
        self._is_known = False
        self._replayed: anyio.Event | None = None
        self._ids = itertools.count(1)
        # Ids must stay unique when a stored session goes on in another process.
        self._id_prefix = os.urandom(4).hex()

    def new_id(self, kind: str) -> str:
        """An id that is never used again in this session."""
        return f"{kind}_{self._id_prefix}_{next(self._ids)}"

    @property
    def is_not_plain(self) -> bool:
        """Whether an update must wait for something, or can no longer be sent."""
        return self._replayed is not None or self._held is not None or self.closed

    # ---- sending

    async def emit(self, update: Any, *, waits: bool = True, checks: bool = True) -> None:
        """Log an update and send it.  Waits while the client is slow, unless told not to.

        With `checks=False` the caller has checked for its own cancellation.
        """
        connection = self.connection
        if checks and connection.check_is_due():
            await checkpoint_if_cancelled()
        if self._replayed is not None:
            await self.present()
        if self.closed:
            raise LocalProtocolError(f"session {self.session_id} is closed")
        try:
            writing = self.log.append(update)
            if writing is not None:
                await self.log_then_send.then(writing, partial(self._send, update))
                is_due = connection.wait_is_due()
            else:
                is_due = self._send(update)
        except UnicodeEncodeError as error:
            raise unsayable(error) from None
        if waits and is_due:
            await connection.give_way()

    async def wait_for_client(self) -> None:
        """Wait while the client is slow, as `emit` does after sending."""
        if self.connection.wait_is_due():
            await self.connection.give_way()

    def _send(self, update: Any) -> bool:
        """Send an update, or hold it; return whether its sender must give way."""
        if self._held is not None:
            # Validate now, so that the caller gets the error.
            self.connection.peer.checked(encode(update), SESSION_UPDATE)
            self._hold(self._held, update)
            return self.connection.wait_is_due()
        is_due: bool | None = None
        for params in self.wire.updates(self.session_id, update):
            is_due = self._post_update(params)
        return self.connection.wait_is_due() if is_due is None else is_due

    def post(self, update: Any) -> None:
        """Send an update that needs neither the log nor waiting, such as a state."""
        if self._held is not None:
            self._hold(self._held, update)
        else:
            self.post_at_once(update)

    def post_at_once(self, update: Any) -> None:
        """Send an update ahead of the answer that opens the session."""
        if not self.closed and self.connection.error is None:
            for params in self.wire.updates(self.session_id, update):
                self._post_update(params)

    async def record_only(self, update: Any) -> None:
        """Log an update that the client must not be sent, such as its own prompt in v1."""
        writing = self.log.append(update)
        if writing is not None:
            await writing

    # ---- before the client knows the session

    def hold(self) -> None:
        """Hold updates from now on, unless the client knows the session already."""
        if not self._is_known and self._held is None:
            self._held = []

    def introduce(self) -> None:
        """Send what was held, since the client knows the session now."""
        self._is_known = True
        held, self._held = self._held, None
        self._send_late(held or ())

    def introduce_once(self) -> None:
        """Do the same unless it has been done: a prompt shows that the client knows the session."""
        if not self._is_known:
            self.introduce()

    def _hold(self, held: list[Any], update: Any) -> None:
        held.append(update)
        if len(held) > HELD_MAX:
            self.introduce()

    def _send_late(self, updates: Iterable[Any]) -> None:
        """Send updates whose callers have gone on: an error in one must not affect the others."""
        for update in updates:
            if self.closed:
                return
            try:
                self._send(update)
            except ConnectionLost:
                return
            except Exception:  # noqa: BLE001 - whatever it is, the client has its answer
                _log.exception("an update that waited for its session cannot be sent")

    # ---- replays

    @contextmanager
    def replaying(self) -> Generator[None]:
        """Hold new updates back while the past is replayed; what was held is part of that past."""
        kept = [one for one in self._held or () if isinstance(one, OF_THE_MOMENT)]
        self._held, self._is_known = None, True
        over = self._replayed = anyio.Event()
        try:
            yield
            self._send_late(kept)
        finally:
            over.set()
            if self._replayed is over:
                self._replayed = None

    async def present(self) -> None:
        """Wait until no replay is under way."""
        while self._replayed is not None:
            await self._replayed.wait()


class NoLog:
    """The log of a session whose history is not kept."""

    def append(self, update: Any) -> None:
        """Drop the update, since no history is kept."""

    async def replay(self) -> AsyncIterator[Any]:
        """Yield nothing, since no history is kept."""
        nothing: tuple[Any, ...] = ()
        for update in nothing:
            yield update
