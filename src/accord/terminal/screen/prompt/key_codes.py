"""What terminals send for Alt-Enter and Shift-Enter, where Textual does not know it.

Most terminals send ESC and a carriage return for Alt-Enter.  Textual drops the Alt, so that a new
line would be a sent prompt.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, cast

from textual._ansi_sequences import ANSI_SEQUENCES_KEYS  # pyright: ignore[reportPrivateUsage]


@dataclass(frozen=True, slots=True)
class _Named:
    """A key as Textual's tables have it: all that is asked of one is its value."""

    value: str


_SENT = {"\x1b\r": "alt+enter", "\x1b\n": "alt+enter"}


def teach() -> None:
    """Make the key known to every application of this process; once is enough."""
    table = cast("dict[str, Any]", ANSI_SEQUENCES_KEYS)
    for sequence, name in _SENT.items():
        table.setdefault(sequence, (_Named(name),))


def key_name(key: str) -> str:
    """A key of an event by the name that it has elsewhere; xterm's Shift-Enter has another."""
    return key.replace("\r", "enter")


__all__ = ["key_name", "teach"]
