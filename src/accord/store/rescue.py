"""Recovers the readable content of a damaged store into a new one.

What always holds
    * The damaged file and its log are only read.
    * An existing file is never overwritten.
    * The new store appears when it is complete, and not before.
    * The new store is valid: a session whose row is lost gets a new row that says so, and an update
      that is not valid any more is left out and counted.
"""

from __future__ import annotations

import errno
import os
import sqlite3
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from accord.errors import StoreError
from accord.machine import clock
from accord.schema.codec import Invalid
from accord.store.database_file import open_file
from accord.store.queries import Row, row_values
from accord.store.session_store import SessionRecord
from accord.store.sqlite import update_reader
from accord.store.sqlite_page_reader import Damage, StoredRow, read_rows
from accord.store.store_errors import explained

SESSION_COLUMNS, EVENT_COLUMNS, KEPT_COLUMNS, PRUNED_COLUMNS = 12, 4, 3, 5
SUFFIX = "-rescued"
PART_SUFFIX = ".part"
NUMBERS_MAX = 10_000
READS_MAX = 20
LOG_HEAD_BYTES = 32
LOST_TITLE = "A rescued session; its title and folder were lost"


@dataclass(slots=True)
class Rescued:
    """What was recovered, where, and what is known to be lost."""

    target: Path
    sessions: int = 0
    updates: int = 0
    # Sessions with updates, but with a missing or damaged row.
    unnamed: int = 0
    # Rows that cannot be read, and updates that are missing between others.
    unreadable: int = 0
    missing: int = 0


@dataclass(slots=True)
class _Found:
    """The rows of all pages by key, since a row may be found twice."""

    sessions: dict[int, Row] = field(default_factory=dict)
    events: dict[int, dict[int, tuple[int, bytes]]] = field(default_factory=dict)
    kept: dict[tuple[int, str], bytes] = field(default_factory=dict)
    pruned: dict[str, tuple[Any, ...]] = field(default_factory=dict)
    unreadable: int = 0


def rescue(source: Path, target: Path | None = None) -> Rescued:
    """Read the store at `source` and write what is readable to a new one.

    Without a target it is created next to the source, under an unused name.

    Raises:
        StoreError: the source cannot be read, has nothing to recover, or the target exists or
            cannot be written.
    """
    found = _find(*_read(source))
    if not found.sessions and not found.events:
        text = f"no session in {source} can be read; nothing was recovered"
        raise StoreError("store_damaged", text, path=str(source))
    place = _free_name(source) if target is None else target
    if os.path.lexists(place):
        raise _taken(place)
    # Unique, since several processes may do this at a time.
    part = place.with_name(f"{place.name}.{os.getpid()}{PART_SUFFIX}")
    try:
        rescued = _write(found, part)
        _put_in_place(part, place)
    except StoreError as error:
        # The user never sees this unfinished file.
        text = str(error).replace(str(part), str(place))
        raise StoreError(error.reason, text, path=str(place)) from None
    finally:
        for suffix in ("", "-wal", "-shm", "-journal"):
            Path(f"{part}{suffix}").unlink(missing_ok=True)
    rescued.target = place
    return rescued


def _taken(place: Path) -> StoreError:
    text = f"{place} already exists; choose another name"
    return StoreError("store_unreachable", text, path=str(place))


def _put_in_place(part: Path, place: Path) -> None:
    try:
        # Fails if another process has taken the name meanwhile.
        os.close(os.open(place, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600))
        part.replace(place)
    except FileExistsError:
        raise _taken(place) from None
    except OSError as error:
        raise explained(error, place) from None


def _read(source: Path) -> tuple[bytes, bytes]:
    """Read the file and its log at one point in time, even while another process writes.

    A process that restarts the log writes a new header.  While the header is the same, it has every
    page that was copied into the file in the meantime.
    """
    data = log = b""
    for _ in range(READS_MAX):
        head = _read_log(source, LOG_HEAD_BYTES)
        data = _read_file(source, is_needed=not head)
        log = _read_log(source)
        if head == log[:LOG_HEAD_BYTES] == _read_log(source, LOG_HEAD_BYTES):
            break
    return data, log


def _read_file(source: Path, is_needed: bool) -> bytes:
    try:
        if source.exists() and not source.is_file():
            raise OSError(errno.EINVAL, "it is not a regular file")
        return source.read_bytes()
    except OSError as error:
        if isinstance(error, FileNotFoundError) and not is_needed:
            # All that is left is in its log.
            return b""
        text = f"{source} cannot be read: {error.strerror}"
        raise StoreError("store_unreachable", text, path=str(source)) from None


