"""Key codes for Alt-Enter and Shift-Enter that Textual does not know.

Most terminals send ESC and a carriage return for Alt-Enter.  Textual drops the Alt, so a line break
would send the prompt.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, cast

from textual._ansi_sequences import ANSI_SEQUENCES_KEYS  # pyright: ignore[reportPrivateUsage]


@dataclass(frozen=True, slots=True)
class _Named:
    """A key in the form of Textual's tables, which use only its value."""

    value: str


_SENT = {"\x1b\r": "alt+enter", "\x1b\n": "alt+enter"}


def teach() -> None:
    """Register the keys with Textual, once per process."""
    table = cast("dict[str, Any]", ANSI_SEQUENCES_KEYS)
    for sequence, name in _SENT.items():
        table.setdefault(sequence, (_Named(name),))


def key_name(key: str) -> str:
    """The canonical name of a key; xterm's Shift-Enter has another one."""
    return key.replace("\r", "enter")
