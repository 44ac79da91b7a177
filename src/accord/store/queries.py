"""The SQL queries of the store.

Every function runs inside a transaction of `writer_thread.py` and checks before it writes, so that
nothing is left behind when it raises.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from dataclasses import replace
from types import NoneType
from typing import Any, NamedTuple

from accord.errors import StoreError
from accord.machine import clock
from accord.schema.codec import Invalid, encode, to_python
from accord.store.owner_process import Owner, is_alive
from accord.store.session_store import BadCursor, Page, SessionRecord
from accord.store.store_errors import (
    session_damaged,
    session_exists,
    session_in_use,
    session_pruned,
)

# The fields of a record that have columns of their own; the others are one JSON text.
_COLUMNS = ("session_id", "cwd", "title", "updated_at", "archived")
_SELECT = (
    "SELECT number, id, cwd, title, updated_at, archived, rest,"
    " owner_token, owner_pid, owner_started, owner_place, created_at FROM sessions"
)
_APPEND = (
    "INSERT INTO events (session, seq, at, data) SELECT number,"
    " 1 + coalesce((SELECT max(seq) FROM events WHERE session = number), 0), ?, ?"
    " FROM sessions WHERE number = ? AND (owner_token = ? OR owner_token IS NULL)"
)


_UNUSED = '"unused":true'


class Row(NamedTuple):
    """A session as it is stored."""

    number: int
    session_id: str
    cwd: str
    title: str | None
    updated_at: str | None
    archived: int
    rest: str
    owner_token: str | None
    owner_pid: int | None
    owner_started: int | None
    owner_place: str | None
    created_at: str

    @property
    def owner(self) -> Owner | None:
        """The last owner, running or not."""
        if self.owner_token is None:
            return None
        return Owner(
            self.owner_token, self.owner_pid or 0, self.owner_started or 0, self.owner_place or ""
        )

    @property
    def is_abandoned(self) -> bool:
        """Whether it has no prompt, and its process exited without deleting it."""
        owner = self.owner
        if owner is None or _UNUSED not in self.rest or is_alive(owner, self.updated_at):
            return False
        try:
            return not self.record().is_worth_keeping
        except StoreError:
            return False

    def brief(self) -> SessionRecord:
        """Create a row from the columns."""
        return SessionRecord(
            self.session_id,
            self.cwd,
            title=self.title,
            updated_at=self.updated_at,
            archived=bool(self.archived),
        )

    def record(self) -> SessionRecord:
        """Return the whole record.  Raises StoreError if it cannot be read."""
        try:
            rest: dict[str, Any] = to_python(self.rest.encode())
            rest["additional_directories"] = tuple(rest["additional_directories"])
            record = replace(self.brief(), **rest)
            _check(record)
            return record
        except (Invalid, TypeError, KeyError, AttributeError, ValueError) as error:
            raise session_damaged(self.session_id, str(error)) from None


def _check(record: SessionRecord) -> None:
    """Raise TypeError for a record with a field of a wrong type."""
    found: Any = record
    fits = (
        all(isinstance(one, str) for one in found.additional_directories),
        isinstance(found.options, dict),
        isinstance(found.tokens, dict),
        found.system_prompt is None or isinstance(found.system_prompt, str),
    )
    if not all(fits):
        raise TypeError("a field has a wrong type")


def _are(values: Sequence[object], *kinds: type) -> bool:
    return all(isinstance(one, kinds) for one in values)


def read_row(values: Sequence[Any]) -> Row:
    """Check the types of a row's columns.

    Raises:
        StoreError: one is wrong; in a damaged file a column may contain anything.
    """
    row = Row(*values)
    texts = (row.session_id, row.cwd, row.rest, row.created_at)
    optional_texts = (row.title, row.updated_at, row.owner_token, row.owner_place)
    numbers = (row.number, row.archived)
    optional_numbers = (row.owner_pid, row.owner_started)
    if (
        _are(texts, str)
        and _are(optional_texts, str, NoneType)
        and _are(numbers, int)
        and _are(optional_numbers, int, NoneType)
    ):
        return row
    raise session_damaged(str(row.session_id), "a column has a wrong type")


def now() -> str:
    """Return the time in the format of records."""
    return clock.timestamp()


def find(db: sqlite3.Connection, session_id: str) -> Row | None:
    """Find a session by its id.

    Raises:
        StoreError: the session was pruned.
    """
    row = db.execute(f"{_SELECT} WHERE id = ?", (session_id,)).fetchone()
    if row is not None:
        return read_row(row)
    gone = db.execute("SELECT pruned_at FROM pruned WHERE id = ?", (session_id,)).fetchone()
    if gone is not None:
        raise session_pruned(session_id, gone[0])
    return None


def find_free(db: sqlite3.Connection, session_id: str, owner: Owner) -> Row | None:
    """Find a session that no other process has open.

    Raises:
        StoreError: another running process has it open, or it was pruned.
    """
    row = find(db, session_id)
    other = None if row is None else row.owner
    if row is None or other is None or other.token == owner.token:
        return row
    if is_alive(other, row.updated_at):
        raise session_in_use(session_id, other.pid)
    return row


def insert(db: sqlite3.Connection, record: SessionRecord, owner: Owner) -> int:
    """Insert a new session that belongs to `owner`; return its number."""
    taken = "SELECT 1 FROM sessions WHERE id = ?1 UNION SELECT 1 FROM pruned WHERE id = ?1"
    if db.execute(taken, (record.session_id,)).fetchone() is not None:
        raise session_exists(record.session_id)
    cursor = db.execute(
        "INSERT INTO sessions (id, cwd, title, updated_at, archived, rest, created_at,"
        " owner_token, owner_pid, owner_started, owner_place) VALUES (?,?,?,?,?,?,?,?,?,?,?)",
        (*row_values(record), now(), *owner),
    )
    assert cursor.lastrowid is not None
    return cursor.lastrowid


def sweep(db: sqlite3.Connection, owner: Owner) -> None:
    """Delete empty sessions of processes that were killed."""
    others = f"{_SELECT} WHERE owner_token <> ? AND rest LIKE ?"
    rows = db.execute(others, (owner.token, f"%{_UNUSED}%"))
    for values in rows.fetchall():
        try:
            row = read_row(values)
        except StoreError:
            continue
        if row.is_abandoned:
            _erase(db, row.number)


def row_values(record: SessionRecord) -> tuple[Any, ...]:
    """Return the values of the columns of a record."""
    fields = {name: getattr(record, name) for name in SessionRecord.__slots__}
    if not record.unused:
        # Left out if False, so that programs without this field can read most records.
        del fields["unused"]
    columns = [fields.pop(name) for name in _COLUMNS]
    return (*columns[:-1], int(record.archived), encode(fields).decode())


def update(db: sqlite3.Connection, record: SessionRecord, owner: Owner) -> None:
    """Replace the record of a known session that no other process has open."""
    if find_free(db, record.session_id, owner) is None:
        return
    session_id, *values = row_values(record)
    db.execute(
        "UPDATE sessions SET cwd = ?, title = ?, updated_at = ?, archived = ?, rest = ?"
        " WHERE id = ?",
        (*values, session_id),
    )


def take(db: sqlite3.Connection, session_id: str, owner: Owner) -> int | None:
    """Claim a session and check that its log can be read; return its number."""
    row = find_free(db, session_id, owner)
    if row is None:
        return None
    row.record()
    check_log(db, row)
    db.execute(
        "UPDATE sessions SET owner_token = ?, owner_pid = ?, owner_started = ?, owner_place = ?"
        " WHERE number = ?",
        (*owner, row.number),
    )
    return row.number


def check_log(db: sqlite3.Connection, row: Row) -> None:
    """Raise StoreError if an update of this session is not JSON or cannot be read."""
    query = (
        "SELECT seq FROM events WHERE session = ?"
        " AND NOT (typeof(data) = 'blob' AND json_valid(CAST(data AS TEXT))) LIMIT 1"
    )
    try:
        bad = db.execute(query, (row.number,)).fetchone()
    except sqlite3.OperationalError:
        raise
    except sqlite3.DatabaseError as error:
        raise session_damaged(row.session_id, str(error)) from None
    if bad is not None:
        raise session_damaged(row.session_id, f"update {bad[0]} is not JSON")


def give_back(db: sqlite3.Connection, session_id: str, owner: Owner) -> None:
    """Release a session, if it is ours."""
    db.execute(
        "UPDATE sessions SET owner_token = NULL, owner_pid = NULL, owner_started = NULL,"
        " owner_place = NULL WHERE id = ? AND owner_token = ?",
        (session_id, owner.token),
    )


def append(db: sqlite3.Connection, number: int, owner: Owner, at: int, data: bytes) -> None:
    """Add an update.  A deleted session stays deleted."""
    if db.execute(_APPEND, (at, data, number, owner.token)).rowcount:
        return
    row = db.execute(f"{_SELECT} WHERE number = ?", (number,)).fetchone()
    found = None if row is None else read_row(row)
    if found is not None and found.owner is not None:
        raise session_in_use(found.session_id, found.owner.pid)


def page(
    db: sqlite3.Connection,
    cwd: str | None,
    cursor: str | None,
    archived: bool | None,
    length: int,
) -> Page:
    """List sessions by creation time, newest first, below the cursor."""
    made = db.execute("SELECT seq FROM sqlite_sequence WHERE name = 'sessions'").fetchone()
    newest = 0 if made is None else int(made[0])
    conditions = ["number < ?"]
    values: list[Any] = [newest + 1 if cursor is None else below(cursor, newest)]
    wanted = (("cwd", cwd), ("archived", archived))
    for column, value in wanted:
        if value is not None:
            conditions.append(f"{column} = ?")
            values.append(value)
    rows = db.execute(
        f"{_SELECT} WHERE {' AND '.join(conditions)} ORDER BY number DESC LIMIT ?",
        (*values, length + 1),
    ).fetchall()
    more = len(rows) > length
    listed = (_listed(row) for row in rows[:length])
    return Page(
        tuple(record for record in listed if record is not None),
        f"below:{rows[length - 1][0]}" if more else None,
    )


def _listed(values: Sequence[Any]) -> SessionRecord | None:
    try:
        row = read_row(values)
    except StoreError:
        # It has no id that could be shown.
        return None
    if row.is_abandoned:
        return None
    try:
        return row.record()
    except StoreError:
        # It is listed so that it can be deleted; opening it raises an error.
        return row.brief()


def below(cursor: str, newest: int) -> int:
    """Return the number in a cursor."""
    number = cursor.removeprefix("below:")
    known = number != cursor and number.isascii() and number.isdigit() and len(number) < 20
    if not known or int(number) > newest:
        raise BadCursor(cursor)
    return int(number)


def delete(db: sqlite3.Connection, session_id: str, owner: Owner) -> bool:
    """Delete a session that no other process has open, and the note that it was pruned."""
    if db.execute("DELETE FROM pruned WHERE id = ?", (session_id,)).rowcount:
        return False
    row = find_free(db, session_id, owner)
    if row is None:
        return False
    _erase(db, row.number)
    _shrink(db)
    return True


def _erase(db: sqlite3.Connection, number: int) -> None:
    db.execute("DELETE FROM events WHERE session = ?", (number,))
    db.execute("DELETE FROM kept WHERE session = ?", (number,))
    db.execute("DELETE FROM sessions WHERE number = ?", (number,))


def _shrink(db: sqlite3.Connection) -> None:
    """Return free pages to the disk."""
    (free,) = db.execute("PRAGMA freelist_count").fetchone()
    # Python makes one step of a statement without columns, and one step returns one page.
    for _ in range(free):
        db.execute("PRAGMA incremental_vacuum")


def copy(db: sqlite3.Connection, session_id: str, record: SessionRecord, owner: Owner) -> int:
    """Copy the log and values of a session, which may be open elsewhere, to a new one.

    Returns its number, or -1 if there is no such source.
    """
    source = find(db, session_id)
    if source is None:
        return -1
    check_log(db, source)
    number = insert(db, record, owner)
    db.execute(
        "INSERT INTO events SELECT ?, seq, at, data FROM events WHERE session = ?",
        (number, source.number),
    )
    db.execute(
        "INSERT INTO kept SELECT ?, name, value FROM kept WHERE session = ?",
        (number, source.number),
    )
    return number


def prune(db: sqlite3.Connection, before: str, owner: Owner, keep: int) -> list[str]:
    """Delete sessions that were last used before then, except for the `keep` newest."""
    rows = db.execute(f"{_SELECT} ORDER BY coalesce(updated_at, created_at) DESC").fetchall()
    gone: list[str] = []
    for row in (read_row(one) for one in rows[keep:]):
        other = row.owner
        taken = other is not None and (
            other.token == owner.token or is_alive(other, row.updated_at)
        )
        if taken or (row.updated_at or row.created_at) >= before:
            continue
        _erase(db, row.number)
        db.execute(
            "INSERT OR REPLACE INTO pruned VALUES (?,?,?,?,?)",
            (row.session_id, row.cwd, row.title, row.updated_at, now()),
        )
        gone.append(row.session_id)
    _shrink(db)
    return gone
