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
from accord.store.migrations import bring_up_to_date, check_schema
from accord.store.wal_check import has_content, lost_transactions

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
        _look(path)
        _make(path)
        connection = sqlite3.connect(
            path, timeout=BUSY_SECONDS_MAX, isolation_level=None, check_same_thread=False
        )
    except (OSError, sqlite3.Error) as error:
        raise explained(error, path) from None
    # Text that is none is shown with marks in its place; it must not hide all other rows.
    connection.text_factory = _text
    try:
        _prepare(connection, path, synchronous)
    except BaseException as error:
        close_unchanged(connection, path)
        if isinstance(error, StoreError) or not isinstance(error, Exception):
            raise
        # Of any kind: SQLite and its Python module trip over damage in many ways.
        raise explained(error, path) from None
    return connection


HEADER_BYTES = 100
"""What every database begins with."""


def _look(path: Path) -> None:
    """Read the schema and the log without a chance to change the file.

    Who opens a file for writing may write to it: a log is moved into it when it is closed.

    Raises:
        StoreError: it is damaged, of another program, or newer than this one.
    """
    # Before the file, which has content before its log has: another process may be making both.
    has_log = has_content(f"{path}-wal")
    try:
        about = path.stat()
        size = about.st_size
    except FileNotFoundError:
        size = 0
    except OSError:
        # Who opens it for writing says better what is wrong.
        return
    else:
        if not stat.S_ISREG(about.st_mode):
            return
    if size == 0:
        if has_log:
            # SQLite would delete the log.
            raise _damaged("it is empty, and its log is not", path)
        return
    if size < HEADER_BYTES:
        # SQLite would take it for an empty one, and write over it.
        raise _damaged("it is too short", path)
    # Without a log nobody writes, and there is nothing to be locked.
    how = "mode=ro" if has_log else "mode=ro&immutable=1"
    try:
        connection = sqlite3.connect(
            f"{path.absolute().as_uri()}?{how}", uri=True, timeout=BUSY_SECONDS_MAX
        )
    except sqlite3.Error as error:
        raise explained(error, path) from None
    try:
        check_schema(connection, str(path))
        lost = lost_transactions(str(path)) if has_log else None
        if lost is not None:
            raise _damaged(lost, path)
    except StoreError:
        raise
    except Exception as error:  # noqa: BLE001 - of any kind, see above
        problem = explained(error, path)
        if problem.reason == "store_damaged":
            raise problem from None
        # Busy, or a folder that nobody may write to: that is not for us to judge here.
    finally:
        connection.close()


def close_unchanged(connection: sqlite3.Connection, path: Path) -> None:
    """Close a file that is damaged, and leave its log where it is.

    Whoever closes a file last moves the log into it and deletes the log.  One that may only read
    does not, so such a one is the last.
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
        # It has a part in the log once it has read something.
        last.execute("PRAGMA schema_version").fetchone()
    except (sqlite3.Error, UnicodeError):
        pass
    finally:
        connection.close()
        last.close()


def _text(data: bytes) -> str:
    return data.decode("utf-8", "replace")


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
            is_busy = _code(error) == sqlite3.SQLITE_BUSY
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
        if path.exists() and not path.is_file():
            raise OSError(errno.EINVAL, "it is no file") from None
        _make_logs_writable(path)


def _make_logs_writable(path: Path) -> None:
    """Let the log be written where the file can be: it was read while the file was read-only."""
    if not os.access(path, os.W_OK):
        return
    for name in (f"{path}-wal", f"{path}-shm"):
        with contextlib.suppress(FileNotFoundError):
            about = os.stat(name)
            if stat.S_IMODE(about.st_mode) & FILE_MODE != FILE_MODE and about.st_uid == os.getuid():
                os.chmod(name, FILE_MODE)


def _make_private(path: Path) -> None:
    """Close a file of ours that others can read, such as one that was copied here."""
    for name in (path, f"{path}-wal", f"{path}-shm"):
        with contextlib.suppress(FileNotFoundError):
            about = os.stat(name)
            if stat.S_IMODE(about.st_mode) & ~FILE_MODE and about.st_uid == os.getuid():
                os.chmod(name, FILE_MODE)


UNREACHABLE = frozenset(
    {
        sqlite3.SQLITE_PERM,
        sqlite3.SQLITE_BUSY,
        sqlite3.SQLITE_LOCKED,
        sqlite3.SQLITE_READONLY,
        sqlite3.SQLITE_IOERR,
        sqlite3.SQLITE_CANTOPEN,
        sqlite3.SQLITE_PROTOCOL,
        sqlite3.SQLITE_AUTH,
    }
)
"""Errors that say something about the way to the file, and nothing about what is in it."""

WHY_CHARACTERS_MAX = 200


def _code(error: Exception) -> int:
    """What kind of error SQLite reports; 0 where it is one of its Python module's own."""
    return int(getattr(error, "sqlite_errorcode", 0)) & 0xFF


def _is_out_of_space(error: Exception) -> bool:
    """Whether the system said so, or SQLite could not make the index of its log larger."""
    if isinstance(error, OSError):
        return error.errno in (errno.ENOSPC, errno.EDQUOT)
    return getattr(error, "sqlite_errorcode", 0) == sqlite3.SQLITE_IOERR_SHMSIZE


def _short(why: str) -> str:
    """What SQLite said, without what it quoted of the damage."""
    from accord.machine.console.control_characters import visible_line

    plain = visible_line(why)
    return plain if len(plain) <= WHY_CHARACTERS_MAX else f"{plain[:WHY_CHARACTERS_MAX]}…"


def _damaged(why: str, path: Path, is_written: bool = False) -> StoreError:
    left = "is not written to any more" if is_written else "was left as it is"
    text = (
        f"{path} is damaged or no store of sessions ({_short(why)}); it {left}:"
        " `accord sessions rescue` saves what can be read into a new store, or move it away, with"
        " its -wal and -shm files, to begin with an empty one"
    )
    return StoreError("store_damaged", text, path=str(path))


def explained(error: Exception, path: Path, is_written: bool = False) -> StoreError:
    """What happened to the file, in a sentence that says what to do.

    `is_written`: this process has written to it before it found the damage.
    """
    code = _code(error)
    details = {"path": str(path)}
    if code == sqlite3.SQLITE_FULL or _is_out_of_space(error):
        text = f"there is no space left for {path}; free some, and go on"
        return StoreError("store_full", text, **details)
    if not isinstance(error, OSError) and code not in UNREACHABLE:
        return _damaged(str(error) or type(error).__name__, path, is_written)
    why = (error.strerror if isinstance(error, OSError) else None) or str(error)
    text = (
        f"sessions cannot be kept in {path}: {why}; make it writable, or set ACCORD_STATE_DIR"
        " to a folder that is"
    )
    return StoreError("store_unreachable", text, **details)


__all__ = ["Synchronous", "close_unchanged", "explained", "open_file"]
