"""The SQL queries of records.

As in `log_queries.py`, a function that refuses returns the error and has written nothing.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from accord.gateway.engine.engine_errors import Conflict, EngineError, NoSession, SessionExists
from accord.gateway.engine.interface import RecordPage, SessionRecord
from accord.gateway.engine.limits import ROLES, is_text
from accord.gateway.engine.sqlite.gateway_file import SEQ_MAX, place_of
from accord.gateway.engine.sqlite.log_queries import TRIM_EVENTS
from accord.schema.codec import Invalid, encode, to_python
from accord.store.queries import below
from accord.store.session_store import BadCursor
from accord.store.store_errors import session_damaged

# Free pages that one transaction returns to the disk.
SHRINK_PAGES = 256

_SELECT = (
    "SELECT sessions.number, id, revision, agent, records.principal, members, cwd,"
    " protocol_version, title, agent_session, state, created_at, updated_at, data"
    " FROM records JOIN sessions ON sessions.number = records.number"
)


def _record(values: Sequence[Any]) -> SessionRecord:
    """Create a record from its columns.

    Raises:
        StoreError: one is damaged.
    """
    _, session, revision, agent, principal, members, cwd, version, *rest = values
    title, agent_session, state, created_at, updated_at, data = rest
    texts = (session, agent, principal, members, cwd, state)
    optional = (one for one in (title, agent_session) if one is not None)
    numbers = (revision, version, created_at, updated_at)
    fits = (
        all(type(one) is str for one in (*texts, *optional))
        and all(type(one) is int for one in numbers)
        and type(data) is bytes
    )
    if not fits:
        raise session_damaged(str(session), "a column has a wrong type")
    return SessionRecord(
        session=session,
        agent=agent,
        principal=principal,
        members=_members(session, members),
        cwd=cwd,
        protocol_version=version,
        title=title,
        agent_session=agent_session,
        state=state,
        data=data,
        created_at=created_at / 1000,
        updated_at=updated_at / 1000,
        revision=revision,
    )


def _members(session: str, text: str) -> Mapping[str, Any]:
    try:
        members = to_python(text.encode())
    except Invalid as error:
        raise session_damaged(session, str(error)) from None
    if not isinstance(members, dict) or not all(role in ROLES for role in members.values()):
        # What is not understood is not a right to do something.
        raise session_damaged(session, "its members cannot be read")
    return members


def _columns(record: SessionRecord) -> tuple[Any, ...]:
    members = encode(dict(record.members)).decode()
    return (
        *(record.agent, record.principal, members, record.cwd, record.protocol_version),
        *(record.title, record.agent_session, record.state, record.data),
    )


def _grant(db: sqlite3.Connection, number: int, record: SessionRecord) -> None:
    """Let its principal and its members find a session."""
    db.execute("DELETE FROM access WHERE number = ?", (number,))
    db.executemany(
        "INSERT INTO access (principal, number) VALUES (?, ?)",
        [(one, number) for one in {record.principal, *record.members}],
    )


def create(db: sqlite3.Connection, record: SessionRecord, at: int) -> SessionRecord | EngineError:
    """Add a session with an empty log."""
    session = record.session
    if db.execute("SELECT 1 FROM sessions WHERE id = ?", (session,)).fetchone() is not None:
        return SessionExists(session)
    number = db.execute(
        "INSERT INTO sessions (id, epoch, first, last, size_bytes) VALUES (?, 0, 1, 0, 0)",
        (session,),
    ).lastrowid
    db.execute(
        "INSERT INTO records (number, revision, created_at, updated_at, agent, principal, members,"
        " cwd, protocol_version, title, agent_session, state, data)"
        " VALUES (?,1,?,?,?,?,?,?,?,?,?,?,?)",
        (number, at, at, *_columns(record)),
    )
    assert number is not None
    _grant(db, number, record)
    return replace(
        record,
        members=dict(record.members),
        created_at=at / 1000,
        updated_at=at / 1000,
        revision=1,
    )


def get(db: sqlite3.Connection, session: str) -> SessionRecord | None:
    """Read the record of a session."""
    if not is_text(session):
        return None
    values = db.execute(f"{_SELECT} WHERE id = ?", (session,)).fetchone()
    return None if values is None else _record(values)


def put(db: sqlite3.Connection, record: SessionRecord, at: int) -> SessionRecord | EngineError:
    """Replace the record that has the same revision."""
    values = db.execute(f"{_SELECT} WHERE id = ?", (record.session,)).fetchone()
    if values is None:
        return NoSession(record.session)
    number, old = values[0], _record(values)
    if old.revision != record.revision:
        return Conflict(record.session, old.revision)
    db.execute(
        "UPDATE records SET revision = ?, updated_at = ?, agent = ?, principal = ?, members = ?,"
        " cwd = ?, protocol_version = ?, title = ?, agent_session = ?, state = ?, data = ?"
        " WHERE number = ?",
        (old.revision + 1, at, *_columns(record), number),
    )
    if (old.principal, old.members) != (record.principal, record.members):
        _grant(db, number, record)
    return replace(
        record,
        members=dict(record.members),
        created_at=old.created_at,
        updated_at=at / 1000,
        revision=old.revision + 1,
    )


def page(
    db: sqlite3.Connection,
    principal: str | None,
    state: str | None,
    cursor: str | None,
    length: int,
) -> RecordPage | BadCursor:
    """List sessions by creation, newest first, below the cursor."""
    if not all(one is None or is_text(one) for one in (principal, state)):
        return RecordPage(())
    made = db.execute("SELECT seq FROM sqlite_sequence WHERE name = 'sessions'").fetchone()
    newest = 0 if made is None else int(made[0])
    query, conditions = _SELECT, ["records.number < ?"]
    try:
        values: list[Any] = [newest + 1 if cursor is None else below(cursor, newest)]
    except BadCursor as error:
        return error
    if principal is not None:
        query += " JOIN access ON access.number = records.number"
        # Of the index that is read in its order.
        conditions = ["access.number < ?", "access.principal = ?"]
        values.append(principal)
    if state is not None:
        conditions.append("state = ?")
        values.append(state)
    order = "records.number" if principal is None else "access.number"
    rows = db.execute(
        f"{query} WHERE {' AND '.join(conditions)} ORDER BY {order} DESC LIMIT ?",
        (*values, length + 1),
    ).fetchall()
    more = len(rows) > length
    return RecordPage(
        tuple(_record(row) for row in rows[:length]),
        f"below:{rows[length - 1][0]}" if more else None,
    )


def delete(db: sqlite3.Connection, session: str) -> bool:
    """Delete a session; `erase` removes its events afterwards."""
    if not is_text(session):
        return False
    found = db.execute("SELECT number FROM sessions WHERE id = ?", (session,)).fetchone()
    if found is None:
        return False
    for table in ("sessions", "records", "access"):
        db.execute(f"DELETE FROM {table} WHERE number = ?", found)
    places = (place_of(found[0], 0), place_of(found[0], SEQ_MAX))
    db.execute("DELETE FROM snapshots WHERE place BETWEEN ? AND ?", places)
    db.execute("INSERT INTO erased VALUES (?)", found)
    return True


def erase(db: sqlite3.Connection) -> bool:
    """Remove some events of deleted sessions; return whether all are gone."""
    found = db.execute("SELECT min(number) FROM erased").fetchone()
    if found == (None,):
        return True
    (number,) = found
    gone = db.execute(
        "DELETE FROM events WHERE place IN"
        " (SELECT place FROM events WHERE place BETWEEN ? AND ? LIMIT ?)",
        (place_of(number, 0), place_of(number, SEQ_MAX), TRIM_EVENTS),
    ).rowcount
    if gone < TRIM_EVENTS:
        db.execute("DELETE FROM erased WHERE number = ?", (number,))
        _shrink(db)
    return False


def _shrink(db: sqlite3.Connection) -> None:
    """Return some free pages to the disk."""
    (free,) = db.execute("PRAGMA freelist_count").fetchone()
    # Python makes one step of a statement without columns, and one step returns one page.
    for _ in range(min(free, SHRINK_PAGES)):
        db.execute("PRAGMA incremental_vacuum")
