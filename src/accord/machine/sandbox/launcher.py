"""The program that puts a command into a sandbox, waits for its end and cleans up behind it.

    launcher.py PLAN COMMAND [ARGUMENT...]

Only the standard library is imported, and the few modules that a plan needs.

What always holds
    * The command runs restricted as planned, or not at all.
    * When the command ends, everything that it started is ended and its private files are deleted;
      when this program is killed, everything ends with it (bubblewrap), or the command does and
      this program's own parent finds the rest (Landlock).
    * This program is outside of the sandbox: what runs inside cannot signal, trace or read it.
"""

from __future__ import annotations

import os
import sys

if __name__ == "__main__":
    # An isolated interpreter does not search the folder of its script.
    sys.path.append(os.path.abspath(__file__).rsplit(f"{os.sep}accord{os.sep}", 1)[0])

import ctypes
import fcntl
import resource
import shutil
import signal
import stat
import tempfile
from types import FrameType

from accord.machine.processes import descendants
from accord.machine.sandbox import bubblewrap, landlock, seccomp
from accord.machine.sandbox.plan import Plan, from_text

FAILED = 125
"""The exit code where the sandbox could not be set up."""

_PREFIX = "accord-sandbox-"
_SIGNALS = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGQUIT)
_TEMPORARY_VARIABLES = ("TMPDIR", "TMP", "TEMP")
_PR_SET_PDEATHSIG = 1
_PR_CAPBSET_DROP = 24
_CAPABILITIES_MAX = 64
_CAPABILITY_VERSION = 0x20080522


def main(arguments: list[str]) -> int:
    """Run the command; the exit code is its own."""
    plan, command = from_text(arguments[0]), arguments[1:]
    _remove_leftovers()
    scratch = _private_folder()
    descendants.adopt_orphans()
    supervisor = _Supervisor(plan)
    try:
        return supervisor.run(command, scratch)
    finally:
        descendants.end_descendants()
        shutil.rmtree(scratch, ignore_errors=True)


class _Supervisor:
    """The parent of the command.  Guards: signals reach the command, and never bubblewrap."""

    def __init__(self, plan: Plan) -> None:
        self._plan = plan
        self._child = 0
        # In a terminal the command must stay in the foreground group.
        self._own_group = plan.bwrap is not None and not os.isatty(0)

    def run(self, command: list[str], scratch: str) -> int:
        """Run the command to its end."""
        for number in _SIGNALS:
            if signal.getsignal(number) is not signal.SIG_IGN:
                signal.signal(number, self._pass_on)
        parent = os.getpid()
        self._child = os.fork()
        if self._child == 0:
            try:
                self._become(command, scratch, parent)
            except BaseException as error:  # noqa: BLE001 - nothing may run unrestricted
                reason = error.strerror if isinstance(error, OSError) else None
                os.write(2, f"accord: the sandbox failed: {reason or error}\n".encode())
            finally:
                os._exit(FAILED)
        # Nobody may wait for us to close what only the command uses.
        _close_streams()
        _, status = os.waitpid(self._child, 0)
        if os.WIFSIGNALED(status):
            return -os.WTERMSIG(status)
        return os.WEXITSTATUS(status)

    def _become(self, command: list[str], scratch: str, parent: int) -> None:
        """Restrict this process and become the command."""
        plan = self._plan
        signal.signal(signal.SIGPIPE, signal.SIG_DFL)
        signal.signal(signal.SIGXFSZ, signal.SIG_DFL)
        if self._own_group:
            os.setpgid(0, 0)
        library = ctypes.CDLL(None, use_errno=True)
        library.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
        if os.getppid() != parent:
            os._exit(FAILED)
        for name in plan.unset_variables:
            os.environ.pop(name, None)
        os.environ.update(plan.set_variables)
        cwd = _working_folder(plan)
        if plan.bwrap is None:
            _enter_landlock(plan, scratch, cwd)
            words = command
        else:
            words = _enter_bubblewrap(plan, scratch, command, cwd)
        os.execv(words[0], words)

    def _pass_on(self, number: int, frame: FrameType | None) -> None:
        """Send a signal to the command and its group, but not to bubblewrap, which would die."""
        if not self._own_group or not self._child:
            # It came to the whole group.
            return
        for process in descendants.process_table().values():
            if process.group == self._child and process.pid != self._child:
                descendants.send(process, number)


