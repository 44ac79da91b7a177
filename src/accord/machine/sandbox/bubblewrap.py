"""The command line of bubblewrap for a plan.

Only the standard library is imported: the launcher uses it.

What always holds
    * The process is in namespaces of its own for processes, users and mounts; it has no
      capabilities, and can make no further user namespaces where bubblewrap can prevent it.
    * Everything ends with bubblewrap, and bubblewrap with its parent.
"""

from __future__ import annotations

import os
import stat
import subprocess

from accord.machine.sandbox.plan import Plan

HELP_SECONDS = 5.0
"""How long bubblewrap may take to list its options."""

SOCKETS_MAX = 200
"""So many sockets outside are hidden one by one, each by a mount."""

_NAMESPACES = (
    *("--unshare-user", "--unshare-pid", "--unshare-ipc", "--unshare-uts", "--unshare-cgroup-try"),
    *("--cap-drop", "ALL", "--die-with-parent"),
)
_SYSTEM_SETTINGS = ("/proc/sys", "/proc/sysrq-trigger", "/proc/irq", "/proc/bus", "/proc/fs")
"""What root may write in /proc even without capabilities, such as the core pattern."""


def bubblewrap_words(plan: Plan, scratch: str, command: list[str], cwd: str) -> list[str]:
    """The command line; `scratch` is an empty folder on disk for what is private."""
    assert plan.bwrap is not None
    words = [plan.bwrap, *_NAMESPACES]
    if _has_option(plan.bwrap, "--disable-userns"):
        words.append("--disable-userns")
    if not plan.network:
        words.append("--unshare-net")
    words += ["--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc"]
    for path in _SYSTEM_SETTINGS:
        words += ["--ro-bind-try", path, path]
    empty: list[str] = []
    for number, (path, access) in enumerate(plan.places):
        if access == "hidden" and os.path.isdir(path):
            if not is_in_dev(path):
                words += ["--tmpfs", path]
                empty.append(path)
        elif access == "hidden":
            words += ["--ro-bind", "/dev/null", path]
        elif access == "private":
            folder = os.path.join(scratch, str(number))
            os.mkdir(folder, 0o700)
            words += ["--bind", folder, path]
        else:
            words += ["--bind" if access == "write" else "--ro-bind", path, path]
    for path in _outer_sockets(plan):
        words += ["--ro-bind", "/dev/null", path]
    for path, target in plan.links:
        words += ["--symlink", target, path]
    for path in empty:
        words += ["--remount-ro", path]
    return [*words, "--chdir", cwd, "--", *command]


def is_in_dev(path: str) -> bool:
    """Whether a path is in the folder of devices, which a sandbox has of its own."""
    return path.startswith("/dev/")


def _has_option(bwrap: str, option: str) -> bool:
    try:
        done = subprocess.run(
            [bwrap, "--help"], capture_output=True, timeout=HELP_SECONDS, check=False
        )
    except (OSError, subprocess.TimeoutExpired):
        return False
    return option.encode() in done.stdout + done.stderr


def _outer_sockets(plan: Plan) -> list[str]:
    """Sockets of other programs that would be visible: a read-only mount does not stop a client."""
    try:
        with open("/proc/net/unix", encoding="utf-8", errors="surrogateescape") as file:
            lines = file.read().splitlines()[1:]
    except OSError:
        return []
    found = []
    for line in lines:
        path = line.partition("/")[2]
        real = os.path.realpath(f"/{path}")
        if path and plan.access_to(real) in ("read", "executed") and _is_socket(real):
            found.append(real)
    return sorted(set(found))[:SOCKETS_MAX]


def _is_socket(path: str) -> bool:
    try:
        return stat.S_ISSOCK(os.lstat(path).st_mode)
    except (OSError, ValueError):
        return False
