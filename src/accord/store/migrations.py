"""The tables of a store, migration by migration.

The format of a file is the number of migrations that it has had, stored in `user_version` in the
same transaction as the migration.  A released migration is never changed; new ones are added at the
end.

What always holds
    * A file of a newer format, or of another program, is not written to.
    * Of two processes that open an old file at once, one migrates and the other sees the result.
"""

from __future__ import annotations

import sqlite3

from accord.errors import StoreError
from accord.store.file_format import FileFormat

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
"""The columns of the newest format."""

SESSION_STORE = FileFormat(
    application_id=APPLICATION_ID,
    migrations=STEPS,
    columns=COLUMNS,
    last_rows=("SELECT max(number) FROM sessions", "SELECT max(session) FROM events"),
    noun="a session store",
    failure="cannot store sessions",
    elsewhere="set ACCORD_STATE_DIR to",
    rescue_command="accord sessions rescue",
)


def bring_up_to_date(
    connection: sqlite3.Connection, path: str, file_format: FileFormat = SESSION_STORE
) -> None:
    """Run the migrations that this file has not had.

    Raises:
        StoreError: the file is newer than this program, or is not of this format.
    """
    steps = file_format.migrations
    # In one transaction, because another process may be creating the file.
    connection.execute("BEGIN")
    try:
        stored = _stored(connection, path, file_format)
    finally:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
    if stored == len(steps):
        return
    connection.execute("BEGIN IMMEDIATE")
    try:
        # Another process may have been faster.
        for number in range(_stored(connection, path, file_format), len(steps)):
            # Not `executescript`, which would end the transaction first.
            for statement in steps[number].split(";"):
                connection.execute(statement)
            connection.execute(f"PRAGMA user_version = {number + 1}")
        connection.execute(f"PRAGMA application_id = {file_format.application_id}")
        connection.execute("COMMIT")
    except BaseException:
        # Some errors have already ended the transaction.
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise


def check_schema(
    connection: sqlite3.Connection, path: str, file_format: FileFormat = SESSION_STORE
) -> None:
    """Check the format and the tables of a file that may be damaged, without changing it.

    Raises:
        StoreError: it is newer than this program, or is not of this format.
        sqlite3.Error: it cannot be read.
    """
    stored = _stored(connection, path, file_format)
    if stored < len(file_format.migrations):
        return
    for table, columns in file_format.columns.items():
        # Fails if a table or column is missing.
        connection.execute(f"SELECT {', '.join(columns)} FROM {table} LIMIT 0")
    for query in file_format.last_rows:
        connection.execute(query).fetchone()


def _stored(connection: sqlite3.Connection, path: str, file_format: FileFormat) -> int:
    """Return the number of migrations that the file has had."""
    newest = len(file_format.migrations)
    (application,) = connection.execute("PRAGMA application_id").fetchone()
    (stored,) = connection.execute("PRAGMA user_version").fetchone()
    (tables,) = connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
    is_fresh = application == 0 and stored == 0 and tables == 0
    if not is_fresh and (application != file_format.application_id or stored < 1):
        command = file_format.rescue_command
        rescue = "" if command is None else f" (`{command}` recovers what can be read)"
        raise StoreError(
            "store_damaged",
            f"{path} is a database of another program, or damaged; it was not changed: move it"
            f" away, or {file_format.elsewhere} another folder{rescue}",
            path=path,
        )
    if stored > newest:
        raise StoreError(
            "store_newer",
            f"{path} was written by a newer version of accord (its format is {stored}, this"
            f" program knows {newest}); it was not changed: update accord, or"
            f" {file_format.elsewhere} another folder",
            path=path,
            version=stored,
        )
    return int(stored)
