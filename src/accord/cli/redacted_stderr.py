"""Removes secrets from standard error, which ends up in logs that others read.

Must not know who writes.

What always holds
    * Held-back text is written later, at the latest by `finish`; standard output is only flushed
      before it.
    * Each message starts on a line of its own, and the last line is ended.
"""

from __future__ import annotations

import sys
from collections.abc import Generator, Iterable
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, TextIO, cast

from accord.machine.console.unfinished_lines import LINE_ENDS

if TYPE_CHECKING:
    from accord.machine.redaction.redactor import Redactor
    from accord.machine.redaction.secret_stream import SecretByteStream


class _Bytes:
    """The binary stream below, for the forwarded standard error of agents."""

    def __init__(self, buffer: Any, stream: SecretByteStream, descriptor: int | None) -> None:
        self._buffer = buffer
        self._stream = stream
        self._descriptor = descriptor

    def write(self, data: bytes) -> int:
        self._pass_on(self._stream.feed(bytes(data)))
        return len(data)

    def finish(self) -> None:
        self._pass_on(self._stream.finish())
        self._buffer.flush()

    def _pass_on(self, data: bytes) -> None:
        if self._descriptor is not None and data:
            self._buffer.write(LINE_ENDS.before(self._descriptor, self).encode())
            LINE_ENDS.wrote(self._descriptor, self, data)
        self._buffer.write(data)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._buffer, name)


class _Text:
    """A text stream that removes secrets."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self._known: Redactor | None = None
        self._bytes: _Bytes | None = None
        try:
            self._descriptor: int | None = stream.fileno()
        except (OSError, ValueError):
            # Not a real file, such as an in-memory stream.
            self._descriptor = None

    @property
    def _redactor(self) -> Redactor:
        if self._known is None:
            from accord.machine.redacted_logs import log_redactor

            self._known = log_redactor()
        return self._known

    def write(self, text: str) -> int:
        shown = text if text.isspace() else self._redactor.line(text)
        if self._descriptor is not None and shown:
            _flush_stdout()
            self._stream.write(LINE_ENDS.before(self._descriptor, self, shown))
            LINE_ENDS.wrote(self._descriptor, self, shown)
        self._stream.write(shown)
        return len(text)

    def writelines(self, lines: Iterable[str]) -> None:
        for line in lines:
            self.write(line)

    @property
    def buffer(self) -> _Bytes:
        if self._bytes is None:
            stream = self._redactor.byte_stream()
            self._bytes = _Bytes(self._stream.buffer, stream, self._descriptor)
        return self._bytes

    def finish(self) -> None:
        if self._bytes is not None:
            self._bytes.finish()
        if self._descriptor is not None and LINE_ENDS.is_open(self._descriptor):
            _flush_stdout()
            self._stream.write("\n")
            self._stream.flush()
            LINE_ENDS.ended(self._descriptor)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)


def _flush_stdout() -> None:
    """Keep the order of output if both streams lead to the same terminal or file."""
    try:
        sys.stdout.flush()
    except (OSError, ValueError):
        # The reader is gone; the next write reports it.
        pass


@contextmanager
def redacted_stderr() -> Generator[None]:
    """Remove secrets from everything that is written to standard error inside this block."""
    before = sys.stderr
    made = _Text(before)
    sys.stderr = cast("TextIO", made)
    try:
        yield
    finally:
        sys.stderr = before
        made.finish()
