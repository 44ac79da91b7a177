"""The exit code that the draft demands of every command, also of one that a signal ended."""

from __future__ import annotations

from types import MappingProxyType
from typing import Final

# In the order of their numbers, from 1 on, as POSIX systems have them.
_SIGNAL_NAMES: Final = (
    *("HUP", "INT", "QUIT", "ILL", "TRAP", "ABRT", "BUS", "FPE"),
    *("KILL", "USR1", "SEGV", "USR2", "PIPE", "ALRM", "TERM"),
)
_SIGNALS: Final = MappingProxyType(
    {f"SIG{name}": number for number, name in enumerate(_SIGNAL_NAMES, 1)}
)
UNKNOWN_EXIT: Final = -1


def exit_code_of(exit_code: int | None, signal: str | None) -> int:
    """The exit code that the draft demands, as a shell tells it for a signal."""
    if exit_code is not None:
        return exit_code
    name = (signal or "").upper()
    number = _SIGNALS.get(name if name.startswith("SIG") else f"SIG{name}")
    return UNKNOWN_EXIT if number is None else 128 + number
