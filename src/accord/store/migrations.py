"""The tables of a store, version by version.

A version is the number of steps that were taken, and is written into the file (`user_version`)
in the same transaction as the step.  A step is never changed once it was released; a new one is
added at the end.

What always holds
    * A file of a newer version, or of another program, is not written to.
    * Of two processes that open an old file at once, one takes the steps and the other sees them.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence

from accord.errors import StoreError

# "Acrd": tells our files from those of other programs.
APPLICATION_ID = 0x41637264

FIRST = """
CREATE TABLE sessions (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    id TEXT NOT NULL UNIQUE,
    cwd TEXT NOT NULL,
    title TEXT,
    created_at TEXT NOT NULL,
    updated_at TEXT,
    archived INTEGER NOT NULL,
    rest TEXT NOT NULL,
    owner_token TEXT,
    owner_pid INTEGER,
    owner_started INTEGER,
    owner_place TEXT
);
CREATE INDEX sessions_by_cwd ON sessions (cwd, number);
CREATE TABLE events (
    session INTEGER NOT NULL,
    seq INTEGER NOT NULL,
    at INTEGER NOT NULL,
    data BLOB NOT NULL,
    PRIMARY KEY (session, seq)
) WITHOUT ROWID;
CREATE TABLE kept (
    session INTEGER NOT NULL,
    name TEXT NOT NULL,
    value BLOB NOT NULL,
    PRIMARY KEY (session, name)
);
CREATE TABLE pruned (
    id TEXT PRIMARY KEY,
    cwd TEXT NOT NULL,
    title TEXT,
    updated_at TEXT,
    pruned_at TEXT NOT NULL
) WITHOUT ROWID;
"""

STEPS: tuple[str, ...] = (FIRST,)

COLUMNS = {
    "sessions": (
        *("number", "id", "cwd", "title", "created_at", "updated_at", "archived", "rest"),
        *("owner_token", "owner_pid", "owner_started", "owner_place"),
    ),
    "events": ("session", "seq", "at", "data"),
    "kept": ("session", "name", "value"),
    "pruned": ("id", "cwd", "title", "updated_at", "pruned_at"),
}
"""What the newest version has."""


def bring_up_to_date(
    connection: sqlite3.Connection, path: str, steps: Sequence[str] = STEPS
) -> None:
    """Take the steps that this file has not seen.

    Raises:
        StoreError: the file is newer than this program, or is no store.
    """
    # In one transaction: another process may be making the file at this moment.
    connection.execute("BEGIN")
    try:
        version = _version(connection, path, len(steps))
    finally:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
    if version == len(steps):
        return
    connection.execute("BEGIN IMMEDIATE")
    try:
        # Another process may have been quicker.
        for number in range(_version(connection, path, len(steps)), len(steps)):
            # Not `executescript`, which would end the transaction first.
            for statement in steps[number].split(";"):
                connection.execute(statement)
            connection.execute(f"PRAGMA user_version = {number + 1}")
        connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
        connection.execute("COMMIT")
    except BaseException:
        # Some errors have ended the transaction already.
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise


def check_schema(connection: sqlite3.Connection, path: str) -> None:
    """Read the version and the tables of a file that may be damaged; changes nothing.

    Raises:
        StoreError: it is newer than this program, or is no store, or a table of it is not there.
        sqlite3.Error: it cannot be read.
    """
    version = _version(connection, path, len(STEPS))
    if version < len(STEPS):
        return
    for table, columns in COLUMNS.items():
        # Fails where one is not there.
        connection.execute(f"SELECT {', '.join(columns)} FROM {table} LIMIT 0")
    # Where the next rows go: without that nothing can be added.
    for query in ("SELECT max(number) FROM sessions", "SELECT max(session) FROM events"):
        connection.execute(query).fetchone()


def _version(connection: sqlite3.Connection, path: str, newest: int) -> int:
    (application,) = connection.execute("PRAGMA application_id").fetchone()
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    (tables,) = connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
    is_fresh = application == 0 and version == 0 and tables == 0
    if not is_fresh and (application != APPLICATION_ID or version < 1):
        raise StoreError(
            "store_damaged",
            f"{path} is a database of another program, or damaged; it was left as it is: move it"
            " away, or set ACCORD_STATE_DIR to another folder (`accord sessions rescue` saves what"
            " can be read)",
            path=path,
        )
    if version > newest:
        raise StoreError(
            "store_newer",
            f"{path} was written by a newer version of accord (its format is {version}, this"
            f" program knows {newest}); it was left as it is: update accord, or set another place",
            path=path,
            version=version,
        )
    return int(version)


__all__ = ["APPLICATION_ID", "COLUMNS", "STEPS", "bring_up_to_date", "check_schema"]
