"""Standard error without secrets: it ends up in logs that others read.

Must not know who writes.  What always holds: whatever is not written is written later, at the
latest by `finish`; standard output is not touched.
"""

from __future__ import annotations

import sys
from collections.abc import Generator, Iterable
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, TextIO, cast

if TYPE_CHECKING:
    from accord.machine.redaction import Redactor
    from accord.machine.secret_stream import SecretByteStream


class _Bytes:
    """The bytes beneath, which agents' own standard error is passed on to."""

    def __init__(self, buffer: Any, stream: SecretByteStream) -> None:
        self._buffer = buffer
        self._stream = stream

    def write(self, data: bytes) -> int:
        self._buffer.write(self._stream.feed(bytes(data)))
        return len(data)

    def finish(self) -> None:
        self._buffer.write(self._stream.finish())
        self._buffer.flush()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._buffer, name)


class _Text:
    """A text stream that takes secrets out of what is written to it."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self._known: Redactor | None = None
        self._bytes: _Bytes | None = None

    @property
    def _redactor(self) -> Redactor:
        if self._known is None:
            from accord.machine.logs import log_redactor

            self._known = log_redactor()
        return self._known

    def write(self, text: str) -> int:
        self._stream.write(text if text.isspace() else self._redactor.line(text))
        return len(text)

    def writelines(self, lines: Iterable[str]) -> None:
        for line in lines:
            self.write(line)

    @property
    def buffer(self) -> _Bytes:
        if self._bytes is None:
            self._bytes = _Bytes(self._stream.buffer, self._redactor.byte_stream())
        return self._bytes

    def finish(self) -> None:
        if self._bytes is not None:
            self._bytes.finish()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)


@contextmanager
def redacted_stderr() -> Generator[None]:
    """Take secrets out of all that this process writes to standard error meanwhile."""
    before = sys.stderr
    made = _Text(before)
    sys.stderr = cast("TextIO", made)
    try:
        yield
    finally:
        sys.stderr = before
        made.finish()


__all__ = ["redacted_stderr"]
