"""The standard error of a program that we started, passed on to our own.

What always holds
    * Secrets are taken out, also those that come in pieces.
    * Where a person sees it, it is made visible: it cannot move the cursor, name the window, ring
      or hide letters.  Colours stay.
    * Anywhere else, such as a file, a pipe or the log of an editor, all other bytes go on
      unchanged.
    * A standard error that nobody reads any more does not end this process.
"""

from __future__ import annotations

import os
import select
from typing import TYPE_CHECKING

from accord.machine.console.control_characters import VisibleOutput
from accord.machine.console.unfinished_lines import LINE_ENDS
from accord.machine.redacted_logs import log_redactor

if TYPE_CHECKING:
    from accord.machine.redaction.secret_stream import SecretByteStream

STDERR = 2


class PassedOutput:
    """Passes on what one program prints.  Guards the invariants at the head of this file."""

    def __init__(self, descriptor: int = STDERR) -> None:
        self._descriptor = descriptor
        try:
            is_terminal = os.isatty(descriptor)
        except OSError:
            is_terminal = False
        self._visible = VisibleOutput() if is_terminal else None
        # Created with the first bytes: most programs print nothing, and this delays the start.
        self._secrets: SecretByteStream | None = None

    def __call__(self, data: bytes) -> None:
        """Pass on the next bytes."""
        if self._secrets is None:
            self._secrets = log_redactor().byte_stream()
        self._show(self._secrets.feed(data))

    def finish(self) -> None:
        """Pass on what waited for the rest of a character, a sequence or a secret."""
        if self._secrets is not None:
            self._show(self._secrets.finish())
            self._secrets = None
        if self._visible is not None:
            self._write(_encoded(self._visible.finish()))

    def _show(self, data: bytes) -> None:
        self._write(data if self._visible is None else _encoded(self._visible.feed(data)))

    def _write(self, data: bytes) -> None:
        if not data:
            return
        left = memoryview(LINE_ENDS.before(self._descriptor, self).encode() + data)
        LINE_ENDS.wrote(self._descriptor, self, data)
        while left:
            try:
                left = left[os.write(self._descriptor, left) :]
            except BlockingIOError:
                # Another process made the shared file non-blocking.
                select.select([], [self._descriptor], [])
            except OSError:
                return


def _encoded(text: str) -> bytes:
    return text.encode("utf-8", "replace")
