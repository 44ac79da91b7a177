"""Open the file of a store, if nothing is wrong with it.

What always holds
    * Only the user can read it: the file is 0600, and a folder that we create is 0700.
      (SQLite gives its `-wal` and `-shm` files the mode of the file itself.)
    * A file that we do not understand is not changed.
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
from accord.store.file_format import FileFormat
from accord.store.migrations import SESSION_STORE, bring_up_to_date, check_schema
from accord.store.store_errors import damaged, explained, sqlite_code
from accord.store.wal_check import has_content, lost_transactions

Synchronous = Literal["NORMAL", "FULL"]

FOLDER_MODE = 0o700
FILE_MODE = 0o600
# How long to wait for another process that is writing; a commit takes a millisecond.
BUSY_SECONDS_MAX = 10.0
BUSY_SECONDS_STEP = 0.005
# The size of the write-ahead log on disk once its content is in the file.
LOG_FILE_BYTES_MAX = 16 * 1024 * 1024


def open_file(
    path: Path, synchronous: Synchronous, file_format: FileFormat = SESSION_STORE
) -> sqlite3.Connection:
    """Open a file of this format, create it if necessary, and migrate it.

    The caller guards the connection: it may be used by one thread at a time.

    Raises:
        StoreError: the file is unreachable, damaged, newer than this program, or not of
            this format.
    """
    try:
        _look(path, file_format)
        _make(path)
        connection = sqlite3.connect(
            path, timeout=BUSY_SECONDS_MAX, isolation_level=None, check_same_thread=False
        )
    except (OSError, sqlite3.Error) as error:
        raise explained(error, path, file_format=file_format) from None
    # Invalid text is shown with replacement characters; it must not hide all other rows.
    connection.text_factory = _text
    try:
        _prepare(connection, path, synchronous, file_format)
    except BaseException as error:
        close_unchanged(connection, path)
        if isinstance(error, StoreError) or not isinstance(error, Exception):
            raise
        # Of any kind: damage makes SQLite and its Python module fail in many ways.
        raise explained(error, path, file_format=file_format) from None
    return connection


HEADER_BYTES = 100
"""The size of a database header."""


def _look(path: Path, file_format: FileFormat) -> None:
    """Check the schema and the log with a connection that cannot change the file.

    A connection for writing may change it: closing moves the log into the file.

    Raises:
        StoreError: it is damaged, of another program, or newer than this one.
    """
    deadline = time.monotonic() + BUSY_SECONDS_MAX
    seen = None
    while (problem := _problem(path, file_format)) is not None:
        # Another process may have been writing: believe only what a second look confirms.
        state = (str(problem), *_state(path))
        if state == seen or time.monotonic() > deadline:
            raise problem
        seen = state
        time.sleep(BUSY_SECONDS_STEP)


def _state(path: Path) -> tuple[int, ...]:
    """Return what differs once another process has written to the file."""
    try:
        about = path.stat()
    except OSError:
        return ()
    return about.st_ino, about.st_size, about.st_mtime_ns, os.path.exists(f"{path}-journal")


def _problem(path: Path, file_format: FileFormat) -> StoreError | None:
    # Before the file, which has content before its log: another process may be creating both.
    has_log = has_content(f"{path}-wal")
    try:
        about = path.stat()
        size = about.st_size
    except FileNotFoundError:
        size = 0
    except OSError:
        # Opening it for writing gives a better error.
        return None
    else:
        if not stat.S_ISREG(about.st_mode):
            return None
    if size == 0:
        # SQLite would delete the log.
        problem = damaged("it is empty, but its log is not", path, file_format=file_format)
        return problem if has_log else None
    if size < HEADER_BYTES:
        # SQLite would treat it as empty, and overwrite it.
        return damaged("it is too short", path, file_format=file_format)
    # A rollback journal is there while a process creates the store, or if one was killed then.
    # The file may be half-written: SQLite's locks and its recovery are needed to read it.
    is_locked = has_log or os.path.exists(f"{path}-journal")
    # Without either there is no writer, and locks would create files beside it.
    how = "mode=ro" if is_locked else "mode=ro&immutable=1"
    try:
        connection = sqlite3.connect(
            f"{path.absolute().as_uri()}?{how}", uri=True, timeout=BUSY_SECONDS_MAX
        )
    except sqlite3.Error as error:
        return explained(error, path, file_format=file_format)
    try:
        check_schema(connection, str(path), file_format)
        lost = lost_transactions(str(path)) if has_log else None
    except Exception as error:  # noqa: BLE001 - of any kind, see above
        if isinstance(error, StoreError):
            problem = error
        else:
            problem = explained(error, path, file_format=file_format)
        # Busy, to be recovered, or a read-only folder: opening it for writing reports that.
        return None if problem.reason in ("store_unreachable", "store_full") else problem
    finally:
        connection.close()
    return None if lost is None else damaged(lost, path, file_format=file_format)


def close_unchanged(connection: sqlite3.Connection, path: Path) -> None:
    """Close a damaged file without touching its log.

    The last connection to close moves the log into the file and deletes it.  A read-only connection
    does not, so one is closed last.
    """
    with contextlib.suppress(sqlite3.Error, OSError):
        if connection.in_transaction:
            connection.execute("ROLLBACK")
    try:
        last = sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True)
    except sqlite3.Error:
        connection.close()
        return
    try:
        # It takes part in the log once it has read something.
        last.execute("PRAGMA schema_version").fetchone()
    except (sqlite3.Error, UnicodeError):
        pass
    finally:
        connection.close()
        last.close()


def _text(data: bytes) -> str:
    return data.decode("utf-8", "replace")


def _prepare(
    connection: sqlite3.Connection, path: Path, synchronous: Synchronous, file_format: FileFormat
) -> None:
    """Migrate the file and choose how it is written.

    SQLite does not always wait while several processes create one file, so try again.
    """
    deadline = time.monotonic() + BUSY_SECONDS_MAX
    while True:
        try:
            if connection.execute("PRAGMA page_count").fetchone() == (0,):
                # A new file: large pages, since a model's history has many kilobytes, and pages
                # that can be returned to the disk.
                connection.execute("PRAGMA page_size = 8192")
                connection.execute("PRAGMA auto_vacuum = INCREMENTAL")
            # First, because it reads: a file that is not ours must not be changed below.
            bring_up_to_date(connection, str(path), file_format)
            _make_private(path)
            connection.execute("PRAGMA journal_mode = WAL")
            break
        except sqlite3.OperationalError as error:
            is_busy = sqlite_code(error) == sqlite3.SQLITE_BUSY
            if not is_busy or time.monotonic() > deadline:
                raise
            time.sleep(BUSY_SECONDS_STEP)
    connection.execute(f"PRAGMA synchronous = {synchronous}")
    connection.execute(f"PRAGMA journal_size_limit = {LOG_FILE_BYTES_MAX}")
    # Overwrite deleted data.
    connection.execute("PRAGMA secure_delete = ON")


def _make(path: Path) -> None:
    path.parent.mkdir(mode=FOLDER_MODE, parents=True, exist_ok=True)
    try:
        os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, FILE_MODE))
    except FileExistsError:
        if path.is_dir():
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR)) from None
        if path.exists() and not path.is_file():
            raise OSError(errno.EINVAL, "not a regular file") from None
        _make_logs_writable(path)


def _make_logs_writable(path: Path) -> None:
    """Make the log writable again if it was created while the file was read-only."""
    if not os.access(path, os.W_OK):
        return
    for name in (f"{path}-wal", f"{path}-shm"):
        with contextlib.suppress(FileNotFoundError):
            about = os.stat(name)
            if stat.S_IMODE(about.st_mode) & FILE_MODE != FILE_MODE and about.st_uid == os.getuid():
                os.chmod(name, FILE_MODE)


def _make_private(path: Path) -> None:
    """Make a file private that others can read, such as one that was copied here."""
    for name in (path, f"{path}-wal", f"{path}-shm"):
        with contextlib.suppress(FileNotFoundError):
            about = os.stat(name)
            if stat.S_IMODE(about.st_mode) & ~FILE_MODE and about.st_uid == os.getuid():
                os.chmod(name, FILE_MODE)
