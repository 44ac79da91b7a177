"""The errors of a store: each names the fault of its file or of a session, and what to do.

Of a file, it tells damage from a full disk and from a file out of reach.
"""

import errno
import sqlite3
from pathlib import Path

from accord.errors import StoreError
from accord.store.file_format import FileFormat
from accord.store.migrations import SESSION_STORE

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
"""Errors about access to the file, not about its content."""

WHY_CHARACTERS_MAX = 200


def sqlite_code(error: Exception) -> int:
    """Return SQLite's error code; 0 for an error of its Python module."""
    return int(getattr(error, "sqlite_errorcode", 0)) & 0xFF


def _is_out_of_space(error: Exception) -> bool:
    """Whether the disk is full, or SQLite could not enlarge the index of its log."""
    if isinstance(error, OSError):
        return error.errno in (errno.ENOSPC, errno.EDQUOT)
    return getattr(error, "sqlite_errorcode", 0) == sqlite3.SQLITE_IOERR_SHMSIZE


def _short(why: str) -> str:
    """Shorten SQLite's message, which may quote the damage."""
    from accord.machine.console.control_characters import visible_line

    plain = visible_line(why)
    return plain if len(plain) <= WHY_CHARACTERS_MAX else f"{plain[:WHY_CHARACTERS_MAX]}…"


def damaged(
    why: str, path: Path, is_written: bool = False, file_format: FileFormat = SESSION_STORE
) -> StoreError:
    """Return the error about a file whose content cannot be trusted."""
    state = "will not be written to" if is_written else "was not changed"
    command = file_format.rescue_command
    rescue = (
        "" if command is None else f" `{command}` recovers what can be read into a new store, or"
    )
    text = (
        f"{path} is damaged or not {file_format.noun} ({_short(why)}); it {state}:{rescue}"
        " move it away, with its -wal and -shm files, to start with an empty one"
    )
    return StoreError("store_damaged", text, path=str(path))


def explained(
    error: Exception,
    path: Path,
    is_written: bool = False,
    file_format: FileFormat = SESSION_STORE,
) -> StoreError:
    """Return an error that says what happened to the file and what to do.

    `is_written` means that this process wrote to it before it found the damage.
    """
    code = sqlite_code(error)
    details = {"path": str(path)}
    if code == sqlite3.SQLITE_FULL or _is_out_of_space(error):
        text = f"no space left for {path}; free some disk space and try again"
        return StoreError("store_full", text, **details)
    if not isinstance(error, OSError) and code not in UNREACHABLE:
        return damaged(str(error) or type(error).__name__, path, is_written, file_format)
    why = (error.strerror if isinstance(error, OSError) else None) or str(error)
    text = (
        f"{file_format.failure} in {path}: {why}; make it writable, or"
        f" {file_format.elsewhere} a writable folder"
    )
    return StoreError("store_unreachable", text, **details)


# ---- one session


def session_damaged(session_id: str, why: str) -> StoreError:
    """Return the error for one damaged session."""
    return StoreError(
        "session_damaged",
        f"session {session_id} is damaged and cannot be opened ({why});"
        " other sessions are not affected",
        sessionId=session_id,
    )


def session_in_use(session_id: str, pid: int) -> StoreError:
    """Return the error for the second process."""
    return StoreError(
        "session_in_use",
        f"session {session_id} is open in another process (pid {pid}); close it there first",
        sessionId=session_id,
        pid=pid,
    )


def session_pruned(session_id: str, at: str) -> StoreError:
    """Return the error for a session whose content was removed to save space."""
    return StoreError(
        "session_pruned",
        f"session {session_id} was pruned at {at}; its content is gone",
        sessionId=session_id,
        prunedAt=at,
    )


def session_exists(session_id: str) -> StoreError:
    """Return the error for a new session whose id is taken."""
    text = f"session {session_id} already exists or existed"
    return StoreError("session_exists", text, sessionId=session_id)
