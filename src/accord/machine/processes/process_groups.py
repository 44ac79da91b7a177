"""Process groups that must not outlive us.

It must not know pipes, event loops or what the programs are for; it works on ids and signals.

Always holds
    * A group that was tracked and not forgotten gets SIGKILL when this process ends, however it
      ends, and so does every process that carries our mark (`descendants.py`).  Orderly ends
      (return, exception, sys.exit) run the atexit hook.  For signals and kill -9 there is the
      watchman: a tiny shell process that reads our group ids from a pipe and kills what is left
      of them when the pipe closes.
    * A signal never goes to a group that is not ours any more: see `ProcessGroup.signal`.

PR_SET_PDEATHSIG was left aside: it follows the thread that forked, and trio forks in worker
threads that end when idle; it needs code between fork and exec; and it spares grandchildren.
A child made by os.fork inherits nothing: it must not kill its parent's programs.
"""

from __future__ import annotations

import atexit
import os
import signal
import subprocess
import threading
from types import MappingProxyType

from accord.errors import SpawnFailed
from accord.machine.own_command_line import own_file
from accord.machine.processes import descendants

WATCHMAN_GOODBYE_SECONDS = 1.0
"""How long an orderly exit waits for the watchman to leave."""

_WATCHMAN = """
trap '' HUP INT TERM
ids=' '
while read -r word id; do
  case $word in
    track) ids="$ids$id " ;;
    forget) case $ids in *" $id "*) ids="${ids%%" $id "*} ${ids#*" $id "}" ;; esac ;;
  esac
done
[ $# -gt 0 ] && "$@" $ids && exit
for id in $ids; do kill -s KILL -- "-$id"; done
"""
"""Its arguments: the command that ends descendants of ours, to which it adds the groups.

Where that command cannot do it, the groups are all that is ended.
"""

_LOADER_VARIABLES = ("LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH")
"""What Python may need to start at all."""


class ProcessGroup:
    """A group of processes with our child as its leader; its id is the leader's process id."""

    def __init__(self, group_id: int) -> None:
        self.id = group_id
        self._leader_reaped = False
        self._over = False

    def leader_reaped(self) -> None:
        """The leader's exit was collected; from now on its id could belong to a stranger."""
        self._leader_reaped = True

    def signal(self, number: int) -> bool:
        """Send a signal to every member; False when there is none left.

        While members live, the system gives their group's id to nobody else.  So once our
        leader was collected, a living process with that id shows that the group is a stranger's.
        """
        if self._over:
            return False
        if self._leader_reaped and _exists(self.id):
            self.forget()
            return False
        try:
            os.killpg(self.id, number)
        except ProcessLookupError:
            if self._leader_reaped:
                self.forget()
            return False
        except PermissionError:
            # Members changed their user; those we may signal got it.
            return True
        return True

    def alive(self) -> bool:
        """Whether a member still runs; zombies do not count."""
        return self.signal(0) and _runs(self.id)

    def forget(self) -> None:
        """Stop tracking the group."""
        if not self._over:
            self._over = True
            _registry.remove(self)


def _exists(process_id: int) -> bool:
    try:
        os.kill(process_id, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True


def _runs(group_id: int) -> bool:
    """Whether a member is more than a dead entry in the process table.

    In containers the first process often collects nobody, and the dead stay for ever.
    """
    table = descendants.process_table()
    return not table or any(
        process.group == group_id and not process.is_dead for process in table.values()
    )


class _Registry:
    """The groups of this process and their watchman; guarded by one lock."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._groups: dict[int, ProcessGroup] = {}
        self._watchman: subprocess.Popen[bytes] | None = None
        self._line_out = -1

    @property
    def groups(self) -> MappingProxyType[int, ProcessGroup]:
        return MappingProxyType(self._groups)

    def add(self, group: ProcessGroup) -> None:
        with self._lock:
            self._groups[group.id] = group
            if not self._tell(f"track {group.id}\n"):
                self._start_watchman()

    def watch(self) -> None:
        with self._lock:
            # An empty line says nothing; it shows whether the watchman still reads.
            if not self._tell("\n"):
                self._start_watchman()

    def remove(self, group: ProcessGroup) -> None:
        with self._lock:
            if self._groups.get(group.id) is group:
                del self._groups[group.id]
                self._tell(f"forget {group.id}\n")

    def _start_watchman(self) -> None:
        line_in, self._line_out = os.pipe()
        own = descendants.read_process(os.getpid())
        began = "0" if own is None else str(own.started)
        try:
            sweep = own_file(descendants.__file__, descendants.process_mark(), began)
        except SpawnFailed:
            # Without an interpreter of its own it ends the groups alone.
            sweep = ()
        try:
            self._watchman = subprocess.Popen(
                ["/bin/sh", "-c", _WATCHMAN, "sh", *sweep],
                stdin=line_in,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                cwd="/",
                env={name: os.environ[name] for name in _LOADER_VARIABLES if name in os.environ},
                start_new_session=True,
            )
            descendants.spare(self._watchman.pid)
        except OSError:
            # Without a shell the atexit hook is all there is.
            os.close(self._line_out)
            self._line_out = -1
            return
        finally:
            os.close(line_in)
        os.set_blocking(self._line_out, False)
        self._tell("".join(f"track {group_id}\n" for group_id in self._groups))

    def _tell(self, line: str) -> bool:
        if self._line_out < 0:
            return False
        try:
            os.write(self._line_out, line.encode("ascii"))
        except OSError:
            # It was killed, or does not read; the next group gets a new one.
            self._dismiss()
            return False
        return True

    def _dismiss(self) -> None:
        if self._line_out >= 0:
            os.close(self._line_out)
            self._line_out = -1
        watchman, self._watchman = self._watchman, None
        if watchman is not None:
            try:
                watchman.wait(WATCHMAN_GOODBYE_SECONDS)
            except subprocess.TimeoutExpired:
                watchman.kill()
                watchman.wait()
            descendants.no_longer_spare(watchman.pid)

    def end_all(self) -> None:
        """SIGKILL to every group that is left and all that left them; the watchman may go."""
        if self._watchman is not None:
            descendants.end_marked(descendants.process_mark(), terminate_seconds=0.0)
        for group in tuple(self._groups.values()):
            group.signal(signal.SIGKILL)
            group.forget()
        with self._lock:
            self._dismiss()

    def after_fork_in_child(self) -> None:
        if self._line_out >= 0:
            os.close(self._line_out)
        if self._watchman is not None:
            # Not this process's child; the standard library must not wait for it or warn.
            self._watchman.returncode = 0
        self.__init__()  # type: ignore[misc]


_registry = _Registry()
atexit.register(_registry.end_all)
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_registry.after_fork_in_child)


def track(leader_id: int) -> ProcessGroup:
    """Take responsibility for the group of a child that was started as leader of a new session."""
    group = ProcessGroup(leader_id)
    _registry.add(group)
    return group


def watch() -> None:
    """Prepare for the start of a program that carries our mark (`descendants.marked`).

    It is killed when this process ends, however it ends, with all that it starts.  `track` does
    the same for a group that was started before.
    """
    descendants.before_start(live_groups())
    _registry.watch()


def live_groups() -> frozenset[int]:
    """The ids of the groups that are tracked now."""
    return frozenset(_registry.groups)
