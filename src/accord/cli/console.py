"""Prints the output of all commands.

Every command prints with these functions, because its output may quote an agent, a file or a
server.

What always holds
    * Control characters are escaped: no text can control the terminal or hide in it.
    * A character that the stream cannot encode is not an error.
    * A message starts on a line of its own, even if others write to the same terminal.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, TextIO

from accord.machine.console.control_characters import visible, visible_json
from accord.machine.console.unfinished_lines import LINE_ENDS

if TYPE_CHECKING:
    from types import TracebackType


def say(text: str = "", *, end: str = "\n") -> None:
    """Print text on standard output."""
    _write(sys.stdout, visible(text) + end)


def say_json(text: str) -> None:
    """Print JSON on standard output, escaped so that it stays JSON."""
    _write(sys.stdout, visible_json(text) + "\n")


def complain(text: str, *, end: str = "\n") -> None:
    """Print text on standard error."""
    _write(sys.stderr, visible(text) + end)
    sys.stderr.flush()


def show(lines: str) -> None:
    """Print lines that are already escaped, and may contain our own colours."""
    _write(sys.stdout, lines + "\n")


def show_progress(text: str) -> None:
    """Overwrite the last line of standard error, which is a terminal."""
    _write(sys.stderr, f"\r\x1b[K{visible(text)}")
    sys.stderr.flush()


def ends_line() -> None:
    """Note that the user ended the line of a question by answering it."""
    descriptor = _descriptor(sys.stderr)
    if descriptor is not None:
        LINE_ENDS.ended(descriptor)


def clean_traces() -> None:
    """Escape control characters in Python's own tracebacks and log messages."""
    import logging

    class Visible(logging.Formatter):
        def format(self, record: logging.LogRecord) -> str:
            return visible(super().format(record))

    if logging.lastResort is not None:
        logging.lastResort.setFormatter(Visible())
    sys.excepthook = _print_error


def _print_error(
    kind: type[BaseException], error: BaseException, trace: TracebackType | None
) -> None:
    from traceback import format_exception

    complain("".join(format_exception(kind, error, trace)), end="")


def _write(stream: TextIO, text: str) -> None:
    encoding = stream.encoding or "ascii"
    shown = text.encode(encoding, "backslashreplace").decode(encoding)
    descriptor = _descriptor(stream)
    # Standard error tracks its own lines; see `redacted_stderr`.
    if descriptor is None or stream is sys.stderr:
        stream.write(shown)
        return
    stream.write(LINE_ENDS.before(descriptor, stream, shown) + shown)
    LINE_ENDS.wrote(descriptor, stream, shown)


def _descriptor(stream: TextIO) -> int | None:
    try:
        return stream.fileno()
    except (OSError, ValueError):
        # Not a real file, such as an in-memory stream.
        return None
