"""What a program does with its arguments, by the tables of well-known programs."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence

from accord.client.shell.programs.program_lists import (
    CONSOLES,
    COPYING,
    EDITORS,
    EXECUTING_OPTIONS,
    GIT_COMMANDS,
    GLOBAL_FLAGS,
    GLOBAL_VALUES,
    INTERPRETERS,
    STREAM_EDITORS,
    SUBCOMMANDS,
    VERB_ALIASES,
    Wrapper,
)
from accord.client.shell.programs.sed_scripts import sed_executes
from accord.client.shell.syntax_tree import Assignment, Word, without_holes

_NONE: frozenset[str] = frozenset()
_VERSION = re.compile(
    r"(python|pypy|pip|perl|ruby|lua|node|php|tclsh|wish|gcc|g\+\+|clang|clang\+\+)[-0-9.]*$"
)

_STARTS_PROGRAMS = re.compile(
    r"(?<![A-Za-z0-9_])(?:system\w*|popen\w*|p?exec(?:l|v|e|p|File|Sync)*|(?:posix_|p)?spawn\w*"
    r"|fork|pty|interact|InteractiveConsole|data:text"
    r"|subprocess|child_process|eval|__import__|importlib|getattr|globals|locals|vars|compile"
    r"|ctypes|cffi|runpy|pickle|marshal|codecs|b64decode|fromhex|unhexlify|syscall|qx|shell_exec"
    r"|passthru|proc_open|pcntl_exec|Kernel|Process|Open3|send|__send__|public_send|instance_eval"
    r"|Function|(?<=[.\['\"])constructor|Command|Invoke\w*|do shell|attrgetter|methodcaller"
    r"|binding|dlopen|__(?!version|file|name|main|doc|init|path)\w+__|posix|multiprocessing|startfile|loadstring"
    r"|dofile|os\.execute)(?![A-Za-z0-9_])|`|%x|['\"]\s*[+.]\s*['\"]"
    r"|\\x[0-9a-fA-F]|\\[0-7]{3}|\\u[0-9a-fA-F]"
)
# What starts a program in most languages, for text that most likely is none of them.
_CALLS_PROGRAM = re.compile(
    r"(?<![A-Za-z0-9_])(?:system|popen\d?|exec\w*|\w*spawn\w*|eval|subprocess|child_process"
    r"|__import__|os\.execute|shell_exec|passthru|Command)\s*[(.\[]"
)
_PRINTING = frozenset({"echo", "printf", "ed", "ex", "patch"})
# A script of sed that changes what is done with commits.
_PICKS = re.compile(
    r"sed(?: -i\S*)?(?: -e)? (['\"]?)[0-9,$]*(?:s(\W)\^?pick\2(?!x|exec)\w+\2g?|d)\1"
)
_CONSOLE_STARTS = re.compile(
    r"!|\\|\b(?:shell|make|term\w*|system\w*|source|pipe|python|start-process)\b"
    r"|\b(?i:from|to)\s+(?i:program)\b"
)
# Commands of sqlite3 begin with a dot and may be shortened.
_SQLITE_STARTS = re.compile(
    r"^\s*\.\s*(?:sh|sy|ex|l|arc|w)|^\s*\.\w+\s.*\||\b(?:edit|load_extension)\s*\(", re.MULTILINE
)


def program_name(word: Word) -> str:
    """The name of the program that a word runs, without version: `python3.11` is python."""
    found = _VERSION.match(word.name)
    return found[1] if found else word.name


def verb_of(words: Sequence[Word]) -> Word | None:
    """The subcommand in the words of a tool, where every option before it is one that we know."""
    name = words[0].name
    values, flags = GLOBAL_VALUES.get(name, _NONE), GLOBAL_FLAGS.get(name, _NONE)
    at = 1
    while at < len(words) and words[at].text.startswith("-"):
        text = words[at].text
        joined = text.partition("=")[0] in values and "=" in text
        if not words[at].is_known or not (text in values or text in flags or joined):
            return None
        at += 2 if text in values else 1
    if at >= len(words) or not all(word.is_known or not word.splits for word in words[:at]):
        return None
    verbs = GIT_COMMANDS if name == "git" else SUBCOMMANDS.get(name, _NONE)
    return words[at] if words[at].text in verbs else None


def means_verb(tool: str, text: str, wanted: str) -> bool:
    """Whether a tool takes a word for a subcommand: by an alias, or for npm by its beginning."""
    aliases = VERB_ALIASES.get(tool, {})
    if aliases.get(text, text) == aliases.get(wanted, wanted):
        return True
    is_short = tool == "npm" and len(text) > 1 and text not in SUBCOMMANDS["npm"]
    return is_short and wanted.startswith(text)


def makes_files(words: Sequence[Word]) -> bool:
    """Whether git makes files that the line does not name: of a patch, or of another repository."""
    verb = verb_of(words)
    named = words[1:] if verb is None else [verb]
    return words[0].name == "git" and any(word.text in ("apply", "am", "clone") for word in named)


def starts_programs(program: str, code: str) -> bool:
    """Whether code in another language may start a program that it does not name openly."""
    if program in STREAM_EDITORS and "sed" in program:
        return sed_executes(code)
    if program in STREAM_EDITORS:
        return "system" in code or _awk_pipes(code)
    if program == "sqlite3":
        return _SQLITE_STARTS.search(code) is not None
    if program in CONSOLES and _CONSOLE_STARTS.search(code):
        return True
    return _STARTS_PROGRAMS.search(code) is not None or (
        program in ("perl", "ruby") and ("open" in code or ("ARGV" in code and "|" in code))
    )


def calls_program(text: str) -> bool:
    """Whether text that may be code in any language calls what starts a program."""
    return _CALLS_PROGRAM.search(text) is not None


def writes_commands(editor: str) -> bool:
    """Whether a program that git is given as its editor may write commands that git then runs.

    The list of `git rebase -i` may have lines that begin with `exec`.
    """
    name = editor.split(maxsplit=1)[0].rpartition("/")[2] if editor.strip() else ""
    is_editor = name not in COPYING and name not in INTERPRETERS and name not in _PRINTING
    return not (is_editor and not set(";&|<>") & set(editor)) and not _PICKS.fullmatch(editor)


def _awk_pipes(code: str) -> bool:
    """Whether there is a `|` outside of strings and of what is surely a regular expression."""
    at, before = 0, ";"
    while at < len(code):
        char = code[at]
        if char == '"' or (char == "/" and before in "({,;!~&|\n}"):
            found = re.compile(r'"(?:\\.|[^"\\])*"|/(?:\\.|[^/\\\n])*/', re.DOTALL).match(code, at)
            if found is None:
                return True
            at, before = found.end(), '"'
            continue
        if char == "|":
            if code[at + 1 : at + 2] != "|":
                return True
            at += 1
        at += 1
        before = before if char in " \t" else char
    return False


def could_execute(program: str, words: list[Word]) -> bool:
    """Whether one of the words may be an option that makes the program run another."""
    options = EXECUTING_OPTIONS.get(program)
    if not options:
        return False
    if program == "tar" and words and re.match(r"[A-Za-z]*[IF]", words[0].text):
        return True
    return any(word.is_tainted or _is_option(without_holes(word).text, options) for word in words)


def _is_option(text: str, options: Collection[str]) -> bool:
    name = text.partition("=")[0]
    for option in options:
        if option.startswith("--"):
            # Long options may be shortened.
            if len(name) > 2 and option.startswith(name):
                return True
        elif len(option) == 2 and option[0] == "-":
            # Short options may be joined, and their values may follow at once.
            if text[:1] == "-" and text[:2] != "--" and option[1] in text:
                return True
        elif text.startswith(option):
            return True
    return False


def unwrap(
    wrapper: Wrapper, words: list[Word]
) -> tuple[list[Word] | None, list[Assignment], str | None]:
    """The command that a wrapper runs, what it assigns, and the placeholder of xargs.

    None instead of the command where the options are not known.
    """
    at, replaced = 1, None
    assigned: list[Assignment] = []
    while at < len(words):
        word = words[at]
        if not word.is_known:
            return None, [], None
        text = word.text
        name, equals, _ = text.partition("=")
        if text == "--":
            at += 1
            break
        if not text.startswith("-"):
            break
        if text in wrapper.flags or (equals and name in wrapper.values):
            at += 1
        elif text in wrapper.values:
            at += 2
        elif (text[:2] in wrapper.values and len(text) > 2) or (
            words[0].name == "xargs" and re.fullmatch(r"-[0rtx]+([nPLs][0-9]+)?", text)
        ):
            at += 1
        elif words[0].name == "xargs" and text[:2] in ("-I", "-i"):
            replaced = text[2:] or (
                words[at + 1].text if text == "-I" and at + 1 < len(words) else "{}"
            )
            at += 2 if text == "-I" else 1
        elif words[0].name == "nice" and re.fullmatch(r"-[0-9]+", text):
            at += 1
        else:
            return None, [], None
    while wrapper.assigns and at < len(words) and "=" in words[at].text:
        # Any name will do, as in `BASH_FUNC_ls%%=...`.
        name, _, value = words[at].text.partition("=")
        assigned.append(Assignment(name, Word(value, words[at].raw, splits=words[at].splits)))
        at += 1
    at += wrapper.operands
    return words[at:], assigned, replaced


def code_words(name: str, rest: list[Word], letters: str) -> list[Word]:
    """The words that hold code, and code that is joined to an option."""
    found: list[Word] = []
    for at, word in enumerate(rest):
        before = rest[at - 1].text if at else ""
        if _takes_code(before, letters) or (name in EDITORS and word.text.startswith("+")):
            found.append(word)
        elif word.text.startswith("--"):
            option, equals, value = word.text.partition("=")
            if equals and _takes_code(option, letters):
                found.append(Word(value, word.raw, splits=word.splits))
        elif word.text.startswith("-"):
            joined = re.match(rf"-[a-zA-Z0-9]*?[{letters}](.+)", word.text, re.DOTALL)
            if joined and not re.fullmatch(r"-[A-Za-z]{1,3}", word.text):
                found.append(Word(joined[1], word.raw, splits=word.splits))
    return found


def _takes_code(option: str, letters: str) -> bool:
    if not option.startswith("-") or not letters:
        return False
    if option.startswith("--"):
        return option.startswith(("--eval", "--print", "--command", "--exec", "--cmd", "--import"))
    return option[-1:] in letters or option in ("-ex", "-eval")
