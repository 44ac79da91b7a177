"""Command lines as rules see them: the argument vector where there is one, else the exact line.

It must not know rules, requests or processes; nothing is run here.

Always holds
    * `words` is there only when every shell splits the line into just these words and does
      nothing else: no operators, expansions, globs, assignments or redirections.
    * `pieces` are a best effort for rules that refuse.  Where the line may run something that they
      do not show, `opaque` says so.

This is reading text, not a sandbox: `make test` runs whatever the Makefile says.
"""

from __future__ import annotations

import os.path
import re
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from accord.client.patterns import wildcard
from accord.machine import command_line

COMMAND_CHARACTERS_MAX = 64 * 1024
"""A longer line is not read: it matches only the very same line."""

_SHELLS = frozenset({"sh", "bash", "dash", "zsh"})
_SHELL_PLACES = ("", "/bin/", "/usr/bin/")
_SHELL_FLAGS = frozenset({"-c", "-lc", "-ec", "-euc"})

# Commands that run other commands, so that the first word does not tell what happens.
_WRAPPERS = (
    frozenset({"!", ".", "[[", "builtin", "case", "command", "coproc", "do", "else", "eval"})
    | frozenset({"exec", "for", "function", "if", "select", "source", "then", "time", "until"})
    | frozenset({"while", "{", "}", "chroot", "doas", "env", "find", "flock", "ionice", "nice"})
    | frozenset({"nohup", "parallel", "setsid", "ssh", "stdbuf", "strace", "su", "sudo"})
    | frozenset({"timeout", "watch", "xargs", "ash", "busybox", "csh", "fish", "ksh", "tcsh"})
    | _SHELLS
)

_BLANKS = " \t\n"
_BREAKS = frozenset("\n|&;()")
_EXPANDS = frozenset("$`\\")
_GLOBS = frozenset("*?[]{}~#!^")
_QUOTABLE = re.compile(r"[\n\t]")
_ASSIGNMENT = re.compile(r"[A-Za-z_][A-Za-z0-9_]*(\[[^]]*\])?\+?=")

# Variables that only change how output looks.  Any other may change what a command does, as
# PATH and LD_PRELOAD do, so a command with one of those is another command.
_PLAIN_ENV = (
    frozenset({"AGENT", "CI", "CLAUDECODE", "CLICOLOR", "CLICOLOR_FORCE", "COLORTERM", "COLUMNS"})
    | frozenset({"DEBIAN_FRONTEND", "FORCE_COLOR", "GIT_TERMINAL_PROMPT", "LANG", "LANGUAGE"})
    | frozenset({"LINES", "NO_COLOR", "PYTHONUNBUFFERED", "TERM", "TZ"})
)
_CAT_ENV = frozenset({"PAGER", "GIT_PAGER", "MANPAGER", "GH_PAGER"})


@dataclass(frozen=True, slots=True)
class CommandLine:
    """One command line, read."""

    line: str
    words: tuple[str, ...] | None
    pieces: tuple[tuple[str, ...], ...]
    opaque: bool

    def same(self, other: CommandLine) -> bool:
        """Whether both run the same: by their words, or letter by letter where there are none."""
        if self.words is not None and other.words is not None:
            return self.words == other.words
        return self.line == other.line

    def begins(self, pattern: Sequence[str]) -> bool:
        """Whether it is one plain command whose first words fit the pattern, word by word."""
        return self.words is not None and _begins(self.words, pattern)

    def contains(self, pattern: Sequence[str]) -> bool:
        """Whether any command in the line begins like the pattern, wherever its program lies."""
        return any(
            _begins(piece, pattern) or _begins((os.path.basename(piece[0]), *piece[1:]), pattern)
            for piece in self.pieces
            if piece
        )


def _begins(words: Sequence[str], pattern: Sequence[str]) -> bool:
    if not pattern or len(words) < len(pattern):
        return False
    return all(wildcard(want, word) for want, word in zip(pattern, words, strict=False))


def read_command(text: str) -> CommandLine:
    """Read a line; a shell that is only there to run a line is looked through."""
    found = _Reader().read(text.strip(_BLANKS))
    inner = shell_line(found.words) if found.words else None
    return found if inner is None else _Reader().read(inner.strip(_BLANKS))


