"""Scripts for sed: whether one starts programs or writes files.

Reads the commands of GNU sed.  What is not understood may start a program.
"""

from __future__ import annotations

import re

SED_CHARACTERS_MAX = 4096
"""A longer script is not looked at, and taken to start programs."""

_SPACE = re.compile(r"[\s;]*")
_NUMBERS = re.compile(r"\s*(?:[0-9]+|\$)(?:\s*~\s*[0-9]+)?")
_TO_LINE_END = re.compile(r"[^\n]*")
_TO_COMMAND_END = re.compile(r"[^\n;}]*")
_SUBSTITUTION_FLAGS = re.compile(r"[gpiImM0-9]*")


class _Executes(Exception):
    """The script starts a program, or is not understood."""


class _Script:
    def __init__(self, text: str) -> None:
        self._text = text
        self._at = 0

    def read(self) -> None:
        while True:
            self._skip(_SPACE)
            if self._at >= len(self._text):
                return
            self._address()
            self._skip(re.compile(r"\s*,\s*[+~]?"))
            self._address()
            self._skip(re.compile(r"[\s!]*"))
            self._command()

    def _skip(self, pattern: re.Pattern[str]) -> None:
        found = pattern.match(self._text, self._at)
        assert found is not None or pattern is _NUMBERS or pattern.pattern.startswith(r"\s*,")
        self._at = self._at if found is None else found.end()

    def _address(self) -> None:
        before = self._at
        self._skip(_NUMBERS)
        if self._at > before:
            return
        char = self._text[self._at : self._at + 1]
        if char == "\\":
            self._at += 1
            char = self._text[self._at : self._at + 1]
        elif char != "/":
            return
        self._at += 1
        self._delimited(char, is_regex=True)
        self._skip(re.compile(r"[IM]*"))

    def _delimited(self, delimiter: str, *, is_regex: bool) -> None:
        if not delimiter or delimiter in "\n\\":
            raise _Executes
        while self._at < len(self._text):
            char = self._text[self._at]
            self._at += 2 if char == "\\" else 1
            if char == delimiter:
                return
            if char == "[" and is_regex:
                # A delimiter inside of brackets ends the expression in some versions only.
                end = re.compile(r"\^?\]?[^\]]*\]").match(self._text, self._at)
                if end is not None and delimiter in end[0]:
                    raise _Executes
        raise _Executes

    def _command(self) -> None:
        char = self._text[self._at : self._at + 1]
        self._at += 1
        if char in ("s", "y"):
            delimiter = self._text[self._at : self._at + 1]
            self._at += 1
            self._delimited(delimiter, is_regex=char == "s")
            self._delimited(delimiter, is_regex=False)
            if char == "s":
                self._skip(_SUBSTITUTION_FLAGS)
                if self._text[self._at : self._at + 1] == "w":
                    self._skip(_TO_LINE_END)
            self._end()
        elif char in ("r", "R", "w", "W", "#"):
            self._skip(_TO_LINE_END)
        elif char in ("a", "i", "c"):
            self._skip(_TO_LINE_END)
            while self._text[self._at - 1 : self._at] == "\\" and self._at < len(self._text):
                self._at += 1
                self._skip(_TO_LINE_END)
        elif char in (":", "b", "t", "T", "q", "Q", "l", "L"):
            self._skip(_TO_COMMAND_END)
        elif not char or char not in "{}=dDgGhHnNpPxzF":
            raise _Executes
        elif char not in "{}":
            self._end()

    def _end(self) -> None:
        self._skip(re.compile(r"[ \t]*"))
        if self._text[self._at : self._at + 1] not in ("", "\n", ";", "}", "#"):
            raise _Executes


def sed_executes(script: str) -> bool:
    """Whether a script may start programs."""
    if len(script) > SED_CHARACTERS_MAX:
        return True
    try:
        _Script(script).read()
    except _Executes:
        return True
    return False
