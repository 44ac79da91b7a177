"""Processes that descend from this one, wherever they went.

A process group ends with one signal, but a program can leave its group (`setsid`) and its parent
(fork twice).  Two things still find it:

    * A mark.  Programs that we start carry a word of ours in their environment, and so does
      everything that they start.  Needs nothing of this process, so it serves the library too.
    * Adoption.  On Linux a process can ask to become the parent of orphaned descendants
      (PR_SET_CHILD_SUBREAPER).  That finds programs whose environment was cleared, but it concerns
      the whole process: the commands of `accord` do it, and a program may call `adopt_orphans`.

It must not know pipes, event loops or what the programs are for.  It must not import anything of
ours either: the process that cleans up after a killed one runs this file as a script.

Always holds
    * Nothing older than this process and nothing that it does not descend from is signalled.
    * A program that was started with the environment of `kept` is left alone, with all its own
      descendants: a browser that the user opened is theirs.
    * So are children that a command of ours had before it began (`server & exec accord run`).
    * Exit statuses of known children are left to the code that waits for them.

Without /proc (macOS, for instance) nothing is found here; process groups are all there is.
"""

from __future__ import annotations

import itertools
import os
import signal
import sys
import time
from collections.abc import Callable, Collection, Iterable, Mapping
from typing import NamedTuple

VARIABLE = "ACCORD_TREE"
"""The variable with the marks: of this process, and of those above it that are ours too."""

KEPT_VARIABLE = "ACCORD_KEPT"
"""The variable of programs that may outlive us."""

TERMINATE_SECONDS = 1.0
"""How long descendants may take to leave after SIGTERM."""

KILL_SECONDS = 2.0
"""How long we look for the end of those that got SIGKILL, and for new ones that they forked."""

SWEEP_SECONDS = 60.0
"""The same after we were killed ourselves: nobody waits for that."""

POLL_SECONDS = (0.005, 0.05)
"""How often the process table is read while we wait, at first and later."""

QUICK_POLL_SECONDS = 0.001
"""How often the lists of children are read while we kill, and a process in `exec` is looked at."""

EXEC_SECONDS = 0.5
"""How long we wait for a program that is being replaced by another to have an environment again."""

LOOKS_MIN = 3
"""So often we look at least: on a busy machine the first look may take all the time there is."""

REAP_SECONDS = 5.0
"""An adopted orphan that ended is collected when nobody else has done so for this long."""

PR_SET_CHILD_SUBREAPER = 36

PF_KTHREAD = 0x00200000


class Process:
    """One line of the process table."""

    __slots__ = ("group", "parent", "pid", "started", "state")

    def __init__(self, pid: int, state: str, parent: int, group: int, started: int) -> None:
        self.pid = pid
        self.state = state
        self.parent = parent
        self.group = group
        self.started = started

    @property
    def is_dead(self) -> bool:
        """Whether the process is a zombie."""
        return self.state in "ZX"


class Look(NamedTuple):
    """What one look at the process table has found."""

    members: list[Process]
    is_complete: bool
    """False when there was a process of which nobody can tell yet whose it is."""


def process_table() -> dict[int, Process]:
    """Every process that can be seen; empty where there is no /proc."""
    try:
        entries = os.listdir("/proc")
    except OSError:
        return {}
    found = (read_process(int(entry)) for entry in entries if entry.isdigit())
    return {process.pid: process for process in found if process is not None}


def read_process(pid: int) -> Process | None:
    """The state of a process in /proc; None if it has ended."""
    words = _stat_words(pid)
    if not words:
        return None
    return Process(pid, words[0].decode(), int(words[1]), int(words[2]), int(words[19]))


def _stat_words(pid: int) -> list[bytes]:
    """What /proc says about a process, from its state on; empty when it is gone."""
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:
            # The name in parentheses may hold anything, parentheses too.
            return file.read().rpartition(b")")[2].split()
    except OSError:
        return []


def children_of(pid: int) -> list[int]:
    """The children of a process, from the system's own lists; empty where it keeps none.

    One read takes microseconds, where the whole table takes milliseconds.
    """
    found: list[int] = []
    try:
        for task in os.listdir(f"/proc/{pid}/task"):
            with open(f"/proc/{pid}/task/{task}/children", "rb") as file:
                found.extend(map(int, file.read().split()))
    except OSError:
        pass
    return found


class _InExecError(Exception):
    """A process is being replaced by another program and has no variables just now."""


