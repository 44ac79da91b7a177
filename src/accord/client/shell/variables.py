"""Variables that commands of the shell set, and those whose values a program may run."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator, Sequence

from accord.client.shell.syntax import Word

EXECUTED = re.compile(
    r"EDITOR|VISUAL|\w*PAGER|GIT_\w+|BROWSER|SHELL|LESS\w*|\w*_ASKPASS|PS[0-4]|ENV|MANOPT"
    r"|PROMPT_COMMAND|BASH_ENV|\w*MAKEFLAGS|MAKEFILES|RUSTC\w*|NODE_OPTIONS|PERL5OPT|PERL5DB"
    r"|RUBYOPT|LD_\w+|DYLD_\w+|GCONV_PATH|CC|CXX|BASH_FUNC_.*|\w+_OPTIONS|\w+_RSH|\w+_SHELL"
    r"|\w+_(?:WRAPPER|RUNNER|LINKER)|RSYNC_\w+|VIMINIT|EXINIT|ZDOTDIR|GOFLAGS|(?i:npm_config_\w+)"
    r"|PYTHON(?:STARTUP|BREAKPOINT|EXECUTABLE|HOME|WARNINGS)|KUBECTL_\w+|UV_PYTHON|PIP_PYTHON"
    r"|ZIPOPT|UNZIP\w*|AWKPATH|INPUTRC|GREP"
)
"""Variables whose value a program may run."""

REDIRECTING = frozenset({"PATH", "LD_PRELOAD", "LD_LIBRARY_PATH", "LD_AUDIT"})
"""Variables that decide which program a name means."""

DECLARING = frozenset({"export", "declare", "local", "readonly", "typeset"})
"""Commands that assign their words."""

SETTING = frozenset({"read", "mapfile", "readarray", "getopts", "printf", "wait", "let"})
"""Commands that give a value to a variable that they name."""

_EVERY_OPERAND = {"read": "dinNptu", "mapfile": "dnOsucC", "readarray": "dnOsucC", "unset": ""}
_BEHIND_OPTION = {"printf": ("-v",), "wait": ("-p",), "test": ("-v", "-R"), "[": ("-v", "-R")}
_BASE = re.compile(r"[^=+\[]*")


def named_variables(name: str, words: Sequence[Word]) -> Iterator[Word]:
    """The words of a command of the shell that name a variable, or an element of an array.

    A subscript in them is evaluated, whatever quotes stood around it.
    """
    if name in DECLARING:
        yield from (word for word in words[1:] if not word.text.startswith(("-", "+")))
    elif name == "getopts":
        yield from words[2:3]
    elif name in _EVERY_OPERAND:
        at = 1
        while at < len(words):
            text = words[at].text
            if text.startswith("-") and text != "--":
                at += text[-1:] in _EVERY_OPERAND[name]
            else:
                yield words[at]
            at += 1
    elif name in _BEHIND_OPTION:
        for before, word in itertools.pairwise(words):
            if before.text in _BEHIND_OPTION[name]:
                yield word
        for word in words[1:2]:
            joined = word.text[:2] in _BEHIND_OPTION[name] and len(word.text) > 2
            if joined and name in ("printf", "wait"):
                yield Word(word.text[2:], word.raw, splits=word.splits)


def base_name(word: Word) -> str:
    """The name of the variable in such a word."""
    found = _BASE.match(word.text)
    assert found is not None
    return found[0]


__all__ = [
    "DECLARING",
    "EXECUTED",
    "REDIRECTING",
    "SETTING",
    "base_name",
    "named_variables",
]
