"""The process that owns a session, named so that another can see whether it is still running.

A number of a process is given again once it is free, so its start time belongs to its name; and
both mean something only on one system since one boot, and inside one namespace of process
numbers, so that place does too.

Must not know tables; `queries.py` writes down what is said here.
"""

from __future__ import annotations

import os
from datetime import UTC, datetime, timedelta
from functools import cache
from typing import NamedTuple

from accord.machine import clock

# A process in another container cannot be seen.  It counts as alive for so long after the session
# was used last; if it still lives after that it is told that it has lost the session.
UNSEEN_SECONDS_MAX = 3600


class Owner(NamedTuple):
    """One store object in one process; `token` tells it from others in the same process."""

    token: str
    pid: int
    started: int
    place: str


def this_process() -> Owner:
    """A new owner for a store of this process."""
    pid = os.getpid()
    return Owner(os.urandom(8).hex(), pid, _started(pid) or 0, _place())


def is_alive(owner: Owner, used_at: str | None) -> bool:
    """Whether that process may still write."""
    here, there = _place().partition(" "), owner.place.partition(" ")
    if here[0] != there[0]:
        # The system has been restarted since; SQLite's log needs one system, so it is ours.
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
    """When a process was started, in ticks since the boot; None when there is no such process.

    Where the system does not tell, 0 for every process that lives.
    """
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:
            fields = file.read().rpartition(b")")[2].split()
        # A dead process that nobody has collected is dead.
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
