"""The SQL queries of logs and ownership.

Every function runs inside a transaction of the writer thread.  One that refuses returns the error
instead of raising it: nothing was written, and the other work of the transaction goes on.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping, Sequence
from types import NoneType
from typing import NamedTuple

from accord.gateway.engine.engine_errors import (
    EngineError,
    Fenced,
    Gap,
    LogFull,
    NoSession,
    OwnedElsewhere,
)
from accord.gateway.engine.interface import (
    Event,
    Lease,
    LogPage,
    LogState,
    NewEvent,
    Node,
    SnapshotPart,
)
from accord.gateway.engine.limits import EVENT_OVERHEAD_BYTES, PAGE_BYTES_MAX, is_text
from accord.gateway.engine.sqlite.gateway_file import SEQ_MAX, place_of, seq_at
from accord.store.store_errors import session_damaged

# Events that one transaction removes: a bound on how long others wait.
TRIM_EVENTS = 2000

_FIND = (
    "SELECT number, epoch, node, incarnation, first, last, size_bytes, snapshot_seq"
    " FROM sessions WHERE id = ?"
)
_INSERT = "INSERT INTO events (place, epoch, at, kind, frame) VALUES (?,?,?,?,?)"


class Row(NamedTuple):
    """What the file has about the log of a session."""

    number: int
    epoch: int
    node: str | None
    incarnation: str | None
    first: int
    last: int
    size_bytes: int
    snapshot_seq: int | None


# In a damaged file a column may contain anything.
_ROW_KINDS = frozenset(
    (int, int, node, node, int, int, int, covered)
    for node in (str, NoneType)
    for covered in (int, NoneType)
)


def find(db: sqlite3.Connection, session: str) -> Row | None:
    """Find a session.

    Raises:
        StoreError: it is damaged.
    """
    if not is_text(session):
        return None
    values = db.execute(_FIND, (session,)).fetchone()
    if values is None:
        return None
    kinds = tuple(map(type, values))
    if kinds not in _ROW_KINDS or not 0 < values[4] <= values[5] + 1 <= SEQ_MAX + 1:
        raise session_damaged(session, "a column has a wrong type or value")
    return Row(*values)


def _owned(db: sqlite3.Connection, session: str, epoch: int) -> Row | EngineError:
    """Find a session that is owned under this epoch."""
    row = find(db, session)
    if row is None:
        return NoSession(session)
    if row.epoch != epoch or row.node is None:
        return Fenced(session, epoch, row.epoch)
    return row


# ---- the log


def append(
    db: sqlite3.Connection,
    session: str,
    epoch: int,
    events: Sequence[NewEvent],
    at: int,
    size: int,
    size_max: int,
) -> int | EngineError:
    """Add a group of events; return the number of its last one."""
    row = _owned(db, session, epoch)
    if isinstance(row, EngineError):
        return row
    last = row.last + len(events)
    if row.size_bytes + size > size_max or last > SEQ_MAX:
        return LogFull(session, row.size_bytes, size_max)
    start = place_of(row.number, row.last + 1)
    db.executemany(
        _INSERT,
        [(place, epoch, at, kind, frame) for place, (kind, frame) in enumerate(events, start)],
    )
    db.execute(
        "UPDATE sessions SET last = ?, size_bytes = ? WHERE number = ?",
        (last, row.size_bytes + size, row.number),
    )
    return last


def read_after(db: sqlite3.Connection, session: str, seq: int, limit: int) -> LogPage | EngineError:
    """Read a page of events."""
    row = find(db, session)
    if row is None:
        return NoSession(session)
    if not row.first - 1 <= seq <= row.last:
        return Gap(session, seq, row.first, row.last)
    wanted = min(limit, row.last - seq)
    events: list[Event] = []
    size = 0
    rows = db.execute(
        "SELECT place, epoch, at, kind, frame FROM events WHERE place > ? AND place <= ?"
        " ORDER BY place LIMIT ?",
        (place_of(row.number, seq), place_of(row.number, row.last), wanted),
    )
    try:
        for place, epoch, at, kind, frame in rows:
            event = Event(seq_at(place), epoch, kind, frame, at / 1000)
            expected = seq + 1 + len(events)
            if event.seq != expected or type(frame) is not bytes or type(kind) is not str:
                raise session_damaged(session, f"event {expected} is missing or cannot be read")
            events.append(event)
            size += len(frame)
            if size >= PAGE_BYTES_MAX:
                break
        else:
            if len(events) != wanted:
                raise session_damaged(session, f"event {seq + 1 + len(events)} is missing")
    except TypeError as error:
        raise session_damaged(session, str(error)) from None
    finally:
        rows.close()
    return LogPage(tuple(events), row.first, row.last)


def log_state(db: sqlite3.Connection, session: str) -> LogState | EngineError:
    """Read the extent of a log."""
    row = find(db, session)
    if row is None:
        return NoSession(session)
    return LogState(row.first, row.last, row.size_bytes, row.snapshot_seq)


def extend_snapshot(
    db: sqlite3.Connection, session: str, epoch: int, seq: int, data: bytes, bytes_max: int
) -> EngineError | ValueError | None:
    """Add a part to the snapshot of a session, and drop the oldest ones if it is too large."""
    row = _owned(db, session, epoch)
    if isinstance(row, EngineError):
        return row
    first = (row.snapshot_seq or 0) + 1
    if not first <= seq <= row.last:
        return ValueError(f"a snapshot goes on with event {first} to {row.last}, not {seq}")
    db.execute("UPDATE sessions SET snapshot_seq = ? WHERE number = ?", (seq, row.number))
    place = place_of(row.number, seq)
    db.execute("INSERT INTO snapshots VALUES (?, ?, ?)", (place, first, data))
    left = bytes_max - len(data)
    parts = db.execute(
        "SELECT place, length(data) FROM snapshots WHERE place >= ? AND place < ?"
        " ORDER BY place DESC",
        (place_of(row.number, 0), place),
    ).fetchall()
    for older, size in parts:
        left -= size
        if left < 0:
            db.execute("DELETE FROM snapshots WHERE place = ?", (older,))
    return None


def snapshot_after(
    db: sqlite3.Connection, session: str, seq: int
) -> SnapshotPart | EngineError | None:
    """Read the first part of a snapshot that ends behind an event."""
    row = find(db, session)
    if row is None:
        return NoSession(session)
    if row.snapshot_seq is None or row.snapshot_seq <= seq:
        return None
    found = db.execute(
        "SELECT place, first, data FROM snapshots WHERE place > ? AND place <= ?"
        " ORDER BY place LIMIT 1",
        (place_of(row.number, seq), place_of(row.number, row.snapshot_seq)),
    ).fetchone()
    if found is None or (type(found[1]), type(found[2])) != (int, bytes):
        raise session_damaged(session, "its snapshot is missing or cannot be read")
    return SnapshotPart(found[1], seq_at(found[0]), found[2])


def trim(
    db: sqlite3.Connection, session: str, epoch: int, seq: int
) -> bool | EngineError | ValueError:
    """Remove the oldest events up to `seq`, some of them; return whether all are gone."""
    row = _owned(db, session, epoch)
    if isinstance(row, EngineError):
        return row
    if row.snapshot_seq is None or row.snapshot_seq < seq:
        return ValueError(f"no snapshot covers event {seq}")
    end = min(seq, row.first + TRIM_EVENTS - 1)
    if end < row.first:
        return True
    places = (place_of(row.number, row.first), place_of(row.number, end))
    (frames,) = db.execute(
        "SELECT coalesce(sum(length(frame)), 0) FROM events WHERE place BETWEEN ? AND ?", places
    ).fetchone()
    count = db.execute("DELETE FROM events WHERE place BETWEEN ? AND ?", places).rowcount
    size = row.size_bytes - frames - count * EVENT_OVERHEAD_BYTES
    db.execute(
        "UPDATE sessions SET first = ?, size_bytes = ? WHERE number = ?",
        (end + 1, size, row.number),
    )
    return end == seq


# ---- ownership


def own(
    db: sqlite3.Connection, session: str, node: Node, seconds_left: Mapping[Node, float]
) -> Lease | EngineError:
    """Make a node the owner; `seconds_left` has the nodes whose time has not passed."""
    row = find(db, session)
    if row is None:
        return NoSession(session)
    if row.node is not None:
        owner = Node(row.node, row.incarnation or "")
        left = seconds_left.get(owner, 0.0)
        if owner != node and left > 0:
            return OwnedElsewhere(session, owner.name, left)
    db.execute("UPDATE counters SET value = value + 1 WHERE name = 'epoch'")
    (epoch,) = db.execute("SELECT value FROM counters WHERE name = 'epoch'").fetchone()
    db.execute(
        "UPDATE sessions SET epoch = ?, node = ?, incarnation = ? WHERE number = ?",
        (epoch, node.name, node.incarnation, row.number),
    )
    return Lease(session, node, epoch, row.last)


def release(db: sqlite3.Connection, session: str, epoch: int) -> None:
    """Give a session up, if it is still owned under this epoch."""
    db.execute(
        "UPDATE sessions SET node = NULL, incarnation = NULL WHERE id = ? AND epoch = ?",
        (session, epoch),
    )