def _read_log(source: Path, size: int = -1) -> bytes:
    try:
        with open(f"{source}-wal", "rb") as file:
            return file.read(size)
    except OSError:
        # Usually there is none.
        return b""


def _free_name(source: Path) -> Path:
    for number in range(1, NUMBERS_MAX):
        ending = SUFFIX if number == 1 else f"{SUFFIX}-{number}"
        name = source.with_name(f"{source.stem}{ending}{source.suffix}")
        if not os.path.lexists(name):
            return name
    raise StoreError("store_unreachable", f"every name next to {source} is taken", path=str(source))


def _find(data: bytes, log: bytes) -> _Found:
    found = _Found()
    is_update = update_reader()
    for row in read_rows(data, log):
        if isinstance(row, Damage) or not _take(found, row, is_update):
            found.unreadable += 1
    return found


def _take(found: _Found, row: StoredRow, is_update: Any) -> bool:
    """Collect a row of one of our tables; return False for a damaged one."""
    values: Any = row.values
    if row.rowid is not None and len(values) == SESSION_COLUMNS:
        return _take_session(found, row.rowid, values)
    if row.rowid is not None and len(values) == KEPT_COLUMNS:
        number, name, value = values
        if isinstance(number, int) and isinstance(name, str) and isinstance(value, bytes):
            found.kept[number, name] = value
    elif row.rowid is None and len(values) == EVENT_COLUMNS:
        number, seq, at, data = values
        if isinstance(data, str):
            # The same row under another key.
            data = data.encode()
        if not all(isinstance(one, int) for one in (number, seq, at)):
            return False
        try:
            is_update(data)
        except (Invalid, TypeError, ValueError):
            return False
        found.events.setdefault(number, {})[seq] = (at, data)
    elif row.rowid is None and len(values) == PRUNED_COLUMNS and isinstance(values[0], str):
        found.pruned[values[0]] = values
    return True


def _take_session(found: _Found, number: int, values: Any) -> bool:
    _, session_id, cwd, title, created, updated, archived, rest, *_ = values
    texts = (session_id, cwd, created, rest)
    optional = (title, updated)
    if not all(isinstance(one, str) for one in texts) or not session_id:
        return False
    if not all(one is None or isinstance(one, str) for one in optional):
        return False
    row = Row(
        *(number, session_id, cwd, title, updated, int(bool(archived)), rest),
        *(None, None, None, None, created),
    )
    try:
        row.record()
    except StoreError:
        row = row._replace(rest=row_values(row.brief())[-1])
    found.sessions[number] = row
    return True


def _write(found: _Found, target: Path) -> Rescued:
    """Create the new store."""
    rescued = Rescued(target, unreadable=found.unreadable)
    connection = open_file(target, "FULL")
    try:
        # Everything must be in the file itself; closing does not report whether a log was moved.
        connection.execute("PRAGMA journal_mode = DELETE")
        connection.execute("BEGIN IMMEDIATE")
        for number in sorted({*found.sessions, *found.events}):
            _write_session(connection, found, number, rescued)
        connection.executemany(
            "INSERT OR IGNORE INTO pruned VALUES (?,?,?,?,?)", found.pruned.values()
        )
        connection.execute("COMMIT")
    except (sqlite3.Error, OSError) as error:
        connection.close()
        raise explained(error, target) from None
    connection.close()
    return rescued


def _write_session(
    connection: sqlite3.Connection, found: _Found, number: int, rescued: Rescued
) -> None:
    row = found.sessions.get(number)
    if row is None:
        record = SessionRecord(f"rescued-{number}", "/", title=LOST_TITLE)
        rescued.unnamed += 1
    else:
        record = row.record()
    created = clock.timestamp() if row is None else row.created_at
    connection.execute(
        "INSERT OR IGNORE INTO sessions"
        " (number, id, cwd, title, updated_at, archived, rest, created_at)"
        " VALUES (?,?,?,?,?,?,?,?)",
        (number, *row_values(record), created),
    )
    events = found.events.get(number, {})
    connection.executemany(
        "INSERT INTO events VALUES (?,?,?,?)",
        ((number, seq, at, data) for seq, (at, data) in sorted(events.items())),
    )
    connection.executemany(
        "INSERT INTO kept VALUES (?,?,?)",
        ((one, name, value) for (one, name), value in found.kept.items() if one == number),
    )
    rescued.sessions += 1
    rescued.updates += len(events)
    rescued.missing += max(events, default=0) - len(events)