def _variable(pid: int, name: str) -> bytes:
    """The value of an environment variable of a process, as far as it can be read."""
    wanted = f"{name}=".encode()
    variables = _environment(pid).split(b"\0")
    return next((one[len(wanted) :] for one in variables if one.startswith(wanted)), b"")


def _environment(pid: int) -> bytes:
    """The variables that a process was started with; empty when it has none or they are hidden.

    In the middle of `exec` a process has no variables, and on a busy machine it can stay there
    for a while.  A process that was looked at just then must not be taken for a stranger.

    Raises:
        _InExecError: It stayed there for longer than we wait.
    """
    deadline = time.monotonic() + EXEC_SECONDS
    looks = 2
    while True:
        try:
            with open(f"/proc/{pid}/environ", "rb") as file:
                found = file.read()
        except OSError:
            return b""
        if found:
            return found
        # `exec` passes through a state that looks like a program without variables.
        looks = looks - 1 if _has_no_variables(pid) else 2
        if not looks:
            return b""
        if time.monotonic() >= deadline:
            raise _InExecError
        time.sleep(QUICK_POLL_SECONDS)


def _has_no_variables(pid: int) -> bool:
    """Whether a process is dead, belongs to the kernel, or was started without variables."""
    words = _stat_words(pid)
    if not words:
        return True
    state, flags = words[0].decode(), int(words[6])
    return state in "ZX" or bool(flags & PF_KTHREAD) or 0 < int(words[47]) == int(words[48])


def has_mark(pid: int, mark: str) -> bool:
    """Whether a process carries this mark, or one that was made below it."""
    words = _variable(pid, VARIABLE).decode("ascii", "replace").split(":")
    return any(word == mark or word.startswith(f"{mark}.") for word in words)


def find_members(
    *,
    mark: str | None = None,
    parent: int | None = None,
    groups: Collection[int] = (),
    spared: Collection[int] = (),
    keeper: str = "",
    started_after: int = 0,
) -> Look:
    """The living processes with a mark, in a group or below a parent, with all their descendants.

    Those in `spared` and those that carry `keeper` are left out, with their own descendants.
    """
    table = {pid: one for pid, one in process_table().items() if one.started >= started_after}
    children: dict[int, list[Process]] = {}
    for process in table.values():
        children.setdefault(process.parent, []).append(process)
    left_out = {os.getpid(), *spared}
    waiting: list[Process] = [] if parent is None else list(children.get(parent, ()))
    is_complete = True
    for process in table.values():
        try:
            if process.group in groups or (mark is not None and has_mark(process.pid, mark)):
                waiting.append(process)
        except _InExecError:
            is_complete = False
    members: dict[int, Process] = {}
    while waiting:
        process = waiting.pop()
        if process.pid in members or process.pid in left_out:
            continue
        if keeper and _is_kept(process.pid, keeper):
            left_out.add(process.pid)
            continue
        members[process.pid] = process
        waiting.extend(children.get(process.pid, ()))
    return Look([process for process in members.values() if not process.is_dead], is_complete)


def _is_kept(pid: int, keeper: str) -> bool:
    try:
        return _variable(pid, KEPT_VARIABLE) == keeper.encode()
    except _InExecError:
        return False


def _is_gone(process: Process) -> bool:
    found = read_process(process.pid)
    return found is None or found.started != process.started


def send(process: Process, number: int) -> bool:
    """Send a signal to exactly this process; False when it is gone or not ours to signal."""
    try:
        handle = os.pidfd_open(process.pid)
    except (AttributeError, OSError):
        handle = -1
    try:
        # Another process may have got the number meanwhile; from here on the handle names one.
        found = read_process(process.pid)
        if found is None or found.started != process.started:
            return False
        if handle >= 0:
            signal.pidfd_send_signal(handle, number)
        else:
            os.kill(process.pid, number)
    except OSError:
        return False
    finally:
        if handle >= 0:
            os.close(handle)
    return True


def end_members(
    find: Callable[[], Look],
    terminate_seconds: float = TERMINATE_SECONDS,
    kill_seconds: float = KILL_SECONDS,
    kill_quickly: Callable[[float], None] | None = None,
) -> None:
    """SIGTERM to all that `find` finds, then SIGKILL, again and again until it finds no more.

    Returns at the latest after both bounds, or after `LOOKS_MIN` looks where those take longer.
    Processes that we may not signal are not waited for.
    `kill_quickly` is given the time at which it has to return.
    """
    asked: set[tuple[int, int]] = set()

    def ask(process: Process) -> bool:
        key = (process.pid, process.started)
        if key in asked:
            return True
        asked.add(key)
        # A stopped process acts on SIGTERM only after it was woken.
        return send(process, signal.SIGTERM) and send(process, signal.SIGCONT)

    over = terminate_seconds > 0 and _until_none(find, ask, time.monotonic() + terminate_seconds)
    deadline = time.monotonic() + kill_seconds
    if kill_quickly is not None:
        kill_quickly(deadline)
    if not over:
        _until_none(find, lambda process: send(process, signal.SIGKILL), deadline)


