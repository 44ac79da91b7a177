"""What a line runs: its programs, the text that it hands on, and what cannot be known.

Always holds
    * Every program that the line starts is among `programs`, or may be named by one of `texts` or
      by the words of a program that hands them on, or `unclear` says why it cannot be known.
    * A program that runs its own code, such as `make` or `python script.py`, is one program.  What
      that code does is not looked at.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

from accord.client.shell import program_tables as tables
from accord.client.shell import programs as known
from accord.client.shell.grammar import assigned_names, read_script
from accord.client.shell.made_files import BY_NAME, BY_PATH, MadeFiles
from accord.client.shell.syntax import (
    ANY,
    ENV,
    GLOB,
    HOLE,
    Assignment,
    HandedText,
    Program,
    Reading,
    Script,
    SimpleCommand,
    Word,
    assignment_name,
    hole,
    literal,
    option_values,
)

WRAPPERS_MAX = 40
"""Programs in a row that run one another, as `env nice timeout 5 ls`."""
DEPTH_MAX = 6
"""Shells within shells that are looked into."""
WORDS_MAX = 300
"""Words of one program that are looked at as programs."""

_SHELL_SYNTAX = re.compile(r"[\s;&|<>()$`'\"\\{}*?!#~=]")
_JOINED = re.compile(r"-[A-Za-z]+[\s;&|<>()$`'\"\\]")
_BIN = re.compile(
    r"(?:(?:/usr(?:/local)?)?/s?bin|/opt/homebrew/bin|(?:\./)?\.?venv/bin"
    r"|(?:\./)?node_modules/\.bin)/[^/]+"
)
_STDIN_FILE = re.compile(r"-|/dev/(?:stdin|fd/.*)|/proc/.*")
# Variables whose value a program may run.
_EXECUTED = re.compile(
    r"EDITOR|VISUAL|\w*PAGER|GIT_\w+|BROWSER|SHELL|LESSOPEN|LESSCLOSE|\w*_ASKPASS|PS[0-4]|ENV"
    r"|PROMPT_COMMAND|BASH_ENV|MAKEFLAGS|RUSTC_WRAPPER|NODE_OPTIONS|PERL5OPT|RUBYOPT|LD_PRELOAD"
    r"|CC|CXX|BASH_FUNC_.*"
)
_REDIRECTS_NAMES = frozenset({"PATH", "LD_PRELOAD", "LD_LIBRARY_PATH", "LD_AUDIT"})
_SETS_VARIABLES = frozenset({"read", "mapfile", "readarray", "getopts", "printf", "wait", "let"})
_TESTS = frozenset({"test", "[", "printf", "read", "unset", "wait"})
_DECLARES = frozenset({"export", "declare", "local", "readonly", "typeset"})


def read_line(line: str) -> tuple[Reading, Script]:
    """Read a line as a shell does."""
    reader = _Reader(Reading(), assigned_names(line))
    script = reader.line(line, None, reader.names)
    reader.finish()
    return reader.reading, script


@dataclass(frozen=True, slots=True)
class _Input:
    """The standard input of a command; `text` where the line shows it."""

    text: Word | None = None
    is_empty: bool = False
    is_given: bool = False
    # Whether the program stands among the words of another, and may be none.
    nested: bool = False


def _input_of(command: SimpleCommand) -> _Input:
    found = _Input(is_given=command.piped)
    for one in command.redirections:
        if one.is_input:
            empty = one.operator == "<" and one.target.text == "/dev/null"
            found = _Input(one.body, empty, is_given=True)
    return found


class _Reader:
    """Collects what one line runs.  Shells within the line are read by the same reader."""

    def __init__(self, reading: Reading, names: frozenset[str]) -> None:
        self.reading = reading
        self.names = names
        self._depth = 0
        self._loose = 0
        self._wrapped = 0
        self._files = MadeFiles()
        self._printed: list[Word] = []
        self._fed: list[str] = []
        self._distrusted = False

    # ---- lines

    def line(self, text: str, road: str | None, names: frozenset[str]) -> Script:
        """Read the commands of a line."""
        self._depth += 1
        if self._depth > DEPTH_MAX:
            self._unclear("shells are nested too deeply")
            self._depth -= 1
            return Script()
        self.names |= assigned_names(text)
        script = read_script(text, names | self.names)
        for problem in script.problems:
            self._unclear(problem)
        if script.error is not None and not self._loose:
            self._unclear(script.error)
        for command in script.commands:
            assigned = {assignment_name(word.raw) for word in command.words}
            assigned |= {one.name for one in command.assignments}
            self._distrusted |= not _REDIRECTS_NAMES.isdisjoint(assigned)
        for command in script.commands:
            self._command(command, road)
        for value in script.values:
            self._value(value, is_loop=True)
        self._arithmetic(script)
        self._depth -= 1
        return script

    def _unclear(self, reason: str) -> None:
        if reason not in self.reading.unclear:
            self.reading.unclear.append(reason)

    def _add(self, words: list[Word], road: str | None, hands_on: str | None = None) -> None:
        found = Program(tuple(words), road, hands_on, is_certain=not self._loose)
        self.reading.programs.append(found)

    def _command(self, command: SimpleCommand, road: str | None) -> None:
        for assignment in command.assignments:
            self._value(assignment)
        given = _input_of(command)
        for redirection in command.redirections:
            self._files.redirect(redirection, command)
        if command.words:
            self._invocation(command.words, given, road, sh_only=command.is_guess)

    def _value(self, assignment: Assignment, *, is_loop: bool = False) -> None:
        name, value = assignment.name, assignment.value
        if name.startswith("BASH_") and name != "BASH_ENV":
            self._unclear(f"it sets {name}")
        if _EXECUTED.fullmatch(name) and value.is_tainted:
            self._unclear(f"{name} names a program, and its value is known only when it runs")
        if name in ("BASH_ENV", "ENV"):
            self._files.run(value, "bash")
        if value.is_known and not is_loop:
            self._handed(value.text, f"the value of {name}" if name else "a default value")
        elif value.is_known:
            self.reading.texts.append(HandedText(value.text, f"a value of {name}"))

    def _handed(self, text: str, where: str) -> None:
        """Note text that something may run as a line of its own."""
        self.reading.texts.append(HandedText(text, where))
        if _SHELL_SYNTAX.search(text):
            self._loose += 1
            self.line(text, where, self.names)
            self._loose -= 1

    def _arithmetic(self, script: Script) -> None:
        tainted = {
            one.name for one in script.assigned() if one.value.is_tainted or GLOB in one.value.text
        }
        for command in script.commands:
            words = [word.text for word in command.words]
            if words and words[0] in _SETS_VARIABLES:
                tainted.update(words[1:])
            if words and words[0] in _DECLARES:
                tainted.update(
                    found
                    for word in command.words[1:]
                    if word.is_tainted and (found := assignment_name(word.raw))
                )
        if script.arithmetic & tainted:
            name = min(script.arithmetic & tainted)
            self._unclear(f"it calculates with {name}, whose value is known only when it runs")

    # ---- one program

    def _invocation(
        self,
        words: list[Word],
        given: _Input,
        road: str | None,
        *,
        sh_only: bool = False,
        nested: bool = False,
    ) -> None:
        self._wrapped += 1
        if self._wrapped > WRAPPERS_MAX:
            self._unclear("too many programs run one another")
        else:
            self._run_program(words, given, road, sh_only=sh_only, nested=nested)
        self._wrapped -= 1

    def _run_program(
        self, words: list[Word], given: _Input, road: str | None, *, sh_only: bool, nested: bool
    ) -> None:
        first = words[0]
        if not self._names_program(first):
            self._unknown_program(words, given, road, sh_only=sh_only)
            return
        name = known.program_name(first)
        if first.text.startswith(("/proc/", "/dev/", "=")):
            self._unclear(f"the program is known only when it runs: {first.raw}")
        self._files.run(first, BY_NAME if first.text == first.name else BY_PATH)
        if self._special(name, words, given if not nested else replace(given, nested=True), road):
            return
        reason = None if self._is_harmless(name, first, words) else self._why_hands_on(name)
        self._add(words, road, reason)
        if reason is None:
            self._harmless(name, words, given)
        elif not nested:
            self._hands_on(words, given)

    def _unknown_program(
        self, words: list[Word], given: _Input, road: str | None, *, sh_only: bool
    ) -> None:
        first = words[0]
        is_files = GLOB in first.text and not {ANY, ENV} & set(first.text)
        if is_files and (self._loose or (sh_only and "/" not in first.text)):
            # Perhaps no command at all: a pattern for files, or arithmetic to bash.
            reason = f"`{first.raw}` may run its words as another program"
            self._add(words, road, reason)
            self._hands_on(words, given)
        elif not sh_only or first.is_tainted or is_files:
            self._unclear(f"the program is known only when it runs: {first.raw}")

    def _names_program(self, first: Word) -> bool:
        """Whether it is known which program the word names, wherever that program lies."""
        return not first.splits and HOLE.search(first.name) is None

    def _special(self, name: str, words: list[Word], given: _Input, road: str | None) -> bool:
        """Read programs that run something else in a way that we know; False for all others."""
        if name in tables.SHELLS:
            self._add(words, road)
            self._shell(words, given)
        elif name in tables.INTERPRETERS:
            self._add(words, road)
            self._interpreter(name, words, given)
        elif name in ("eval", "trap", "alias", "hash", "enable", "source", ".", "let"):
            self._add(words, road)
            self._builtin(name, words)
        elif name == "find":
            self._add(words, road)
            self._find(words, given)
        elif name in ("busybox", "toybox") and len(words) > 1:
            self._invocation(words[1:], given, f"run by `{name}`")
        elif name in tables.WRAPPERS:
            return self._wrapper(name, words, given, road)
        else:
            return False
        return True

    def _wrapper(self, name: str, words: list[Word], given: _Input, road: str | None) -> bool:
        if name == "command" and len(words) > 1 and words[1].text in ("-v", "-V"):
            self._add(words, road)
            return True
        inner, assigned, replaced = known.unwrap(tables.WRAPPERS[name], words)
        if inner is None:
            return False
        self._add(words[: len(words) - len(inner)], road)
        for assignment in assigned:
            self._value(assignment)
        if name == "xargs":
            if not inner:
                return True
            inner = [_filled(word, replaced) for word in inner] if replaced else [*inner, _FED]
            given = _Input(is_empty=True, is_given=True)
        if inner:
            self._invocation(inner, given, f"run by `{name}`")
        return True

    # ---- harmless programs

    def _is_harmless(self, name: str, first: Word, words: list[Word]) -> bool:
        if name in tables.BUILTINS and first.text == name:
            return True
        if self._distrusted or (first.text != first.name and not _BIN.fullmatch(first.text)):
            return False
        if name in tables.SUBCOMMANDS:
            return self._is_harmless_tool(name, words)
        listed = name in tables.HARMLESS or name in tables.EXECUTING_OPTIONS
        return listed and not known.could_execute(name, words[1:])

    def _is_harmless_tool(self, name: str, words: list[Word]) -> bool:
        """Whether a tool with subcommands runs none of its words."""
        at, values = 1, tables.GLOBAL_VALUES.get(name, frozenset())
        while at < len(words) and words[at].text.startswith("-"):
            text = words[at].text
            if name == "git" and text.startswith(("-c", "--exec-path", "--config-env")):
                self._git_config(words[at:])
                return False
            at += 2 if text in values else 1
        if at >= len(words):
            return True
        verb = words[at]
        if not verb.is_known:
            return False
        if name == "git" and verb.text not in tables.GIT_COMMANDS:
            self._unclear(f"`git {verb.text}` is no command of git, so it may be an alias")
        rest = words[at + 1 :]
        executes = known.could_execute(f"{name} {verb.text}", rest)
        executes |= known.could_execute(name, rest)
        executes |= name == "git" and any("ext::" in word.text for word in rest)
        return verb.text in tables.SUBCOMMANDS[name] and not executes

    def _git_config(self, words: list[Word]) -> None:
        settings = [word.text for word in words if "alias." in word.text]
        if settings:
            self._unclear("git is told an alias, so its command is another one")

    def _harmless(self, name: str, words: list[Word], given: _Input) -> None:
        if name in ("cd", "pushd", "popd"):
            self.reading.changes_folder = True
        if name in _DECLARES:
            for word in words[1:]:
                variable = assignment_name(word.raw)
                if variable is not None:
                    text = word.text.partition("=")[2]
                    value = Word(text, word.raw, word.plain, word.splits, word.quoted)
                    self._value(Assignment(variable, value))
        if name in _TESTS or name in _DECLARES:
            for word in words[1:]:
                if "[" in word.text and re.search(r"\$\(|`|\$\{", word.text):
                    self._handed(word.text, f"a subscript given to `{name}`")
        if name in tables.COPYING:
            self._files.copy(words[1:])
            self._files.makes_unseen |= name in ("tar", "unzip", "patch")
        self._printed += [word for word in words[1:] if not word.text.startswith("-")]
        if given.text is not None:
            self._printed.append(given.text)

    # ---- programs that may run their words

    def _why_hands_on(self, name: str) -> str:
        return f"`{name}` may run its words as another program"

    def _hands_on(self, words: list[Word], given: _Input) -> None:
        """Look for shells, interpreters and lines among the words of a program."""
        name = words[0].name
        if len(words) > WORDS_MAX:
            self._unclear(f"`{name}` has more words than are looked at")
            return
        operands = [word for word in words[1:] if not word.text.startswith("-")]
        if name in tables.STDIN_RUNNERS and [word.text for word in words[1:]] != ["-l"]:
            self._unclear(f"`{name}` runs what it reads or is told later")
        elif (
            name in tables.OPERANDS_BEFORE
            and (len(operands) < tables.OPERANDS_BEFORE[name] or given.is_given)
        ) or (name in ("su", "script", "sudo", "runuser", "systemd-run") and len(words) < 3):
            self._unclear(f"`{name}` may run a shell that reads its commands from elsewhere")
        for at, word in enumerate(words[1:], 1):
            self._files.run(word, name)
            if not word.is_known:
                continue
            inner = known.program_name(word)
            if inner in tables.SHELLS or inner in tables.INTERPRETERS or inner in _RUNNERS:
                self._invocation(words[at:], given, f"run by `{name}`", nested=True)
            if _JOINED.match(word.text):
                self._unclear(f"`{name}` may have a command joined to an option: {word.raw}")
            for text in option_values(word.text):
                if _SHELL_SYNTAX.search(text):
                    self._loose += 1
                    self.line(text, f"in the words of `{name}`", self.names)
                    self._loose -= 1
        if given.text is not None:
            self._handed(given.text.text, f"the standard input of `{name}`")
            if not given.text.is_known:
                self._unclear(f"the standard input of `{name}` is known only when it runs")
        elif given.is_given and not given.is_empty:
            self._fed.append(name)

    # ---- shells

    def _shell(self, words: list[Word], given: _Input) -> None:
        name, at = words[0].name, 1
        reads_code = False
        while at < len(words) and words[at].text[:1] in ("-", "+") and words[at].text != "-":
            text = words[at].text
            if not words[at].is_known:
                self._unclear(f"the options of `{name}` are known only when it runs")
                return
            if text == "--":
                at += 1
                break
            if text.startswith("--"):
                takes = text in ("--rcfile", "--init-file")
                if takes and at + 1 < len(words):
                    self._script_file(name, words[at + 1 :])
            else:
                takes = text[-1] in "oO"
                reads_code |= "c" in text
                if "s" in text and "c" not in text:
                    self._shell_stdin(name, given)
                    return
            at += 2 if takes else 1
        if reads_code:
            self._shell_code(name, words, at)
        elif at >= len(words) or _STDIN_FILE.fullmatch(words[at].text):
            if not {"--version", "--help"} & {word.text for word in words[1:]}:
                self._shell_stdin(name, given)
        elif not words[at].is_known and (words[at].is_tainted or words[at].splits):
            self._unclear(f"the script that `{name}` runs is known only when it runs")
        else:
            self._script_file(name, words[at:])

    def _script_file(self, name: str, words: list[Word]) -> None:
        self._files.run(words[0], name)
        self._add(words, f"run by `{name}`")

    def _shell_code(self, name: str, words: list[Word], at: int) -> None:
        if at >= len(words):
            return
        if not words[at].is_known or words[at].splits:
            self._unclear(f"the code of `{name} -c` is put together when it runs")
            return
        self.line(words[at].text, f"in the code of `{name} -c`", self.names)

    def _shell_stdin(self, name: str, given: _Input) -> None:
        if given.is_empty:
            return
        if given.text is None or not given.text.is_known:
            self._unclear(f"`{name}` reads its commands from its standard input")
            return
        self.line(given.text.text, f"in the input of `{name}`", self.names)

    def _builtin(self, name: str, words: list[Word]) -> None:
        rest = words[1:]
        if name == "eval":
            if rest and rest[0].text == "--":
                rest = rest[1:]
            if not all(word.is_known and not word.splits for word in rest):
                self._unclear("the words of `eval` are known only when it runs")
            else:
                self.line(" ".join(word.text for word in rest), "run by `eval`", self.names)
        elif name == "trap":
            rest = [word for word in rest if word.text not in ("--", "-p", "-l", "-")]
            if rest and not rest[0].is_known:
                self._unclear("what `trap` runs is known only then")
            elif rest:
                self.line(rest[0].text, "run by `trap`", self.names)
        elif name in ("source", "."):
            self._sourced(name, rest)
        elif name == "let":
            for word in rest:
                self._handed(word.text, "an expression of `let`")
                if not word.is_known:
                    self._unclear("`let` calculates with text that is known only when it runs")
        elif rest and not all(re.fullmatch(r"-[rpldtn]*", word.text) for word in rest):
            self._unclear(f"`{name}` gives a name another meaning")

    def _sourced(self, name: str, rest: list[Word]) -> None:
        if not rest:
            return
        file = rest[0]
        if file.is_tainted or file.splits or _STDIN_FILE.fullmatch(file.text):
            self._unclear(f"the file that `{name}` reads is known only when it runs")
        else:
            self._files.run(file, "sh")

    # ---- other languages

    def _interpreter(self, name: str, words: list[Word], given: _Input) -> None:
        rest = words[1:]
        if len(rest) == 1 and rest[0].text in _ASKS_VERSION:
            return
        if name in tables.STREAM_EDITORS:
            self._stream_editor(name, rest, given)
            return
        letters = tables.INTERPRETERS[name]
        code = known.code_words(name, rest, letters)
        for word in code:
            self._code(name, word)
        if code:
            # The code may use any other word.
            for word in rest:
                self._code(name, word)
            return
        operands = [
            at for at, word in enumerate(rest) if not word.text.startswith("-") or word.text == "-"
        ]
        if operands and not _STDIN_FILE.fullmatch(rest[operands[0]].text):
            self._script_file(name, rest[operands[0] :])
            for word in rest:
                for text in option_values(word.text):
                    self.reading.texts.append(HandedText(text, f"the words of `{name}`"))
        elif not any(word.text.startswith("--test") for word in rest):
            self._interpreter_stdin(name, given)

    def _stream_editor(self, name: str, rest: list[Word], given: _Input) -> None:
        """Awk and sed: each word may be code, a file of code, or a file."""
        writes = False
        for at, word in enumerate(rest):
            before = rest[at - 1].text if at else ""
            is_file = before in ("-f", "--file", "-E", "--exec", "-i", "--include")
            is_option = word.text.startswith("-") and word.text != "-"
            for text in option_values(word.text) if is_option else [word.text]:
                if is_file or word.text.startswith(("-f", "--file=")):
                    self._files.run(literal(text), name)
                    if _STDIN_FILE.fullmatch(text):
                        self._interpreter_stdin(name, given)
                self._code(name, Word(text, word.raw, splits=word.splits))
                writes |= ">" in text or re.search(r"\bw\s", text) is not None
            writes |= re.match(r"-[A-Za-z]*i|--in-place", word.text) is not None
        if writes:
            for word in rest:
                self._files.mention(word.text)

    def _interpreter_stdin(self, name: str, given: _Input) -> None:
        if given.is_empty or (given.nested and not given.is_given):
            return
        if given.text is None:
            self._unclear(f"`{name}` reads its code from its standard input")
        else:
            self._code(name, given.text)

    def _code(self, name: str, code: Word) -> None:
        if code.is_tainted or (code.splits and ENV in code.text):
            self._unclear(f"the code of `{name}` is put together when it runs")
        elif known.starts_programs(name, code.text):
            self._unclear(f"the code of `{name}` may start programs that it does not name")
        self.reading.texts.append(HandedText(code.text, f"the code of `{name}`", is_code=True))
        if name not in tables.STREAM_EDITORS:
            self._files.mention(code.text)

    def _find(self, words: list[Word], given: _Input) -> None:
        at, tainted = 1, [word for word in words if word.is_tainted]
        if len(tainted) > 1 or any(word.splits for word in tainted):
            self._unclear("the conditions of `find` are known only when it runs")
        if tainted:
            for word in words[1:]:
                self.reading.texts.append(HandedText(word.text, "the words of `find`"))
        while at < len(words):
            if words[at].text in ("-exec", "-execdir", "-ok", "-okdir"):
                end = at + 1
                while end < len(words) and words[end].text not in (";", "+"):
                    end += 1
                inner = [_filled(word, "{}") for word in words[at + 1 : end]]
                if inner:
                    self._invocation(inner, given, "run by `find`")
                at = end
            elif words[at].text.startswith(("-fprint", "-fls")) and at + 1 < len(words):
                self._files.write(words[at + 1])
            at += 1

    # ---- the line as a whole

    def finish(self) -> None:
        """Compare what the line writes with what it runs."""
        for word in self._printed if self._fed else ():
            self._handed(word.text, f"text that `{self._fed[0]}` may read")
            if not word.is_known or set("\\%") & set(word.text):
                self._unclear(f"text that `{self._fed[0]}` may read is put together when it runs")
        for own in self._files.own_files():
            if own.text is None:
                self._unclear(own.reason)
            elif own.runner in tables.INTERPRETERS:
                self._code(own.runner, literal(own.text))
            else:
                self.line(own.text, f"in {own.name}, which the line writes", self.names)


_ASKS_VERSION = frozenset({"--version", "-V", "-v", "--help", "-h"})
_FED = hole("what `xargs` reads")
_RUNNERS = frozenset({"eval", "source", "exec", "find", "busybox", *tables.WRAPPERS})


def _filled(word: Word, placeholder: str) -> Word:
    """A word in which a program puts names of files or lines of its input."""
    if placeholder not in word.text:
        return word
    mark = GLOB if placeholder == "{}" and word.text == "{}" else ANY
    return Word(word.text.replace(placeholder, mark), word.raw, plain=False)


__all__ = ["DEPTH_MAX", "WORDS_MAX", "read_line"]
