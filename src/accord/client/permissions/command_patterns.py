"""Command lines as rules see them: the argument vector if there is one, else the exact line.

It must not know rules, requests or processes; nothing is run here.

Always holds
    * `words` is set only when every shell splits the line into just these words and does nothing
      else: no operators, expansions, globs, assignments or redirections.
    * `concern` is for rules that reject, and fails closed: a line that cannot be fully read
      concerns every pattern.

This reads text and is not a sandbox: `make test` runs whatever the Makefile says.
"""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from accord.client.permissions.path_and_host_patterns import wildcard
from accord.client.shell.denied_commands import concern
from accord.client.shell.executed_commands import read_line
from accord.client.shell.grammar import read_script
from accord.client.shell.programs.shells import shell_line
from accord.client.shell.syntax_tree import ParsedLine, Script
from accord.machine import command_line

COMMAND_CHARACTERS_MAX = 32 * 1024
"""A longer line is not read: it matches only itself."""

_BLANKS = " \t\n"

# Variables that only change how output looks.  Others may change what a command does, as PATH and
# LD_PRELOAD do, and make it a different command.
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
    reading: ParsedLine = field(compare=False)

    def same(self, other: CommandLine) -> bool:
        """Whether both run the same: by their words, or else letter by letter."""
        if self.words is not None and other.words is not None:
            return self.words == other.words
        return self.line == other.line

    def begins(self, pattern: Sequence[str]) -> bool:
        """Whether it is one plain command whose first words fit the pattern, word by word."""
        if self.words is None or not pattern or len(self.words) < len(pattern):
            return False
        return all(wildcard(want, word) for want, word in zip(pattern, self.words, strict=False))

    def concern(self, pattern: Sequence[str]) -> str | None:
        """Why a rule that rejects commands of this pattern applies; None if it does not."""
        return concern(self.reading, pattern)

    def includes(self, other: CommandLine) -> bool:
        """Whether every command of the other line is run here with the same words."""
        if self.same(other):
            return True
        wanted = [[word.text for word in one.words] for one in other.reading.programs]
        return bool(wanted) and all(self._runs(words) for words in wanted)

    def _runs(self, words: Sequence[str]) -> bool:
        for program in self.reading.programs:
            texts = [word.text for word in program.words]
            tail = len(texts) - len(words)
            # A program that passes its words on may run the last ones.
            if texts == words or (program.hands_on and tail > 0 and texts[tail:] == words):
                return True
        return False


def read_command(text: str) -> CommandLine:
    """Read a line; a shell that only runs a line is skipped."""
    line = text.strip(_BLANKS)
    if len(line) > COMMAND_CHARACTERS_MAX:
        reason = f"it is longer than {COMMAND_CHARACTERS_MAX} characters"
        return CommandLine(line, None, ParsedLine(unclear=[reason]))
    reading, script = read_line(line)
    found = CommandLine(line, _plain_words(script), reading)
    inner = shell_line(found.words) if found.words else None
    if inner is None:
        return found
    inner = inner.strip(_BLANKS)
    return replace(found, line=inner, words=_plain_words(read_script(inner)))


def _plain_words(script: Script) -> tuple[str, ...] | None:
    """The words of a line that is one command and nothing else."""
    if not script.is_complete or not script.is_simple or len(script.commands) != 1:
        return None
    command = script.commands[0]
    if command.assignments or command.redirections or not all(w.plain for w in command.words):
        return None
    return tuple(word.text for word in command.words)


def pattern_words(text: str) -> tuple[str, ...] | None:
    """The words of a rule, in which `*` and `?` are wildcards; None for a line for the shell.

    A rule is always the beginning of a command, so `git push *` is `git push`.
    """
    words = _plain_words(read_script(text.strip(_BLANKS), wildcards=True))
    while words is not None and len(words) > 1 and words[-1] == "*":
        words = words[:-1]
    return words


def terminal_line(
    command: str, args: Sequence[str] = (), env: Mapping[str, str] | None = None
) -> str:
    """The line that shows what `terminal/create` would run."""
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
