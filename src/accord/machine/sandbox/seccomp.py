"""A filter of system calls for what neither mounts nor Landlock can refuse.

Only the standard library is imported: the launcher uses it.

What always holds
    * Calls of another processor's numbering are refused, so that no call passes by another number.
    * The filter holds for everything that the process starts.
"""

from __future__ import annotations

import ctypes
import errno
import os
from typing import Final, NamedTuple

_PR_SET_SECCOMP = 22
_MODE_FILTER = 2
_ALLOW = 0x7FFF0000
_ERRNO = 0x00050000

_LOAD, _EQUAL, _AT_LEAST, _RETURN = 0x20, 0x15, 0x35, 0x06
_AT_NUMBER, _AT_PROCESSOR, _AT_ARGUMENTS = 0, 4, 16
_X32_BIT = 0x40000000

_TIOCSTI, _TIOCLINUX = 0x5412, 0x541C
_AF_UNIX, _AF_NETLINK, _AF_VSOCK = 1, 16, 40


class _Processor(NamedTuple):
    """The numbers of a processor's calls."""

    audit: int
    ioctl: int
    socket: int
    io_uring_setup: int
    keys: tuple[int, int, int]


_PROCESSORS: Final = {
    "x86_64": _Processor(0xC000003E, 16, 41, 425, (248, 249, 250)),
    "aarch64": _Processor(0xC00000B7, 29, 198, 425, (217, 218, 219)),
}


class _Instruction(ctypes.Structure):
    _fields_ = [
        ("code", ctypes.c_uint16),
        ("if_true", ctypes.c_uint8),
        ("if_false", ctypes.c_uint8),
        ("value", ctypes.c_uint32),
    ]


class _Program(ctypes.Structure):
    _fields_ = [("length", ctypes.c_uint16), ("start", ctypes.POINTER(_Instruction))]


def is_known() -> bool:
    """Whether there is a filter for this processor."""
    return os.uname().machine in _PROCESSORS


def install(*, unix_sockets: bool, network: bool) -> None:
    """Install the filter for this process; it needs `no_new_privileges` before.

    It refuses to type into a terminal (TIOCSTI), keys of the kernel, io_uring, which would pass
    by it, and new sockets as told.
    """
    listed = _instructions(_PROCESSORS[os.uname().machine], unix_sockets, network)
    made = (_Instruction * len(listed))(*(_Instruction(*one) for one in listed))
    program = _Program(len(listed), made)
    library = ctypes.CDLL(None, use_errno=True)
    arguments = (ctypes.c_ulong(_MODE_FILTER), ctypes.byref(program))
    zero = ctypes.c_ulong(0)
    if library.prctl(_PR_SET_SECCOMP, *arguments, zero, zero) != 0:
        raise OSError(ctypes.get_errno(), "the filter of system calls was refused")


def _instructions(
    processor: _Processor, unix_sockets: bool, network: bool
) -> list[tuple[int, int, int, int]]:
    """The filter; each test jumps over the refusal that follows it."""
    refuse, missing = _ERRNO | errno.EACCES, _ERRNO | errno.ENOSYS
    found = [
        (_LOAD, 0, 0, _AT_PROCESSOR),
        (_EQUAL, 1, 0, processor.audit),
        (_RETURN, 0, 0, missing),
        (_LOAD, 0, 0, _AT_NUMBER),
        (_AT_LEAST, 0, 1, _X32_BIT),
        (_RETURN, 0, 0, missing),
    ]
    for number in (processor.io_uring_setup, *processor.keys):
        found += [(_EQUAL, 0, 1, number), (_RETURN, 0, 0, missing)]
    found += [
        (_EQUAL, 0, 5, processor.ioctl),
        (_LOAD, 0, 0, _AT_ARGUMENTS + 8),
        (_EQUAL, 1, 0, _TIOCSTI),
        (_EQUAL, 0, 1, _TIOCLINUX),
        (_RETURN, 0, 0, refuse),
        (_RETURN, 0, 0, _ALLOW),
    ]
    of_sockets = _of_sockets(unix_sockets, network)
    found += [(_EQUAL, 0, len(of_sockets), processor.socket), *of_sockets]
    return [*found, (_RETURN, 0, 0, _ALLOW)]


def _of_sockets(unix_sockets: bool, network: bool) -> list[tuple[int, int, int, int]]:
    """What follows for a new socket, by its family."""
    refuse = (_RETURN, 0, 0, _ERRNO | errno.EACCES)
    found = [(_LOAD, 0, 0, _AT_ARGUMENTS)]
    if network:
        refused = () if unix_sockets else (_AF_UNIX,)
        for family in refused:
            found += [(_EQUAL, 0, 1, family), refuse]
        return found
    if unix_sockets:
        # A network of its own has no other machine in it, but these sockets know no networks.
        return [*found, (_EQUAL, 0, 1, _AF_VSOCK), refuse]
    return [*found, (_EQUAL, 1, 0, _AF_NETLINK), refuse]
