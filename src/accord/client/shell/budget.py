"""How much of one line is read, so that a line of an agent cannot hold up its reader."""

from __future__ import annotations

from accord.client.shell.syntax import STEPS_MAX

PROGRAMS_MAX = 500
"""Programs of one line that are looked at."""
TEXTS_MAX = 200
"""Texts within a line that are read as lines of their own."""
TEXT_CHARACTERS_MAX = 128 * 1024
"""Their length in all, since a text may stand within others."""


class TooMuch(Exception):
    """The line has more parts than are looked at."""

    def __init__(self) -> None:
        super().__init__("it has more parts than are looked at")


class Budget:
    """Counts what was read of one line.

    Every method raises `TooMuch` when there was more than is looked at.
    """

    def __init__(self) -> None:
        self._texts = self._characters = self._steps = self._programs = 0

    def text(self, length: int) -> None:
        """Count a text that is read as a line."""
        self._texts += 1
        self._characters += length
        if self._texts > TEXTS_MAX or self._characters > TEXT_CHARACTERS_MAX:
            raise TooMuch

    def steps(self, count: int) -> None:
        """Count commands and expansions."""
        self._steps += count
        if self._steps > STEPS_MAX:
            raise TooMuch

    def program(self) -> None:
        self._programs += 1
        if self._programs > PROGRAMS_MAX:
            raise TooMuch


__all__ = ["PROGRAMS_MAX", "TEXTS_MAX", "TEXT_CHARACTERS_MAX", "Budget", "TooMuch"]
