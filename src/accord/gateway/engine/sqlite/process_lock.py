"""One process uses a gateway's file; a second one is refused.

The system releases the lock when the process ends, however it ends.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
from pathlib import Path

from accord.errors import StoreError
from accord.gateway.engine.sqlite.gateway_file import GATEWAY_FILE
from accord.store.database_file import FILE_MODE, FOLDER_MODE
from accord.store.store_errors import explained

PID_BYTES_MAX = 20


def lock(path: Path) -> int:
    """Lock the file at `path` for this process; return the descriptor that holds the lock.

    Raises:
        StoreError: another process has it, or its folder cannot be written to.
    """
    lock_path = path.with_name(f".{path.name}.lock")
    try:
        path.parent.mkdir(mode=FOLDER_MODE, parents=True, exist_ok=True)
        flags = os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC
        descriptor = os.open(lock_path, flags, FILE_MODE)
    except OSError as error:
        raise explained(error, path, file_format=GATEWAY_FILE) from None
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        os.ftruncate(descriptor, 0)
        os.pwrite(descriptor, b"%d" % os.getpid(), 0)
    except BlockingIOError:
        pid = _pid_in(descriptor)
        os.close(descriptor)
        raise _in_use(path, pid) from None
    except OSError as error:
        os.close(descriptor)
        raise explained(error, path, file_format=GATEWAY_FILE) from None
    return descriptor


def unlock(descriptor: int) -> None:
    """Release the lock.  Its file stays: another process may be about to lock it."""
    with contextlib.suppress(OSError):
        os.ftruncate(descriptor, 0)
    os.close(descriptor)


def _pid_in(descriptor: int) -> int | None:
    """Return the process that has the lock, if it has written its number."""
    text = os.pread(descriptor, PID_BYTES_MAX, 0)
    return int(text) if text.isdigit() else None


def _in_use(path: Path, pid: int | None) -> StoreError:
    who = "" if pid is None else f" (pid {pid})"
    text = (
        f"{path} is in use by another gateway{who}: stop that one first, or choose another file"
        " for this one"
    )
    return StoreError("store_in_use", text, path=str(path), pid=pid)
