"""Landlock, the sandbox that a process puts itself into, by its system calls.

Only the standard library is imported: the launcher uses it.  The numbers are those of
`include/uapi/linux/landlock.h`; the calls have the same number on every processor.

What always holds
    * A process that was restricted never gets a right back, nor does anything that it starts.
    * Rights are given for what exists and is visible; everything else is refused.
"""

from __future__ import annotations

import ctypes
import os
import stat
from typing import Final

from accord.machine.sandbox.plan import Plan, is_within

ABI_NEEDED: Final = 6
"""Linux 6.12: the first that keeps signals and abstract sockets inside."""

_CREATE_RULESET, _ADD_RULE, _RESTRICT_SELF = 444, 445, 446
_VERSION_FLAG = 1
_PATH_BENEATH = 1
_PR_SET_NO_NEW_PRIVS = 38

_EXECUTE, _WRITE_FILE, _READ_FILE, _READ_DIR = (1 << bit for bit in range(4))
_TRUNCATE, _IOCTL_DEV = 1 << 14, 1 << 15
_ALL_FILES: Final = (1 << 16) - 1
_MAKE_CHAR, _MAKE_BLOCK = 1 << 6, 1 << 11
_READ: Final = _EXECUTE | _READ_FILE | _READ_DIR
_WRITE: Final = _ALL_FILES & ~(_MAKE_CHAR | _MAKE_BLOCK | _IOCTL_DEV)
_DEVICE: Final = _READ_FILE | _READ_DIR | _WRITE_FILE | _IOCTL_DEV
_OF_FILES: Final = _EXECUTE | _WRITE_FILE | _READ_FILE | _TRUNCATE | _IOCTL_DEV
_ALL_NETWORK: Final = 0b11
_ALL_SCOPES: Final = 0b11

_DEVICES = (
    *("/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom", "/dev/tty"),
    *("/dev/ptmx", "/dev/pts"),
)


class _Ruleset(ctypes.Structure):
    _fields_ = [
        ("files", ctypes.c_uint64),
        ("network", ctypes.c_uint64),
        ("scopes", ctypes.c_uint64),
    ]


class _PathBeneath(ctypes.Structure):
    _pack_ = 1
    _fields_ = [("rights", ctypes.c_uint64), ("parent", ctypes.c_int32)]


def _call(number: int, *arguments: object) -> int:
    library = ctypes.CDLL(None, use_errno=True)
    result = int(library.syscall(ctypes.c_long(number), *arguments))
    if result < 0:
        error = ctypes.get_errno()
        raise OSError(error, os.strerror(error))
    return result


def abi() -> int:
    """The version of Landlock in this kernel; 0 where it is missing or switched off."""
    try:
        return _call(_CREATE_RULESET, None, ctypes.c_size_t(0), ctypes.c_uint32(_VERSION_FLAG))
    except (OSError, AttributeError):
        return 0


def no_new_privileges() -> None:
    """Keep this process from gaining rights by programs of other users."""
    zero = ctypes.c_ulong(0)
    library = ctypes.CDLL(None, use_errno=True)
    if library.prctl(_PR_SET_NO_NEW_PRIVS, ctypes.c_ulong(1), zero, zero, zero) != 0:
        raise OSError(ctypes.get_errno(), "no_new_privs was refused")


def restrict_scopes() -> None:
    """Keep signals and abstract sockets inside, for bubblewrap, which does the rest."""
    ruleset = _create(0, 0)
    _restrict(ruleset)


def restrict_self(plan: Plan, scratch: str) -> None:
    """Restrict this process to a plan; `scratch` is a private folder."""
    ruleset = _create(_ALL_FILES, 0 if plan.network else _ALL_NETWORK)
    _open_visible(ruleset, plan, os.sep)
    for path, access in plan.places:
        if access == "write":
            _allow(ruleset, path, _WRITE)
        elif access == "read":
            _open_visible(ruleset, plan, path)
    _allow(ruleset, scratch, _WRITE)
    for device in _DEVICES:
        _allow(ruleset, device, _DEVICE)
    _restrict(ruleset)


def _create(files: int, network: int) -> int:
    attributes = _Ruleset(files, network, _ALL_SCOPES)
    size = ctypes.c_size_t(ctypes.sizeof(attributes))
    return _call(_CREATE_RULESET, ctypes.byref(attributes), size, ctypes.c_uint32(0))


def _restrict(ruleset: int) -> None:
    no_new_privileges()
    _call(_RESTRICT_SELF, ctypes.c_int(ruleset), ctypes.c_uint32(0))
    os.close(ruleset)


def _open_visible(ruleset: int, plan: Plan, folder: str) -> None:
    """Make a folder readable; where something in it is hidden, the rest of it, part by part."""
    closed = [path for path, access in plan.places if access in ("hidden", "private")]
    waiting = [folder]
    while waiting:
        path = waiting.pop()
        if path != folder and (path in closed or path == "/dev"):
            continue
        if not any(one != path and is_within(one, path) for one in closed):
            _allow(ruleset, path, _READ)
            continue
        try:
            entries = list(os.scandir(path))
        except OSError:
            continue
        waiting += [one.path for one in entries if not one.is_symlink()]


def _allow(ruleset: int, path: str, rights: int) -> None:
    """Give rights to a file or folder; one that is gone by now needs none."""
    try:
        parent = os.open(path, os.O_PATH | os.O_NOFOLLOW | os.O_CLOEXEC)
    except OSError:
        return
    try:
        mode = os.fstat(parent).st_mode
        if stat.S_ISLNK(mode):
            return
        given = rights if stat.S_ISDIR(mode) else rights & _OF_FILES
        rule = _PathBeneath(given, parent)
        arguments = (ctypes.c_int(_PATH_BENEATH), ctypes.byref(rule), ctypes.c_uint32(0))
        _call(_ADD_RULE, ctypes.c_int(ruleset), *arguments)
    finally:
        os.close(parent)
