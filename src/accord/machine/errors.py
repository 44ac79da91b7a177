"""What can go wrong with files and terminals, one class per thing a caller decides on.

It must not know JSON-RPC codes: the code that answers a peer maps these classes to codes.

Tree
    MachineError ─┬─ FileFailure ─┬─ OutsideRoots      the path leaves every root
                  │               ├─ FileMissing       nothing is there
                  │               │  └─ NoSuchFile     the same, and Python's FileNotFoundError
                  │               ├─ NotAFile          a directory, pipe, socket or device is there
                  │               ├─ AccessDenied      the operating system said no
                  │               ├─ AlreadyThere      the target of a move exists
                  │               ├─ TooLarge          over a named bound
                  │               └─ NotText           storing the text would do damage
                  ├─ TerminalUnknown                   no such id, or released
                  └─ TooManyTerminals                  release one first
"""

from __future__ import annotations

import errno

from accord.errors import AccordError


class MachineError(AccordError):
    """An operation on this computer was refused or failed."""


class FileFailure(MachineError):
    """An operation on a file failed; `path` is the requested path."""

    def __init__(self, path: str, reason: str) -> None:
        super().__init__(f"{path}: {reason}")
        self.path = path
        self.reason = reason


OUTSIDE = "outside the allowed directories"


class OutsideRoots(FileFailure):
    """The path leaves the allowed directories, by its text, a link or a mount."""

    def __init__(self, path: str, reason: str = OUTSIDE) -> None:
        super().__init__(path, reason)


class FileMissing(FileFailure):
    """There is no such file."""

    def __init__(self, path: str, reason: str = "no such file") -> None:
        super().__init__(path, reason)


class NoSuchFile(FileMissing, FileNotFoundError):
    """Also Python's own FileNotFoundError, with a readable message if it is not caught."""

    def __init__(self, path: str, reason: str = "no such file") -> None:
        super().__init__(path, reason)
        self.errno, self.strerror, self.filename = errno.ENOENT, reason, path

    def __str__(self) -> str:
        return f"{self.path}: {self.reason}"


class NotAFile(FileFailure):
    """Something is there, but not a regular file."""

    def __init__(self, path: str, reason: str = "not a regular file") -> None:
        super().__init__(path, reason)


class AccessDenied(FileFailure):
    """The operating system refused: permissions or a read-only file system."""


class AlreadyThere(FileFailure):
    """The target exists and was not to be replaced."""

    def __init__(self, path: str, reason: str = "already exists") -> None:
        super().__init__(path, reason)


class TooLarge(FileFailure):
    """More bytes than the bound allows; `bytes_max` is that bound."""

    def __init__(self, path: str, bytes_max: int) -> None:
        super().__init__(path, f"larger than {bytes_max} bytes")
        self.bytes_max = bytes_max


class NotText(FileFailure):
    """The text cannot be stored without damage."""


class TerminalUnknown(MachineError):
    """No terminal has this id: it never existed or was released."""

    def __init__(self, terminal_id: str) -> None:
        super().__init__(f"unknown terminal {terminal_id!r}")
        self.terminal_id = terminal_id


class TooManyTerminals(MachineError):
    """The registry is full; `count_max` is its bound."""

    def __init__(self, count_max: int) -> None:
        super().__init__(f"{count_max} terminals are open already; release one first")
        self.count_max = count_max


_BY_NUMBER: dict[int, tuple[type[FileFailure], str]] = {
    errno.ENOENT: (FileMissing, "no such file"),
    errno.ENOTDIR: (FileMissing, "a part of the path is not a directory"),
    errno.ENAMETOOLONG: (FileMissing, "the name is too long"),
    errno.EISDIR: (NotAFile, "is a directory"),
    errno.ENXIO: (NotAFile, "not a regular file"),
    errno.ENODEV: (NotAFile, "not a regular file"),
    errno.EXDEV: (OutsideRoots, OUTSIDE),
    errno.ELOOP: (OutsideRoots, "a link on the way leads outside the allowed directories"),
    errno.EACCES: (AccessDenied, "permission denied"),
    errno.EPERM: (AccessDenied, "operation not permitted"),
    errno.EROFS: (AccessDenied, "read-only file system"),
    errno.EEXIST: (AlreadyThere, "already exists"),
    errno.ENOTEMPTY: (AlreadyThere, "already exists and is not empty"),
}


def file_failure(path: str, error: OSError) -> FileFailure:
    """Put an operating system's error into our words; unknown numbers keep the system's own."""
    kind, reason = _BY_NUMBER.get(
        error.errno or 0, (FileFailure, error.strerror or "input/output error")
    )
    return kind(path, reason)