def _until_none(find: Callable[[], Look], end: Callable[[Process], bool], deadline: float) -> bool:
    pause, pause_max = POLL_SECONDS
    clean_looks = 1
    for looks in itertools.count(1):
        look = find()
        # All of them get their signal, also after one that could not be signalled.  One that is
        # gone by now may have left a child in its place.
        acted = [end(process) or _is_gone(process) for process in look.members]
        # A child that was made while the table was read is not in it: nothing has to be seen twice.
        clean_looks = 2 if any(acted) or not look.is_complete else clean_looks - 1
        if not clean_looks:
            return True
        if looks >= LOOKS_MIN and time.monotonic() >= deadline:
            break
        time.sleep(pause)
        pause = min(2 * pause, pause_max)
    return False


class _OwnTree:
    """What belongs to this process.  Guards: which children are known, and whether it adopts."""

    def __init__(self) -> None:
        self.mark = ""
        # Not part of the mark: every program that we start can read that one.
        self.keeper = ""
        self.older: set[tuple[int, int]] = set()
        self.count = 0
        self.adopts = False
        self.wants_orphans = False
        self.reaps = False
        self.spared: set[int] = set()
        self.dead_since: dict[int, float] = {}
        self.looked = 0.0

    def find(self) -> Look:
        """Every process that has to end with this one."""
        own = read_process(os.getpid())
        if own is None or not (self.mark or self.adopts):
            return Look([], is_complete=True)
        return find_members(
            mark=self.own_mark(),
            parent=own.pid if self.adopts else None,
            spared=self.all_spared(),
            keeper=self.keeper,
            started_after=own.started,
        )

    def all_spared(self) -> set[int]:
        """The children that are left alone: known ones, and those from before our time."""
        found = ((read_process(pid), started) for pid, started in self.older)
        return self.spared | {one.pid for one, started in found if one and one.started == started}

    def kill_quickly(self, deadline: float) -> None:
        """SIGKILL to everything below us by the lists of children, until they are empty.

        A program that forks and ends, over and over, is another process each time the whole
        table has been read.  It is always in one of these lists.
        """
        looks, refused = 2, set[int]()
        while self.adopts and looks and time.monotonic() < deadline:
            found = [one for one in self.below() if one.pid not in refused]
            looks = 2 if found else looks - 1
            for process in found:
                if not send(process, signal.SIGKILL) and not _is_gone(process):
                    refused.add(process.pid)
            if found:
                time.sleep(QUICK_POLL_SECONDS)

    def below(self) -> list[Process]:
        """What lives below this process and has to end with it, by the lists of children."""
        members: dict[int, Process] = {}
        left_out = self.all_spared()
        waiting = children_of(os.getpid())
        while waiting:
            process = read_process(waiting.pop())
            if process is None or process.is_dead or process.pid in members:
                continue
            if process.pid in left_out or (self.keeper and _is_kept(process.pid, self.keeper)):
                continue
            members[process.pid] = process
            waiting.extend(children_of(process.pid))
        return list(members.values())

    def own_mark(self) -> str:
        if not self.mark:
            self.mark = os.urandom(8).hex()
        return self.mark

    def reap(self, known: Collection[int]) -> None:
        """Collect adopted orphans that have ended, but no child that a caller waits for."""
        now = time.monotonic()
        if not (self.adopts and self.reaps) or now - self.looked < REAP_SECONDS:
            return
        self.looked = now
        own = os.getpid()
        dead = [
            process.pid
            for process in process_table().values()
            if process.parent == own and process.is_dead and process.pid not in known
        ]
        self.dead_since = {pid: self.dead_since.get(pid, now) for pid in dead}
        for pid, since in self.dead_since.items():
            # A waiting parent collects its child at once, so nobody waits for this one.
            if now - since >= REAP_SECONDS and pid not in self.spared:
                try:
                    os.waitpid(pid, os.WNOHANG)
                except ChildProcessError:
                    pass


