"""The interface of an engine: what the gateway needs below its sessions.

An engine keeps four things for each session: a log of events, an owner, a record, and a way to send
a message to the owner.  SQLite does it for one machine, memory for simulations; an engine for
several machines has to keep the same promises.

What always holds
    * The events of a session are numbered from 1 without gaps.  A group of events is stored whole
      or not at all, and an append is durable when it returns.
    * Each owner has an epoch, which is larger than every epoch before it, also across restarts and
      across sessions that had the same id.  From the moment a session has a new epoch, nothing is
      added under an older one: the epochs in a log never decrease.
    * A reader gets every event after the one it names, or an error; never a silent hole.
    * A message is delivered to one owner at most once.

A session can be read as the parts of its snapshot and all events after them.  Sequence numbers
belong to the log: what else an engine keeps there, such as the records of a take-over, is not
counted.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple, Protocol

import anyio
from anyio.abc import TaskStatus

from accord.gateway.configuration.rights import Role

Handler = Callable[[str, bytes], Awaitable[bytes]]
"""Called with a session and a message; returns the answer."""

LEASE_SECONDS = 15.0
"""How long a node owns its sessions after it was last renewed."""

PAGE_EVENTS = 500
"""The number of events on a page of a log, unless the reader asks for fewer or more."""

PAGE_SESSIONS = 50
"""The number of sessions on one page of a listing."""


# ---- the log


class NewEvent(NamedTuple):
    """An event to be stored: a short word for what it is, and the bytes of a frame."""

    kind: str
    frame: bytes


class Event(NamedTuple):
    """An event in the log of a session; `at` is in seconds since 1970."""

    seq: int
    epoch: int
    kind: str
    frame: bytes
    at: float


class LogPage(NamedTuple):
    """Consecutive events of a log, and where the log began and ended when they were read.

    `first` is the number of the oldest event that is kept: `last + 1` if none is.
    """

    events: tuple[Event, ...]
    first: int
    last: int


class LogState(NamedTuple):
    """What a log has: its oldest and newest event, its size, and the event of its snapshot.

    `size_bytes` counts a fixed amount for each event as well, so that it bounds their number.
    `snapshot_seq` is the end of the newest part of the snapshot.
    """

    first: int
    last: int
    size_bytes: int
    snapshot_seq: int | None


class SnapshotPart(NamedTuple):
    """What the events `first` to `seq` add up to, in the form of the program that stored it."""

    first: int
    seq: int
    data: bytes


# ---- ownership


@dataclass(frozen=True, slots=True)
class Node:
    """One run of a program that owns sessions.  A restart is another incarnation of its name."""

    name: str
    incarnation: str


@dataclass(frozen=True, slots=True)
class Lease:
    """The right of a node to add to the log of a session, until another node has a newer epoch.

    `last` is the newest event of the log at that moment: all that earlier owners stored.
    """

    session: str
    node: Node
    epoch: int
    last: int


class Owner(NamedTuple):
    """The node that owns a session now, and for how long if it is not renewed."""

    node: str
    epoch: int
    seconds_left: float


# ---- records


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionRecord:
    """The facts of a session besides its log.

    The engine sets the times, in seconds since 1970, and the revision, which is different after
    every change.
    """

    session: str
    agent: str
    principal: str
    cwd: str
    protocol_version: int
    # What others than the principal may do.
    members: Mapping[str, Role] = field(default_factory=dict)
    title: str | None = None
    # The agent's own id for the session, once it has one.
    agent_session: str | None = None
    # A short word, such as "idle" or "turn"; records can be listed by it.
    state: str = "idle"
    # A JSON text that the engine does not look at.
    data: bytes = b"{}"
    created_at: float = 0.0
    updated_at: float = 0.0
    revision: int = 0


class RecordPage(NamedTuple):
    """One page of a listing; `next_cursor` is None on the last one."""

    records: tuple[SessionRecord, ...]
    next_cursor: str | None = None


class SessionLog(Protocol):
    """The logs of all sessions.

    Every method raises NoSession for a session that does not exist, and StoreError if the storage
    cannot be used.
    """

    async def append(self, lease: Lease, events: Sequence[NewEvent]) -> int:
        """Store a group of events; return the number of its last one.

        It is durable when this returns.  Groups of one lease are in the order of these calls.  The
        end of the lease's time alone does not refuse it: only a newer epoch or `release` does.

        A call that is cancelled, or raises StoreError, has stored the whole group or nothing; where
        it matters, `log_state` tells which.

        Raises:
            Fenced: the session has a newer epoch, or the lease was released; nothing is stored.
            LogFull: the log would exceed its bound; take a snapshot and trim.
            ValueError: no events, too many or too large ones.
        """
        ...

    async def read_after(self, session: str, seq: int, limit: int = PAGE_EVENTS) -> LogPage:
        """Return the next events after `seq`, oldest first: some of them, if there are any.

        Raises:
            Gap: the log no longer has the event after `seq`, or never had `seq` itself.
        """
        ...

    async def wait(self, session: str, seq: int) -> int:
        """Return once the log has an event after `seq`; return the number of its newest event.

        Raises:
            Gap: the log never had `seq`.
        """
        ...

    async def log_state(self, session: str) -> LogState:
        """Return the extent of the log."""
        ...

    async def extend_snapshot(self, lease: Lease, seq: int, data: bytes, bytes_max: int) -> None:
        """Add what the events behind the snapshot, up to `seq`, add up to.

        The oldest parts are dropped until the rest has `bytes_max` at most; the new one stays.

        Raises:
            Fenced: as for `append`.
            ValueError: too large, or for an event that does not exist or is in the snapshot.
        """
        ...

    async def snapshot_after(self, session: str, seq: int) -> SnapshotPart | None:
        """Return the first part of the snapshot that ends behind `seq`."""
        ...

    async def trim(self, lease: Lease, seq: int) -> None:
        """Remove the events up to `seq`, oldest first; a snapshot must cover them.

        A call that is cancelled may have removed some of them.

        Raises:
            Fenced: as for `append`.
            ValueError: no snapshot covers them.
        """
        ...


class Ownership(Protocol):
    """The owners of sessions.

    A node has one time limit for all its sessions.  When it has passed, or another incarnation of
    the node has entered, any node may take the sessions over.
    """

    async def enter(self, name: str) -> Node:
        """Begin a new incarnation of a node; what earlier ones owned is free at once."""
        ...

    async def renew(self, node: Node) -> float:
        """Extend the time of a node, also after it has passed; return the seconds it has now.

        It does not give back what was taken over meanwhile: `owner` tells.

        Raises:
            NodeReplaced: the node has left, or another incarnation has entered.
        """
        ...

    async def leave(self, node: Node) -> None:
        """End this incarnation: all that it owns is free at once."""
        ...

    async def own(self, session: str, node: Node) -> Lease:
        """Make a node the owner, with a new epoch, and renew the node.

        A node that owns the session already gets a new epoch as well, and its old lease ends.

        Raises:
            OwnedElsewhere: another node owns it.
            NodeReplaced: as for `renew`.
            NoSession: there is no such session.
        """
        ...

    async def release(self, lease: Lease) -> None:
        """Give a session up.  A lease that has ended already is ignored."""
        ...

    async def owner(self, session: str) -> Owner | None:
        """Return the owner whose time has not passed, if there is one."""
        ...


class SessionRecords(Protocol):
    """The records of all sessions."""

    async def create(self, record: SessionRecord) -> SessionRecord:
        """Store a new session with an empty log; return the record with its times and revision.

        Raises:
            SessionExists: the id is taken.
            ValueError: a field is too large.
        """
        ...

    async def get(self, session: str) -> SessionRecord | None:
        """Return the record, or None if there is no such session."""
        ...

    async def put(self, record: SessionRecord) -> SessionRecord:
        """Replace the record that has the same revision; return it with its new one.

        Raises:
            Conflict: the stored record has another revision.
            NoSession: there is no such session.
            ValueError: a field is too large.
        """
        ...

    async def delete(self, session: str) -> bool:
        """Delete a session: record, log and ownership; return False if there was none.

        The owner learns of it from NoSession.  The id may be used again.
        """
        ...

    async def records(
        self,
        principal: str | None = None,
        *,
        state: str | None = None,
        cursor: str | None = None,
        limit: int = PAGE_SESSIONS,
    ) -> RecordPage:
        """List the sessions that a principal owns or is a member of, newest first.

        None lists all of them.  Sessions that come and go do not shift the pages.

        Raises:
            BadCursor: this engine did not return the cursor.
        """
        ...


class Routing(Protocol):
    """Messages to the owner of a session, wherever it runs."""

    async def serve(
        self,
        node: Node,
        handler: Handler,
        *,
        task_status: TaskStatus[None] = anyio.TASK_STATUS_IGNORED,
    ) -> None:
        """Call `handler` for each message to a session of this node, until cancelled.

        Each call is a task of its own: a sender that no longer waits does not cancel it.
        """
        ...

    async def send_to_owner(self, session: str, message: bytes) -> bytes:
        """Send a message to the owner; return the handler's answer.

        Handlers answer soon: what takes long is answered by events in the log.

        Raises:
            NoOwner: no node owns the session, or its owner does not serve; nothing was delivered.
            OwnerBusy: too many messages wait for answers there; nothing was delivered.
            OwnerLost: the owner ended before it answered; it may have done what was asked.
            HandlerFailed: the handler raised an exception.
        """
        ...


class Engine(SessionLog, Ownership, SessionRecords, Routing, Protocol):
    """All of it; open it with `async with`."""

    async def __aenter__(self) -> Engine: ...

    async def __aexit__(self, *_: object) -> None: ...
