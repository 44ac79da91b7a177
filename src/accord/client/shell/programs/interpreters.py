"""The words of interpreters of other languages: which are code, which are files, which are data."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from accord.client.shell.programs.arguments import code_words
from accord.client.shell.programs.program_lists import CONSOLES, INTERPRETERS, STREAM_EDITORS
from accord.client.shell.syntax_tree import Word, literal, option_values, without_holes

STDIN_FILE = re.compile(r"-|/dev/(?:stdin|fd/0)")
"""Names of the standard input."""
OPENED_FILE = re.compile(r"/dev/fd/.*|/proc/.*")
"""Names of files that are open, such as the output of another command."""

_ASKS_VERSION = frozenset({"--version", "-V", "-v", "--help", "-h"})
# Modules of Python that run code in their words.
_CODE_MODULES = frozenset(
    {"asyncio", "cProfile", "code", "doctest", "pdb", "profile", "runpy", "timeit", "trace"}
)
_VALUE_OPTIONS = {
    "python": frozenset({"-W", "-X"}),
    "perl": frozenset({"-I"}),
    "ruby": frozenset({"-C", "-E", "-I", "-r"}),
    "node": frozenset({"-C", "-r", "--conditions", "--import", "--loader", "--require"}),
    "php": frozenset({"-c", "-d", "-t"}),
    "lua": frozenset({"-l"}),
}
_SED_VALUE = re.compile(r"-[nrEsuz]*[ef]|--expression|--file|-[nrEsuz]*l|--line-length")
_SED_JOINED = re.compile(r"-[nrEsuz]*([ef])(.+)|--(e|f)\w*=(.*)", re.DOTALL)
_AWK_FILES = frozenset(("-f", "--file", "-E", "--exec", "-i", "--include"))


@dataclass(slots=True)
class InterpreterCall:
    """How an interpreter is called.

    `code` is run, `files` are run as scripts, `data` may be used by the code in any way.  `script`
    is the index of a file that is run with the words behind it.  `takes_input` means that what is
    given to it on its standard input is run as well.
    """

    code: list[Word] = field(default_factory=list)
    files: list[Word] = field(default_factory=list)
    data: list[Word] = field(default_factory=list)
    script: int | None = None
    reads_stdin: bool = False
    takes_input: bool = False
    problem: str | None = None
    writes_files: bool = False


def read_interpreter_call(name: str, rest: Sequence[Word]) -> InterpreterCall:
    """Read the words behind the name of an interpreter."""
    call = InterpreterCall()
    if len(rest) == 1 and rest[0].text in _ASKS_VERSION:
        return call
    rest = [without_holes(word) for word in rest]
    if name in STREAM_EDITORS:
        (_read_sed if "sed" in name else _read_awk)(call, rest)
        call.reads_stdin = any(STDIN_FILE.fullmatch(file.text) for file in call.files)
        return call
    call.code = code_words(name, list(rest), INTERPRETERS[name])
    is_module = any(word.text.startswith("-m") for word in rest)
    if name == "python" and is_module and _names_module(rest):
        call.code += [word for word in rest if not word.text.startswith("-")]
        call.files += call.code
        call.takes_input = True
    if name == "perl" and any(_is_pipe(word.text) for word in rest):
        call.problem = "`perl` may run a word that begins or ends with a bar"
    if name in CONSOLES:
        call.files += [literal(text) for word in rest for text in _tokens(word.text)]
        call.data += [word for word in rest if word.is_known]
    if name == "sqlite3":
        call.code += rest
    if call.code:
        # The code may use any other word.
        call.code += rest
        return call
    options = _VALUE_OPTIONS.get(name, frozenset())
    valued = {at + 1 for at, word in enumerate(rest) if word.text in options}
    # What an option names may be a file that is loaded.
    call.files += [rest[at] for at in sorted(valued) if at < len(rest)]
    call.takes_input |= any(STDIN_FILE.fullmatch(word.text) for word in rest)
    operands = [
        at
        for at, word in enumerate(rest)
        if at not in valued and (not word.text.startswith("-") or word.text == "-")
    ]
    if operands and name in CONSOLES:
        return call
    if operands and not STDIN_FILE.fullmatch(rest[operands[0]].text):
        call.script = operands[0]
        call.data += [literal(text) for word in rest for text in option_values(word.text)]
    else:
        call.reads_stdin = not any(word.text.startswith("--test") for word in rest)
    return call


def _names_module(rest: Sequence[Word]) -> bool:
    return any(word.text.removeprefix("-m") in _CODE_MODULES for word in rest)


def _is_pipe(text: str) -> bool:
    """Whether perl takes the name of a file for a command whose output it reads."""
    bare = text.strip()
    return bare.startswith("|") or bare.endswith("|")


def _tokens(text: str) -> list[str]:
    return re.findall(r"(?<![\w./~-])[\w./~][\w./~-]*", text)


def _read_sed(call: InterpreterCall, rest: Sequence[Word]) -> None:
    operands: list[Word] = []
    scripts: list[Word] = []
    before = ""
    for word in rest:
        joined = _SED_JOINED.fullmatch(word.text)
        if _SED_VALUE.fullmatch(before):
            is_script = before.endswith("e") or before.startswith("--expression")
            (scripts if is_script else call.files).append(word)
            before = ""
            continue
        before = word.text
        if joined:
            letter, text = joined[1] or joined[3], joined[2] or joined[4] or ""
            found = Word(text, word.raw, splits=word.splits)
            (scripts if letter == "e" else call.files).append(found)
            before = ""
        elif not word.text.startswith("-") or word.text == "-":
            operands.append(word)
        call.writes_files |= re.match(r"-[A-Za-z]*i|--in-place", word.text) is not None
    is_first_code = not scripts and not call.files
    call.code = scripts or (operands[:1] if is_first_code else [])
    # Several scripts are the lines of one, and an unknown word may be one as well.
    call.code += [word for word in rest if word.is_tainted]
    call.writes_files |= any("w" in word.text for word in call.code)


def _read_awk(call: InterpreterCall, rest: Sequence[Word]) -> None:
    before = ""
    for word in rest:
        is_option = word.text.startswith("-") and word.text != "-"
        for text in option_values(word.text) if is_option else [word.text]:
            if before in _AWK_FILES or word.text.startswith(("-f", "--file=")):
                call.files.append(literal(text))
            call.code.append(Word(text, word.raw, splits=word.splits))
            call.writes_files |= ">" in text
        call.writes_files |= re.match(r"-[A-Za-z]*i|--in-place", word.text) is not None
        before = word.text
