"""The audit log: decisions and operations, one JSON object per line.

Must not know how anything is decided or done.

What always holds
    * A line is written whole, by one write, so that several processes may share the file.
    * Only the user can read the file (0600); together with older ones it never takes more than
      `FILES_MAX` times its bound.
    * It contains no file contents and nothing that looks like a secret.  Variables in a command
      (`env LD_PRELOAD=x make`) are part of the decision, and stay.
    * A log that cannot be written stops nothing; that is logged once.
"""

from __future__ import annotations

import errno
import fcntl
import os
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from accord.machine import clock
from accord.machine.redacted_logs import logger
from accord.machine.redaction.redactor import Redactor
from accord.schema.codec import encode

BYTES_MAX = 8 << 20
"""The size at which the file is rotated."""

FILES_MAX = 4
"""The log and the older files that are kept beside it."""

TEXT_CHARACTERS_MAX = 2000
"""Longer values are cut and end with a mark."""

LIST_ITEMS_MAX = 50

_log = logger("accord.client")


class AuditLog:
    """Appends to one file.  `facts` are added to every line."""

    def __init__(
        self, path: Path, *, bytes_max: int = BYTES_MAX, facts: Mapping[str, Any] | None = None
    ) -> None:
        self._path = path
        self._bytes_max = bytes_max
        self._facts = {"pid": os.getpid(), **(facts or {})}
        self._descriptor: int | None = None
        self._failed = False
        self._redactor = Redactor.of_environment()

    @property
    def path(self) -> Path:
        """The path of the file."""
        return self._path

    def record(self, event: str, **facts: Any) -> None:
        """Write one line, without the values that are None."""
        now = clock.now().isoformat(timespec="milliseconds")
        line: dict[str, Any] = {"time": now, "event": event, **self._facts, **facts}
        told = {name: self._plain(value) for name, value in line.items() if value is not None}
        try:
            self._append(encode(told) + b"\n")
        except OSError as error:
            if not self._failed:
                self._failed = True
                _log.error("the audit log %s cannot be written: %s", self._path, error.strerror)

    def close(self) -> None:
        """Close the file; a later record opens it again."""
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None

    def _append(self, line: bytes) -> None:
        descriptor = self._open()
        if os.fstat(descriptor).st_size + len(line) > self._bytes_max:
            self._rotate()
            descriptor = self._open()
        size = os.fstat(descriptor).st_size
        if os.write(descriptor, line) < len(line):
            # A partial line on a full disk would spoil the next one.
            os.ftruncate(descriptor, size)
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    def _open(self) -> int:
        """The open file of this name; another process may have rotated it meanwhile."""
        if self._descriptor is not None:
            try:
                if os.path.samestat(os.stat(self._path), os.fstat(self._descriptor)):
                    return self._descriptor
            except FileNotFoundError:
                pass
            self.close()
        self._path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_NOFOLLOW | os.O_CLOEXEC
        self._descriptor = os.open(self._path, flags, 0o600)
        # It may have existed before, readable for others.
        os.fchmod(self._descriptor, 0o600)
        return self._descriptor

    def _rotate(self) -> None:
        with self._lock():
            # Another process may have rotated it while we waited.
            if self._path.stat().st_size * 2 > self._bytes_max:
                for number in range(FILES_MAX - 1, 0, -1):
                    older = self._older(number - 1)
                    if older.exists():
                        older.replace(self._older(number))
        self.close()

    def _older(self, number: int) -> Path:
        return self._path.with_name(f"{self._path.name}.{number}") if number else self._path

    @contextmanager
    def _lock(self) -> Generator[None]:
        path = self._path.with_name(f".{self._path.name}.lock")
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX)
            yield
        finally:
            os.close(descriptor)

    def _plain(self, value: Any) -> Any:
        """A value as it is written: bounded, and without secrets."""
        if isinstance(value, str):
            text = self._redactor.line(value[: TEXT_CHARACTERS_MAX * 2])
            text = text.encode("utf-8", "replace").decode()
            return text if len(text) <= TEXT_CHARACTERS_MAX else text[:TEXT_CHARACTERS_MAX] + "…"
        if isinstance(value, Mapping):
            return {str(name): self._plain(one) for name, one in value.items() if one is not None}
        if isinstance(value, list | tuple):
            return [self._plain(one) for one in value[:LIST_ITEMS_MAX]]
        return value if isinstance(value, bool | int | float) else self._plain(str(value))