def _enter_bubblewrap(plan: Plan, scratch: str, command: list[str], cwd: str) -> list[str]:
    words = bubblewrap.bubblewrap_words(plan, scratch, command, cwd)
    for name in _TEMPORARY_VARIABLES:
        if name in os.environ:
            os.environ[name] = "/tmp"
    if landlock.abi() >= landlock.ABI_NEEDED:
        # A network that is shared has the abstract sockets of other programs in it.
        landlock.restrict_scopes()
    landlock.no_new_privileges()
    if seccomp.is_known():
        seccomp.install(unix_sockets=True, network=plan.network)
    else:
        # Without the filter a terminal could be typed into.
        words.insert(1, "--new-session")
    return words


def _enter_landlock(plan: Plan, scratch: str, cwd: str) -> None:
    os.chdir(cwd)
    for name in ("tmp", "cache", "npm"):
        os.mkdir(os.path.join(scratch, name), 0o700)
    os.environ.update(dict.fromkeys(_TEMPORARY_VARIABLES, os.path.join(scratch, "tmp")))
    os.environ.update(
        XDG_CACHE_HOME=os.path.join(scratch, "cache"),
        npm_config_cache=os.path.join(scratch, "npm"),
        # A file that exists and cannot be read is an error for npm.
        npm_config_userconfig=os.devnull,
    )
    landlock.no_new_privileges()
    landlock.restrict_self(plan, scratch)
    _drop_capabilities()
    seccomp.install(unix_sockets=False, network=plan.network)


def _drop_capabilities() -> None:
    """Give up the special rights of root, for good."""
    library = ctypes.CDLL(None, use_errno=True)
    for number in range(_CAPABILITIES_MAX):
        # Fails for numbers that this kernel does not have, and without any rights.
        library.prctl(_PR_CAPBSET_DROP, number, 0, 0, 0)
    header = (ctypes.c_uint32 * 2)(_CAPABILITY_VERSION, 0)
    if library.capset(ctypes.byref(header), ctypes.byref((ctypes.c_uint32 * 6)())) != 0:
        raise OSError(ctypes.get_errno(), "capabilities could not be dropped")


def _working_folder(plan: Plan) -> str:
    """The working directory, or the session's folder where the command would not see it."""
    try:
        cwd = os.path.realpath(os.getcwd())
    except OSError:
        return plan.folder
    return plan.folder if plan.access_to(cwd) in ("hidden", "private") else cwd


def _close_streams() -> None:
    nothing = os.open(os.devnull, os.O_RDWR)
    for stream in (0, 1, 2):
        os.dup2(nothing, stream)
    os.close(nothing)


def _private_folder() -> str:
    """Make a folder and lock it for as long as this process lives."""
    while True:
        folder = os.path.realpath(tempfile.mkdtemp(prefix=_PREFIX))
        handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
        fcntl.flock(handle, fcntl.LOCK_EX)
        # Another launcher may have taken it for a leftover before it was locked.
        if os.path.isdir(folder):
            return folder
        os.close(handle)


def _remove_leftovers() -> None:
    """Delete the private files of sandboxes whose launcher was killed."""
    folder = tempfile.gettempdir()
    for name in os.listdir(folder):
        if not name.startswith(_PREFIX):
            continue
        path = os.path.join(folder, name)
        try:
            handle = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
        except OSError:
            continue
        try:
            status = os.fstat(handle)
            if status.st_uid == os.getuid() and not status.st_mode & (stat.S_IRWXG | stat.S_IRWXO):
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
                shutil.rmtree(path, ignore_errors=True)
        except OSError:
            # Its launcher runs.
            continue
        finally:
            os.close(handle)


def _end_like(code: int) -> None:
    """End as the command ended; a negative code is a signal."""
    if code < 0:
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        if -code != signal.SIGKILL:
            signal.signal(-code, signal.SIG_DFL)
        os.kill(os.getpid(), -code)
    os._exit(code if code >= 0 else 128 - code)


if __name__ == "__main__":
    _end_like(main(sys.argv[1:]))
