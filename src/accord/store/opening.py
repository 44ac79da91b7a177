"""Opening the file of a store, and what can be wrong with it, in words.

What always holds
    * Only the user can read it: the file is 0600, and a folder that we make is 0700.
      (SQLite gives its `-wal` and `-shm` files the mode of the file itself.)
    * A file that we do not understand is left as it is.
"""

from __future__ import annotations

import contextlib
import errno
import os
import sqlite3
import stat
import time
from pathlib import Path
from typing import Literal

from accord.errors import StoreError
from accord.store.migrations import bring_up_to_date

Synchronous = Literal["NORMAL", "FULL"]

FOLDER_MODE = 0o700
FILE_MODE = 0o600
# How long one process waits for another that is writing; a commit takes a millisecond.
BUSY_SECONDS_MAX = 10.0
BUSY_SECONDS_STEP = 0.005
# What the write-ahead log may keep on the disk once its content is in the file.
LOG_FILE_BYTES_MAX = 16 * 1024 * 1024


def open_file(path: Path, synchronous: Synchronous) -> sqlite3.Connection:
    """Open a store, make it if there is none, and bring it up to date.

    The connection is the caller's to guard: it may be used from any one thread at a time.

    Raises:
        StoreError: it cannot be reached, is damaged, is newer than this program, or is none.
    """
    try:
        _make(path)
        connection = sqlite3.connect(
            path, timeout=BUSY_SECONDS_MAX, isolation_level=None, check_same_thread=False
        )
    except (OSError, sqlite3.Error) as error:
        raise explained(error, path) from None
    try:
        _prepare(connection, path, synchronous)
    except StoreError:
        connection.close()
        raise
    except (OSError, sqlite3.Error) as error:
        connection.close()
        raise explained(error, path) from None
    return connection


def _prepare(connection: sqlite3.Connection, path: Path, synchronous: Synchronous) -> None:
    """Bring the file up to date and choose how it is written.

    While several processes make one file, SQLite does not wait in all places; so we try again.
    """
    deadline = time.monotonic() + BUSY_SECONDS_MAX
    while True:
        try:
            if connection.execute("PRAGMA page_count").fetchone() == (0,):
                # A new file: large pages, as a model's history has many kilobytes, and pages
                # that can be given back to the disk.
                connection.execute("PRAGMA page_size = 8192")
                connection.execute("PRAGMA auto_vacuum = INCREMENTAL")
            # Reads first: what is no database, or not ours, must not be changed by what follows.
            bring_up_to_date(connection, str(path))
            _make_private(path)
            connection.execute("PRAGMA journal_mode = WAL")
            break
        except sqlite3.OperationalError as error:
            is_busy = error.sqlite_errorcode & 0xFF == sqlite3.SQLITE_BUSY
            if not is_busy or time.monotonic() > deadline:
                raise
            time.sleep(BUSY_SECONDS_STEP)
    connection.execute(f"PRAGMA synchronous = {synchronous}")
    connection.execute(f"PRAGMA journal_size_limit = {LOG_FILE_BYTES_MAX}")
    # What is deleted is overwritten.
    connection.execute("PRAGMA secure_delete = ON")


def _make(path: Path) -> None:
    path.parent.mkdir(mode=FOLDER_MODE, parents=True, exist_ok=True)
    try:
        os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, FILE_MODE))
    except FileExistsError:
        if path.is_dir():
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR)) from None


def _make_private(path: Path) -> None:
    """Close a file of ours that others can read, such as one that was copied here."""
    for name in (path, f"{path}-wal", f"{path}-shm"):
        with contextlib.suppress(FileNotFoundError):
            about = os.stat(name)
            if stat.S_IMODE(about.st_mode) & ~FILE_MODE and about.st_uid == os.getuid():
                os.chmod(name, FILE_MODE)


def explained(error: Exception, path: Path) -> StoreError:
    """What happened to the file, in a sentence that says what to do."""
    code = getattr(error, "sqlite_errorcode", 0) & 0xFF
    details = {"path": str(path)}
    if code == sqlite3.SQLITE_FULL:
        text = f"there is no space left for {path}; free some, and go on"
        return StoreError("store_full", text, **details)
    if code in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB):
        text = (
            f"{path} is damaged or no store of sessions ({error}); it was left as it is:"
            " move it away to begin a new one"
        )
        return StoreError("store_damaged", text, **details)
    why = (error.strerror if isinstance(error, OSError) else None) or str(error)
    text = (
        f"sessions cannot be kept in {path}: {why}; make it writable, or set ACCORD_STATE_DIR"
        " to a folder that is"
    )
    return StoreError("store_unreachable", text, **details)


__all__ = ["Synchronous", "explained", "open_file"]