def shell_line(words: Sequence[str]) -> str | None:
    """The line that a known shell is told to run by these words, if that is all they do."""
    if len(words) != 3 or words[1] not in _SHELL_FLAGS:
        return None
    place, name = os.path.split(words[0])
    known = name in _SHELLS and (f"{place}/" if place else "") in _SHELL_PLACES
    return words[2] if known else None


def pattern_words(text: str) -> tuple[str, ...] | None:
    """The words of a rule, in which `*` and `?` are wildcards; None for a line for the shell."""
    return _Reader(wildcards=True).read(text.strip(_BLANKS)).words


def terminal_line(
    command: str, args: Sequence[str] = (), env: Mapping[str, str] | None = None
) -> str:
    """The line that says what `terminal/create` with these would run."""
    vector = command_line(command, args)
    telling = [f"{name}={value}" for name, value in (env or {}).items() if not _plain(name, value)]
    if telling:
        return shlex.join(["env", *telling, *vector])
    is_shell_line = not args and vector != [command]
    return command if is_shell_line else shlex.join(vector)


def _plain(name: str, value: str) -> bool:
    return (
        name in _PLAIN_ENV or name.startswith("LC_") or (name in _CAT_ENV and value in ("", "cat"))
    )


class _Reader:
    """Splits one line.  Guards: `plain` and `opaque` only ever get stricter."""

    def __init__(self, *, wildcards: bool = False) -> None:
        self._globs = _GLOBS - set("*?") if wildcards else _GLOBS
        self._plain = True
        self._opaque = False
        self._word: list[str] | None = None
        self._piece: list[str] = []
        self._pieces: list[tuple[str, ...]] = []

    def read(self, text: str) -> CommandLine:
        """The line, read."""
        if len(text) > COMMAND_CHARACTERS_MAX:
            return CommandLine(text, None, (), opaque=True)
        at = 0
        while at < len(text):
            at = self._take(text, at)
        self._end_piece()
        words = tuple(word for piece in self._pieces for word in piece) if self._plain else None
        return CommandLine(text, words, tuple(self._pieces), self._opaque)

    def _take(self, text: str, at: int) -> int:
        char = text[at]
        if char == "'":
            return self._quoted(text, at, frozenset())
        if char == '"':
            return self._quoted(text, at, _EXPANDS | {"!"})
        if char in " \t":
            self._end_word()
        elif char in _BREAKS:
            self._plain = False
            self._opaque |= char in "()"
            self._end_piece()
        elif char in "<>":
            self._plain = False
            self._end_word()
        else:
            self._letter(char)
        return at + 1

    def _letter(self, char: str) -> None:
        if char in _EXPANDS or not char.isprintable():
            self._plain, self._opaque = False, True
        elif char in self._globs:
            self._plain = False
            self._opaque |= not self._piece
        if self._word is None:
            self._word = []
        # `r\m` is rm.
        if char != "\\":
            self._word.append(char)

    def _quoted(self, text: str, at: int, expands: frozenset[str]) -> int:
        end = text.find(text[at], at + 1)
        inside = text[at + 1 :] if end < 0 else text[at + 1 : end]
        if end < 0 or expands & set(inside) or not _QUOTABLE.sub("", inside).isprintable():
            self._plain, self._opaque = False, True
        if self._word is None:
            self._word = []
        self._word.append(inside)
        return len(text) if end < 0 else end + 1

    def _end_word(self) -> None:
        if self._word is None:
            return
        word = "".join(self._word)
        self._word = None
        if not self._piece:
            if _ASSIGNMENT.match(word):
                self._plain, self._opaque = False, True
            if os.path.basename(word) in _WRAPPERS:
                self._opaque = True
        self._piece.append(word)

    def _end_piece(self) -> None:
        self._end_word()
        if self._piece:
            self._pieces.append(tuple(self._piece))
            self._piece = []


__all__ = [
    "COMMAND_CHARACTERS_MAX",
    "CommandLine",
    "pattern_words",
    "read_command",
    "shell_line",
    "terminal_line",
]
