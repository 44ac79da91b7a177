"""The process that owns a session, identified so that others can see whether it still runs.

Process ids are reused, so the start time is part of the identity.  Both are valid only on one
system since one boot, and inside one pid namespace, so that place is part of it too.

Must not know tables; `queries.py` stores the owner.
"""

from __future__ import annotations

import os
from datetime import UTC, datetime, timedelta
from functools import cache
from typing import NamedTuple

from accord.machine import clock

# A process in another container is invisible.  It counts as alive for this long after the last use
# of the session; if it still runs after that, its next write fails.
UNSEEN_SECONDS_MAX = 3600


class Owner(NamedTuple):
    """One store object in one process; `token` distinguishes stores of the same process."""

    token: str
    pid: int
    started: int
    place: str


def this_process() -> Owner:
    """Create an owner for a store of this process."""
    pid = os.getpid()
    return Owner(os.urandom(8).hex(), pid, _started(pid) or 0, _place())


def is_alive(owner: Owner, used_at: str | None) -> bool:
    """Whether the process may still write."""
    here, there = _place().partition(" "), owner.place.partition(" ")
    if here[0] != there[0]:
        # The system was restarted; SQLite's log works on one system only, so no process has it.
        return False
    if here[2] != there[2]:
        return _is_recent(used_at)
    started = _started(owner.pid)
    if started is None:
        return False
    return started == owner.started


def _is_recent(used_at: str | None) -> bool:
    try:
        used = datetime.fromisoformat(used_at or "")
    except ValueError:
        return False
    if used.tzinfo is None:
        used = used.replace(tzinfo=UTC)
    return clock.now() - used < timedelta(seconds=UNSEEN_SECONDS_MAX)


def _started(pid: int) -> int | None:
    """Return when a process started, in ticks since the boot; None if it does not exist.

    If the system does not report it, 0 for every running process.
    """
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:
            fields = file.read().rpartition(b")")[2].split()
        # A zombie does not run any more.
        return None if fields[0] in (b"Z", b"X") else int(fields[19])
    except (OSError, ValueError, IndexError):
        pass
    if os.path.exists("/proc/self/stat"):
        return None
    return 0 if _answers(pid) else None


def _answers(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except PermissionError:
        return True
    except OSError:
        return False
    return True


@cache
def _place() -> str:
    try:
        with open("/proc/sys/kernel/random/boot_id", encoding="ascii") as file:
            boot = file.read().strip()
        return f"{boot} {os.stat('/proc/self/ns/pid').st_ino}"
    except OSError:
        return "here 0"