_own = _OwnTree()
if hasattr(os, "register_at_fork"):
    # A forked child must not end its parent's programs.
    os.register_at_fork(after_in_child=_own.__init__)  # type: ignore[misc]


def process_mark() -> str:
    """The mark of this process; every mark that it makes is one below it."""
    return _own.own_mark()


def new_mark() -> str:
    """A mark of its own for one program and all that it starts."""
    _own.count += 1
    return f"{_own.own_mark()}.{_own.count}"


def marked(env: Mapping[str, str] | None = None, mark: str | None = None) -> dict[str, str]:
    """The variables (ours by default) for a program that must not outlive us."""
    made = dict(os.environ if env is None else env)
    above = os.environ.get(VARIABLE, "")
    own = mark or new_mark()
    made[VARIABLE] = f"{above}:{own}" if above else own
    return made


def kept(env: Mapping[str, str] | None = None) -> dict[str, str]:
    """The variables (ours by default) for a program of the user's that may outlive us.

    Nothing of ours ends it, nor what it starts: a browser, an editor with a window.
    """
    _own.keeper = _own.keeper or os.urandom(8).hex()
    made = dict(os.environ if env is None else env)
    made[KEPT_VARIABLE] = _own.keeper
    return made


def spare(pid: int) -> None:
    """Never signal or collect this child of ours; it ends on its own."""
    _own.spared.add(pid)


def no_longer_spare(pid: int) -> None:
    """The child was collected; its number may be anybody's now."""
    _own.spared.discard(pid)


def adopt_orphans() -> bool:
    """Become the parent of descendants whose own parent ended; False where the system cannot.

    It concerns the whole process.  From now on `end_descendants` ends every child of this process,
    its own ones included.  To collect orphans that end is the program's part (`os.waitpid`): only
    it knows which children are waited for.
    """
    _own.wants_orphans = False
    if not _own.adopts and sys.platform.startswith("linux") and os.path.isdir("/proc/self"):
        import ctypes

        try:
            _own.adopts = ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) == 0
        except (OSError, AttributeError):
            return False
    return _own.adopts


def adopt_orphans_later() -> None:
    """Do so before the first program is started, and collect orphans that end; for our commands.

    Loading what it needs takes a moment, which a command that starts nothing can do without.
    """
    _own.wants_orphans = _own.reaps = True
    # A program that became this one by `exec` may have had children.
    found = (read_process(pid) for pid in children_of(os.getpid()))
    _own.older = {(one.pid, one.started) for one in found if one is not None}


def before_start(known: Iterable[int]) -> None:
    """Call this before a program is started; `known` are children that a caller waits for."""
    if _own.wants_orphans:
        adopt_orphans()
    _own.reap(frozenset(known))


def end_descendants(
    terminate_seconds: float = TERMINATE_SECONDS, kill_seconds: float = KILL_SECONDS
) -> None:
    """End every program that was started with a mark and all that it started, daemons included.

    After `adopt_orphans` that is every descendant of this process.  Blocks within both bounds.
    """
    end_members(_own.find, terminate_seconds, kill_seconds, _own.kill_quickly)


def kill_descendants() -> None:
    """SIGKILL to every descendant, once: for a process that has no time left."""
    for process in _own.find().members:
        send(process, signal.SIGKILL)


def terminate_descendants() -> None:
    """SIGTERM to every descendant, once."""
    for process in _own.find().members:
        if send(process, signal.SIGTERM):
            send(process, signal.SIGCONT)


def end_marked(
    mark: str, terminate_seconds: float = TERMINATE_SECONDS, kill_seconds: float = KILL_SECONDS
) -> None:
    """End all that carries this mark, with its descendants.  Blocks within both bounds."""
    own = read_process(os.getpid())
    if own is None:
        return
    end_members(
        lambda: find_members(mark=mark, spared=_own.spared, started_after=own.started),
        terminate_seconds,
        kill_seconds,
    )


def main(arguments: list[str]) -> None:
    """Clean up after a process that was killed: its mark, when it began, and its groups."""
    if not process_table():
        raise SystemExit("nothing can be found without /proc")
    mark, started, *groups = arguments
    ids = frozenset(map(int, groups))
    end_members(
        lambda: find_members(
            mark=mark, groups=ids, started_after=int(started), spared=(os.getppid(),)
        ),
        terminate_seconds=0.0,
        kill_seconds=SWEEP_SECONDS,
    )


if __name__ == "__main__":
    main(sys.argv[1:])
