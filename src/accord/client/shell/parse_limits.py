"""Limits how much of a line is parsed, so that an agent's line cannot block the parser."""

from __future__ import annotations

NESTING_MAX = 60
"""Levels of substitutions, groups and loops that are read."""
WORD_CHARACTERS_MAX = 4_096
"""A word with holes that is longer may be anything."""
STEPS_MAX = 1_000
"""Commands and expansions of one line that are read, counting those that are read twice."""
WRAPPERS_MAX = 40
"""The most programs that run each other, as in `env nice timeout 5 ls`."""
DEPTH_MAX = 6
"""The most shells inside shells."""
WORDS_MAX = 300
"""The most arguments of one program that are checked as programs."""
PROGRAMS_MAX = 500
"""The most programs of one line."""
TEXTS_MAX = 200
"""The most texts in a line that are parsed as lines of their own."""
TEXT_CHARACTERS_MAX = 128 * 1024
"""Their total length, since texts may be nested."""


class TooMuch(Exception):
    """The line has too many parts to check."""

    def __init__(self) -> None:
        super().__init__("it has too many parts to check")


class Budget:
    """Counts the parsed parts of one line.

    Every method raises `TooMuch` beyond the limit.
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
