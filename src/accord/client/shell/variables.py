"""Variables that commands of the shell set, and those whose values a program may run."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator, Sequence

from accord.client.shell.syntax_tree import GLOB, Script, Word, assignment_name

EXECUTED = re.compile(
    r"EDITOR|VISUAL|\w*PAGER|GIT_\w+|BROWSER|SHELL|LESS\w*|\w*_ASKPASS|PS[0-4]|ENV|MANOPT"
    r"|PROMPT_COMMAND|BASH_ENV|\w*MAKEFLAGS|MAKEFILES|RUSTC\w*|NODE_OPTIONS|PERL5OPT|PERL5DB"
    r"|RUBYOPT|LD_\w+|DYLD_\w+|GCONV_PATH|CC|CXX|BASH_FUNC_.*|\w+_OPTIONS|\w+_RSH|\w+_SHELL"
    r"|\w+_(?:WRAPPER|RUNNER|LINKER)|RSYNC_\w+|VIMINIT|EXINIT|ZDOTDIR|GOFLAGS|(?i:npm_config_\w+)"
    r"|PYTHON(?:STARTUP|BREAKPOINT|EXECUTABLE|HOME|WARNINGS)|KUBECTL_\w+|UV_PYTHON|PIP_PYTHON"
    r"|ZIPOPT|UNZIP\w*|AWKPATH|INPUTRC|GREP|\w*RC|\w+_CONFIG(?:_PATH|_FILE)?|\w+_EDITOR"
)
"""Variables whose value a program may run."""

CODE_LANGUAGES = {
    "PERL5OPT": "perl", "PERL5DB": "perl", "RUBYOPT": "ruby", "NODE_OPTIONS": "node",
    "PYTHONBREAKPOINT": "python", "VIMINIT": "vim", "EXINIT": "vim",
}  # fmt: skip
"""Variables whose value is code of another language, and that language."""

EDITING = re.compile(r"EDITOR|VISUAL|GIT_EDITOR|GIT_SEQUENCE_EDITOR")
"""Variables that name the editor of git."""

FOLDER_LISTS = re.compile(r"LD_\w+|DYLD_\w+|\w*PATH")
"""Variables that list files or folders, with colons between them."""

REDIRECTING = frozenset({"PATH", "LD_PRELOAD", "LD_LIBRARY_PATH", "LD_AUDIT"})
"""Variables that decide which program a name means."""

STATE = frozenset(
    {"SHELLOPTS", "BASHOPTS", "GIT_ALLOW_PROTOCOL", "GIT_CONFIG_PARAMETERS", "GIT_EXEC_PATH"}
)
"""Variables that change how the shell reads a line, or what git does with its words."""

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


def tainted_calculation(script: Script) -> str | None:
    """A variable that the line calculates with and whose value is known only at run time.

    Arithmetic evaluates the value, and a subscript in it may hold a command substitution.
    """
    tainted = {
        one.name for one in script.assigned() if one.value.is_tainted or GLOB in one.value.text
    }
    calculated = set(script.arithmetic)
    for command in script.commands:
        words = [word.text for word in command.words]
        if words and words[0] in SETTING:
            tainted.update(words[1:])
        if words and words[0] in DECLARING:
            if any(re.match(r"-[A-Za-z]*[in]", text) for text in words):
                calculated.update(
                    base_name(one) for one in named_variables(words[0], command.words)
                )
            tainted.update(
                found
                for word in command.words[1:]
                if word.is_tainted and (found := assignment_name(word.raw))
            )
    return min(calculated & tainted, default=None)


def base_name(word: Word) -> str:
    """The name of the variable in such a word."""
    found = _BASE.match(word.text)
    assert found is not None
    return found[0]
