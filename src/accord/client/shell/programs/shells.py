"""The words of a shell's own command line: what it runs, and whether its options change the rules.

Always holds
    * Options that we do not know, and those that make a shell read a line in another way, are a
      problem.
"""

from __future__ import annotations

import os.path
from collections.abc import Sequence
from dataclasses import dataclass, field

from accord.client.shell.syntax_tree import Word, without_holes

SHELLS = frozenset(
    (
        "ash", "bash", "csh", "dash", "fish", "hush", "ksh", "ksh93", "mksh", "posh", "rbash",
        "rzsh", "sh", "tcsh", "yash", "zsh"
    )
)  # fmt: skip
"""Programs that run their `-c` text, a file, or their standard input as shell commands."""

# Called so, one of these runs its text as one line, and nothing else.
_LINE_SHELLS = frozenset(("sh", "bash", "dash", "zsh"))
_LINE_SHELL_PLACES = ("", "/bin/", "/usr/bin/")
_LINE_FLAGS = frozenset(("-c", "-lc", "-ec", "-euc"))

_LONG_FLAGS = frozenset(
    (
        "--debugger", "--help", "--login", "--noediting", "--noprofile", "--norc", "--posix",
        "--restricted", "--verbose", "--version", "--no-rcs", "--no-config", "--private"
    )
)  # fmt: skip
_LONG_FILES = frozenset(("--rcfile", "--init-file"))
# They take any word for an assignment, or replace text before the line is read.
_REWRITING_LETTERS = frozenset("kH")
_REWRITING_NAMES = frozenset(("keyword", "history", "histexpand"))
_FOREIGN = frozenset(("csh", "fish", "tcsh"))


@dataclass(slots=True)
class ShellCall:
    """How a shell is called.  `operands` is where its code, its script or its arguments begin."""

    operands: int = 1
    reads_code: bool = False
    reads_stdin: bool = False
    start_files: list[Word] = field(default_factory=list)
    starts_up: bool = False
    problem: str | None = None


def read_shell_call(name: str, words: Sequence[Word]) -> ShellCall:
    """Read the options of a shell."""
    call = ShellCall()
    while call.operands < len(words) and call.problem is None:
        word = words[call.operands]
        text = word.text
        if without_holes(word) is not word:
            call.problem = f"the options of `{name}` are known only at run time"
        if text[:1] not in ("-", "+"):
            break
        call.operands += 1
        if not word.is_known:
            call.problem = f"the options of `{name}` are known only at run time"
        elif text in ("-", "--"):
            break
        elif text.startswith("--"):
            _long(call, name, words, text)
        elif name in _FOREIGN and set(text[1:]) - set("cil"):
            call.problem = f"`{name}` has an option that is not known: {text}"
        else:
            _letters(call, words, text)
    return call


def _long(call: ShellCall, name: str, words: Sequence[Word], text: str) -> None:
    if text in _LONG_FILES:
        call.start_files += words[call.operands : call.operands + 1]
        call.operands += 1
    elif text not in _LONG_FLAGS:
        call.problem = f"`{name}` has an option that is not known: {text}"
    call.starts_up |= text == "--login"


def _letters(call: ShellCall, words: Sequence[Word], text: str) -> None:
    call.reads_code |= "c" in text
    call.reads_stdin |= "s" in text
    call.starts_up |= not set("il").isdisjoint(text)
    # The names of options follow, one for each letter.
    for _ in range(text.count("o") + text.count("O")):
        named = words[call.operands : call.operands + 1]
        call.operands += 1
        if any(not one.is_known or one.text in _REWRITING_NAMES for one in named):
            call.problem = "an option of the shell changes how the line is read"
    if text[0] == "-" and not _REWRITING_LETTERS.isdisjoint(text):
        call.problem = "an option of the shell changes how the line is read"


def changes_reading(words: Sequence[Word]) -> bool:
    """Whether the words of `set` or `shopt` make the shell read the rest in another way."""
    for at, word in enumerate(words):
        if word.text in ("--", "-"):
            return False
        before = words[at - 1].text if at else ""
        is_option = at == 0 or word.text.startswith("-") or before[-1:] == "o"
        if is_option and not word.is_known:
            return True
        is_cluster = word.text.startswith("-") and not word.text.startswith("--")
        if word.text in _REWRITING_NAMES or (
            is_cluster and not _REWRITING_LETTERS.isdisjoint(word.text)
        ):
            return True
    return False


def shell_line(words: Sequence[str]) -> str | None:
    """The line that these words tell a known shell to run, if they do nothing else."""
    if len(words) != 3 or words[1] not in _LINE_FLAGS:
        return None
    place, name = os.path.split(words[0])
    known = name in _LINE_SHELLS and (f"{place}/" if place else "") in _LINE_SHELL_PLACES
    return words[2] if known else None
