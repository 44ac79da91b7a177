"""The Linux system call openat2, which the standard library does not offer.

It must not know roots or policies: it opens one path below one directory handle.
Always holds: what it returns lies beneath the handle at the moment of opening, because the
kernel resolves the path as a whole and refuses any step that leaves (`..`, links, mounts).
Where the call is missing (old kernels, seccomp filters, other systems) it raises ENOSYS.
"""

from __future__ import annotations

import errno
import os
import sys
from collections.abc import Callable
from functools import cache

SYSCALL_NUMBER = 437
"""The same on every architecture, as for all calls younger than Linux 5.1."""

RESOLVE_NO_XDEV = 0x01
RESOLVE_NO_MAGICLINKS = 0x02
RESOLVE_BENEATH = 0x08


@cache
def _system_call() -> Callable[[int, bytes, int, int, int], int] | None:
    """Prepare the call once; ctypes is imported only by programs that open files."""
    if not sys.platform.startswith("linux"):
        return None
    import ctypes

    class OpenHow(ctypes.Structure):
        _fields_ = (
            ("flags", ctypes.c_uint64),
            ("mode", ctypes.c_uint64),
            ("resolve", ctypes.c_uint64),
        )

    syscall = ctypes.CDLL(None, use_errno=True).syscall
    syscall.restype = ctypes.c_long
    syscall.argtypes = (
        ctypes.c_long,
        ctypes.c_int,
        ctypes.c_char_p,
        ctypes.POINTER(OpenHow),
        ctypes.c_size_t,
    )
    size = ctypes.sizeof(OpenHow)

    def call(directory: int, path: bytes, flags: int, mode: int, resolve: int) -> int:
        how = OpenHow(flags, mode, resolve)
        opened = int(syscall(SYSCALL_NUMBER, directory, path, ctypes.byref(how), size))
        return opened if opened >= 0 else -ctypes.get_errno()

    return call


def open_resolved(
    directory: int, path: str, flags: int, mode: int = 0o666, *, cross_mounts: bool = False
) -> int:
    """Open `path`, relative to and beneath the handle `directory`, and return the descriptor.

    Raises:
        OSError: as open(2); besides EXDEV where the path leaves the directory (or, unless
            `cross_mounts`, the mount), EAGAIN after a race the kernel could not settle,
            ENOSYS where there is no openat2.
    """
    call = _system_call()
    if call is None:
        raise OSError(errno.ENOSYS, os.strerror(errno.ENOSYS), path)
    resolve = RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS
    if not cross_mounts:
        resolve |= RESOLVE_NO_XDEV
    # openat2 refuses a mode that would not be used.
    used_mode = mode if flags & os.O_CREAT else 0
    opened = call(directory, os.fsencode(path), flags | os.O_CLOEXEC, used_mode, resolve)
    if opened < 0:
        raise OSError(-opened, os.strerror(-opened), path)
    return opened
