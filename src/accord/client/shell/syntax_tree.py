"""The values that a shell line is read into: words, commands, and the programs that they run.

A word is its text after quote removal.  Parts that are known only when the line runs are holes,
each one character of the private use area that `grammar` refuses in its input.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from accord.client.shell.parse_limits import NESTING_MAX, STEPS_MAX, WORD_CHARACTERS_MAX

ANY = "\ue000"
"""A hole that the line itself may fill with any text: a substitution, an assigned variable."""
GLOB = "\ue001"
"""A hole that file names fill: `*`, `?`, `[...]`."""
ENV = "\ue002"
"""A hole that the environment fills: a variable that the line does not assign, or `~`."""
HOLES = ANY + GLOB + ENV
HOLE = re.compile(f"[{HOLES}]")


_HOME = re.compile(rf"^{ENV}(?=/)")
_ASSIGNMENT = re.compile(r"([A-Za-z_][A-Za-z0-9_]*)(\[[^]]*\])?\+?=")


class SyntaxProblem(Exception):
    """The line is not a complete shell line, so a shell would refuse it from here on."""


class NotUnderstood(Exception):
    """Some shell may run the line, but we cannot tell what it would run."""


@dataclass(frozen=True, slots=True)
class Word:
    """One word of a command.

    `plain` means that every shell reads exactly `text`; `splits` that it may become several words
    or none; `quoted` that a part of it was quoted, so that it is not a keyword.
    """

    text: str
    raw: str
    plain: bool = True
    splits: bool = False
    quoted: bool = False

    @property
    def is_known(self) -> bool:
        """Whether the text has no holes."""
        return HOLE.search(self.text) is None

    @property
    def is_tainted(self) -> bool:
        """Whether the line itself decides what fills a hole."""
        return ANY in self.text

    @property
    def name(self) -> str:
        """The last part of the word as a path: the program that it names."""
        return self.text.rstrip("/").rpartition("/")[2] or self.text

    def could_be(self, pattern: str) -> bool:
        """Whether the word, or one that it is split into, may fit a pattern of `*` and `?`.

        A path counts by its last part, and case does not matter, since some file systems ignore it.
        """
        if self.splits and (ANY in self.text or ENV in self.text):
            return True
        text, pattern = self.text.casefold(), pattern.casefold()
        return overlap(text, pattern) or overlap(text, f"*/{pattern}")


def literal(text: str) -> Word:
    """A word that is just this text."""
    return Word(text, text)


def hole(raw: str) -> Word:
    """Words of which nothing is known, not even how many there are."""
    return Word(ANY, raw, plain=False, splits=True)


def without_holes(word: Word) -> Word:
    """The option that a word is when what is not known of it is empty; else the word itself."""
    text = HOLE.sub("", word.text)
    is_option = text.startswith("-") and text != word.text
    return replace(word, text=text) if is_option else word


def respelled(word: Word) -> str:
    """A word with holes as a line that has expansions of the same kind."""
    # A home folder is one word, whatever its name.
    text = word.text if word.splits else _HOME.sub("~", word.text)
    spelled = text.replace(ENV, "${ENVIRONMENT}").replace(ANY, "${_}")
    return spelled.replace(GLOB, "*")


def filled(word: Word, placeholder: str, *, by_files: bool) -> Word:
    """A word in which a program puts names of files that it finds, or else any text."""
    if placeholder not in word.text:
        return word
    if by_files and word.text == placeholder:
        # What is found begins with the folder that is searched, so it is not an option.
        return Word(f"./{GLOB}", word.raw, plain=False)
    return Word(word.text.replace(placeholder, ANY), word.raw, plain=False)


def overlap(text: str, pattern: str) -> bool:
    """Whether some text fits both: holes in `text`, and `*` and `?` in `pattern`, are wildcards."""
    if HOLE.search(text) is None and not set("*?") & set(pattern):
        return text == pattern
    if len(text) > WORD_CHARACTERS_MAX:
        return True
    # The positions in the pattern that can be reached after each character of the text.
    reached = _spread({0}, pattern)
    for char in text:
        if char == GLOB:
            # A pattern for file names does not go beyond a slash.
            reached = {to for at in reached for to in range(at, _slash(pattern, at) + 1)}
        elif char in HOLES:
            reached = set(range(min(reached), len(pattern) + 1))
        else:
            after = {at for at in reached if at < len(pattern) and pattern[at] == "*"}
            after |= {at + 1 for at in reached if at < len(pattern) and pattern[at] in ("?", char)}
            reached = _spread(after, pattern)
        if not reached:
            return False
    return len(pattern) in reached


def _slash(pattern: str, start: int) -> int:
    at = pattern.find("/", start)
    return len(pattern) if at < 0 else at


def _spread(positions: set[int], pattern: str) -> set[int]:
    found = set(positions)
    for at in positions:
        while at < len(pattern) and pattern[at] == "*":
            at += 1
            found.add(at)
    return found


def option_values(text: str) -> list[str]:
    """The parts of a word that may be a value: all of it, or what follows an option in it."""
    if text.startswith("--"):
        return [text.partition("=")[2]] if "=" in text else []
    if text.startswith("-"):
        return [text[2:], *([text.partition("=")[2]] if "=" in text else [])]
    return [text, *([text.partition("=")[2]] if "=" in text else [])]


@dataclass(frozen=True, slots=True)
class Assignment:
    """`NAME=value` before a command or as an argument of `export` and its like."""

    name: str
    value: Word


def assignment_name(raw: str) -> str | None:
    """The variable that a word assigns, if it is an assignment."""
    found = _ASSIGNMENT.match(raw)
    return None if found is None else found[1]


@dataclass(frozen=True, slots=True)
class Redirection:
    """One redirection; `body` is the text of a here-document or here-string.

    `descriptor` is what stands before the operator: a number, `{name}` or nothing.
    """

    operator: str
    target: Word
    body: Word | None = None
    descriptor: str = ""

    @property
    def writes(self) -> bool:
        """Whether it writes to its target."""
        return self.body is None and ">" in self.operator

    @property
    def is_input(self) -> bool:
        """Whether it replaces the standard input."""
        is_stdin = self.descriptor == "" or set(self.descriptor) == {"0"}
        return is_stdin and self.operator in ("<", "<<", "<<-", "<<<", "<>", "<&")


@dataclass(slots=True)
class SimpleCommand:
    """A command with its words, as it stands in the line.

    `piped` means that it may read the output of another command.  `sh_only` means that bash reads
    it differently, and only a plain `sh` runs it; `is_guess`, that it most likely is arithmetic or
    a condition and no command.
    """

    words: list[Word] = field(default_factory=list)
    assignments: list[Assignment] = field(default_factory=list)
    redirections: list[Redirection] = field(default_factory=list)
    piped: bool = False
    # The one command whose output it reads, where that is known.
    upstream: SimpleCommand | None = None
    sh_only: bool = False
    is_guess: bool = False


@dataclass(slots=True)
class Script:
    """All simple commands of a line, in order, at whatever depth they stand.

    `problems` say why the line may run something else, and `error` why a shell refuses the rest of
    it.  `is_simple` means that there is one simple command and no operator.
    """

    commands: list[SimpleCommand] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)
    error: str | None = None
    # Words that give variables their values outside of assignments: `for x in WORDS`.
    values: list[Assignment] = field(default_factory=list)
    # Variables that are evaluated as arithmetic, where a value may hold a command substitution.
    arithmetic: set[str] = field(default_factory=set)
    # Names of functions that the line defines.
    functions: set[str] = field(default_factory=set)
    is_simple: bool = True
    # Guard the bounds: how deep the reader is, and how many commands and expansions it has read.
    nesting: int = 0
    steps: int = 0

    def enter(self) -> None:
        """Go one level deeper.

        Raises:
            NotUnderstood: it is too deep, or there was too much already.
        """
        self.nesting += 1
        if self.nesting > NESTING_MAX:
            raise NotUnderstood("it is nested too deeply")
        self.step()

    def step(self) -> None:
        """Count one more command or expansion.

        Raises:
            NotUnderstood: there was too much already.
        """
        self.steps += 1
        if self.steps > STEPS_MAX:
            raise NotUnderstood("it has too many parts to check")

    def leave(self) -> None:
        """Come back from a level."""
        self.nesting -= 1

    @property
    def is_complete(self) -> bool:
        """Whether all of the line was read."""
        return self.error is None and not self.problems

    def assigned(self) -> Iterator[Assignment]:
        """Every assignment in the line."""
        for command in self.commands:
            yield from command.assignments
        yield from self.values


@dataclass(frozen=True, slots=True)
class Program:
    """A program and its words.

    `road` says how the line comes to run it, where it does not stand there as a command.
    `hands_on` says why its words may be run as another program.  Without `is_certain` it stands in
    text that perhaps nobody runs.
    """

    words: tuple[Word, ...]
    road: str | None = None
    hands_on: str | None = None
    is_certain: bool = True

    @property
    def name(self) -> str:
        """The name of the program."""
        return self.words[0].name


@dataclass(frozen=True, slots=True)
class HandedText:
    """Text that something may run: code in another language, the value of a variable."""

    text: str
    where: str
    is_code: bool = False


@dataclass(slots=True)
class ParsedLine:
    programs: list[Program] = field(default_factory=list)
    texts: list[HandedText] = field(default_factory=list)
    unclear: list[str] = field(default_factory=list)
    changes_folder: bool = False
