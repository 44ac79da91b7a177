"""The exit code that the draft requires for every command, also for one ended by a signal."""

from __future__ import annotations

from types import MappingProxyType
from typing import Final

# In the order of their POSIX numbers, from 1.
_SIGNAL_NAMES: Final = (
    *("HUP", "INT", "QUIT", "ILL", "TRAP", "ABRT", "BUS", "FPE"),
    *("KILL", "USR1", "SEGV", "USR2", "PIPE", "ALRM", "TERM"),
)
_SIGNALS: Final = MappingProxyType(
    {f"SIG{name}": number for number, name in enumerate(_SIGNAL_NAMES, 1)}
)
UNKNOWN_EXIT: Final = -1


def exit_code_of(exit_code: int | None, signal: str | None) -> int:
    """Return the exit code; for a signal, the one that a shell reports."""
    if exit_code is not None:
        return exit_code
    name = (signal or "").upper()
    number = _SIGNALS.get(name if name.startswith("SIG") else f"SIG{name}")
    return UNKNOWN_EXIT if number is None else 128 + number
