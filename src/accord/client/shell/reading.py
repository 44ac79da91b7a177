"""What a line runs: its programs, the text that it hands on, and what cannot be known.

Always holds
    * Every program that the line starts is among `programs`, or may be named by one of `texts` or
      by the words of a program that hands them on, or `unclear` says why it cannot be known.
    * A program that runs its own code, such as `make` or `python script.py`, is one program.  What
      that code does is not looked at.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace

from accord.client.shell import programs as known
from accord.client.shell.grammar import assigned_names, read_script
from accord.client.shell.syntax import (
    ANY,
    ENV,
    GLOB,
    HOLE,
    Assignment,
    Redirection,
    Script,
    SimpleCommand,
    Word,
    assignment_name,
    hole,
    literal,
    option_values,
)

DEPTH_MAX = 6
"""Shells within shells that are looked into."""
WORDS_MAX = 2000
"""Words of one program that are looked at as programs."""

_SHELL_SYNTAX = re.compile(r"[\s;&|<>()$`'\"\\{}*?!#~=]")
_JOINED = re.compile(r"-[A-Za-z]+[\s;&|<>()$`'\"\\]")
_BIN = re.compile(r"(?:.*/)?(?:s?bin|\.bin)/[^/]+")
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


@dataclass(frozen=True, slots=True)
class Program:
    """A program and its words.

    `road` says how the line comes to run it, where it does not stand there as a command.
    `hands_on` says why its words may be run as another program.
    """

    words: tuple[Word, ...]
    road: str | None = None
    hands_on: str | None = None

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
class Reading:
    """A line, read."""

    programs: list[Program] = field(default_factory=list)
    texts: list[HandedText] = field(default_factory=list)
    unclear: list[str] = field(default_factory=list)
    changes_folder: bool = False


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
        # Files that the line writes, with their text where it is known.
        self._written: dict[str, list[Word | None]] = {}
        # Files that the line makes, and how much it had run when it made them last.
        self._copied: dict[str, int] = {}
        self._copies_unseen = False
        # Files that the line runs: the word, and the shell or interpreter that runs it.
        self._run: list[tuple[Word, str]] = []
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
            self._distrusted |= any(
                one.name in _REDIRECTS_NAMES or one.name.startswith("BASH_")
                for one in command.assignments
            )
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

    def _command(self, command: SimpleCommand, road: str | None) -> None:
        for assignment in command.assignments:
            self._value(assignment)
        given = _input_of(command)
        for redirection in command.redirections:
            self._redirected(redirection, command)
        if command.words:
            self._invocation(command.words, given, road, sh_only=command.sh_only)

    def _redirected(self, redirection: Redirection, command: SimpleCommand) -> None:
        if not redirection.writes or redirection.target.text in ("/dev/null", "1", "2", "-"):
            return
        target = redirection.target
        if not target.is_known:
            self._copies_unseen |= target.is_tainted
        self._written.setdefault(target.name, []).append(_printed_text(command))

    def _value(self, assignment: Assignment, *, is_loop: bool = False) -> None:
        name, value = assignment.name, assignment.value
        if name.startswith("BASH_") and name != "BASH_ENV":
            self._unclear(f"it sets {name}")
        if _EXECUTED.fullmatch(name) and value.is_tainted:
            self._unclear(f"{name} names a program, and its value is known only when it runs")
        if name in ("BASH_ENV", "ENV"):
            self._run.append((value, "bash"))
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
            one.name
            for one in script.assigned()
            if one.value.is_tainted or GLOB in one.value.text
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
        first = words[0]
        if not self._names_program(first):
            self._unknown_program(words, given, road, sh_only=sh_only)
            return
        name = known.program_name(first)
        if first.text != first.name or not first.is_known:
            self._run.append((first, ""))
        else:
            self._run.append((first, "PATH"))
        if self._special(name, words, given if not nested else replace(given, nested=True), road):
            return
        reason = None if self._is_harmless(name, first, words) else self._why_hands_on(name)
        self.reading.programs.append(Program(tuple(words), road, reason))
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
            self.reading.programs.append(Program(tuple(words), road, reason))
            self._hands_on(words, given)
        elif not sh_only or first.is_tainted or is_files:
            self._unclear(f"the program is known only when it runs: {first.raw}")

    def _names_program(self, first: Word) -> bool:
        """Whether it is known which program the word names, wherever that program lies."""
        return not first.splits and HOLE.search(first.name) is None

    def _special(self, name: str, words: list[Word], given: _Input, road: str | None) -> bool:
        """Read programs that run something else in a way that we know; False for all others."""
        add = Program(tuple(words), road)
        if name in known.SHELLS:
            self.reading.programs.append(add)
            self._shell(words, given)
        elif name in known.INTERPRETERS:
            self.reading.programs.append(add)
            self._interpreter(name, words, given)
        elif name in ("eval", "trap", "alias", "hash", "enable", "source", ".", "let"):
            self.reading.programs.append(add)
            self._builtin(name, words)
        elif name == "find":
            self.reading.programs.append(add)
            self._find(words, given)
        elif name in ("busybox", "toybox") and len(words) > 1:
            self._invocation(words[1:], given, f"run by `{name}`")
        elif name in known.WRAPPERS:
            return self._wrapper(name, words, given, road)
        else:
            return False
        return True

    def _wrapper(self, name: str, words: list[Word], given: _Input, road: str | None) -> bool:
        if name == "command" and len(words) > 1 and words[1].text in ("-v", "-V"):
            self.reading.programs.append(Program(tuple(words), road))
            return True
        inner, assigned, replaced = _unwrap(known.WRAPPERS[name], words)
        if inner is None:
            return False
        self.reading.programs.append(Program(tuple(words[: len(words) - len(inner)]), road))
        for assignment in assigned:
            self._value(assignment)
            self._distrusted |= assignment.name in _REDIRECTS_NAMES
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
        if self._distrusted or (first.text != first.name and not _BIN.fullmatch(first.text)):
            return False
        if name in known.SUBCOMMANDS:
            return self._is_harmless_tool(name, words)
        listed = name in known.HARMLESS or name in known.EXECUTING_OPTIONS
        return listed and not known.could_execute(name, words[1:])

    def _is_harmless_tool(self, name: str, words: list[Word]) -> bool:
        """Whether a tool with subcommands runs none of its words."""
        at, values = 1, known.GLOBAL_VALUES.get(name, ())
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
        if name == "git" and verb.text not in known.GIT_COMMANDS:
            self._unclear(f"`git {verb.text}` is no command of git, so it may be an alias")
        rest = words[at + 1 :]
        executes = known.could_execute(f"{name} {verb.text}", rest)
        executes |= known.could_execute(name, rest)
        executes |= name == "git" and any("ext::" in word.text for word in rest)
        return verb.text in known.SUBCOMMANDS[name] and not executes

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
        if name in known.COPYING:
            for word in words[1:]:
                self._copied[word.text.rpartition("=")[2].rpartition("/")[2]] = len(self._run)
                self._copies_unseen |= word.is_tainted
            self._copies_unseen |= name in ("tar", "unzip", "patch")
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
        if name in known.STDIN_RUNNERS and [word.text for word in words[1:]] != ["-l"]:
            self._unclear(f"`{name}` runs what it reads or is told later")
        elif name in known.OPERANDS_BEFORE and (
            len(operands) < known.OPERANDS_BEFORE[name] or given.is_given
        ):
            self._unclear(f"`{name}` may run a shell that reads its commands from elsewhere")
        elif name in ("su", "script", "sudo", "runuser", "systemd-run") and len(words) < 3:
            self._unclear(f"`{name}` may run a shell that reads its commands from elsewhere")
        for at, word in enumerate(words[1:], 1):
            self._run.append((word, name))
            if not word.is_known:
                continue
            inner = known.program_name(word)
            if inner in known.SHELLS or inner in known.INTERPRETERS or inner in _RUNNERS:
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
        self._run.append((words[0], name))
        self.reading.programs.append(Program(tuple(words), f"run by `{name}`"))

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
            self._run.append((file, "sh"))

    # ---- other languages

    def _interpreter(self, name: str, words: list[Word], given: _Input) -> None:
        rest = words[1:]
        if len(rest) == 1 and rest[0].text in _ASKS_VERSION:
            return
        letters = known.INTERPRETERS[name]
        for_code = name in ("awk", "gawk", "mawk", "nawk", "sed", "gsed")
        has_code, has_file = False, False
        for at, word in enumerate(rest):
            before = rest[at - 1].text if at else ""
            takes_code = _takes_code(before, letters) or (for_code and not has_code)
            if word.text.startswith("-") and word.text != "-" and not _takes_code(before, letters):
                joined = re.match(rf"-[a-zA-Z0-9]*?[{letters or 'e'}](.+)", word.text, re.DOTALL)
                if joined and not word.text.startswith("--"):
                    self._code(name, Word(joined[1], word.raw, splits=word.splits))
                continue
            if takes_code or (name in known.EDITORS and word.text.startswith("+")):
                has_code = True
                self._code(name, word)
            elif word.text == "-" or _STDIN_FILE.fullmatch(word.text):
                self._interpreter_stdin(name, given, for_code=for_code)
            else:
                if not has_file and not for_code:
                    self._script_file(name, rest[at:])
                has_file = True
                self.reading.texts.append(HandedText(word.text, f"the words of `{name}`"))
        flags = [word.text for word in rest if word.text.startswith("-")]
        has_code |= any(_takes_code(flag, letters) for flag in flags) and bool(letters)
        has_file |= any(
            flag in ("-m", "-f", "--file") or flag.startswith("--test") for flag in flags
        )
        if not (has_code or has_file):
            self._interpreter_stdin(name, given, for_code=for_code)

    def _interpreter_stdin(self, name: str, given: _Input, *, for_code: bool) -> None:
        if for_code or given.is_empty or (given.nested and not given.is_given):
            return
        if given.text is None:
            self._unclear(f"`{name}` reads its code from its standard input")
        else:
            self._code(name, given.text)

    def _code(self, name: str, code: Word) -> None:
        if code.is_tainted or (code.splits and not code.is_known and GLOB not in code.text):
            self._unclear(f"the code of `{name}` is put together when it runs")
        elif known.starts_programs(name, code.text):
            self._unclear(f"the code of `{name}` may start programs that it does not name")
        self.reading.texts.append(HandedText(code.text, f"the code of `{name}`", is_code=True))
        if "open" in code.text:
            names = re.findall(r"[\w.-]+", code.text)
            self._copied.update(dict.fromkeys(names, len(self._run)))

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
            at += 1

    # ---- the line as a whole

    def finish(self) -> None:
        """Compare what the line writes with what it runs."""
        for word in self._printed if self._fed else ():
            self._handed(word.text, f"text that `{self._fed[0]}` may read")
            if not word.is_known or set("\\%") & set(word.text):
                self._unclear(f"text that `{self._fed[0]}` may read is put together when it runs")
        seen: set[tuple[str, str]] = set()
        for at, (word, runner) in enumerate(list(self._run)):
            name = word.name
            if not name or (name, runner) in seen:
                continue
            # A program that only may run its words does so where it stands.
            is_surely_run = runner in ("", "PATH", *known.SHELLS)
            if not is_surely_run and at < self._copied.get(name, 0):
                continue
            seen.add((name, runner))
            self._ran(word, name, runner)

    def _ran(self, word: Word, name: str, runner: str) -> None:
        is_file = "/" in word.text or runner != "PATH"
        if name in self._copied:
            self._unclear(f"it makes {name} and runs it")
        elif self._copies_unseen and runner in ("", *known.SHELLS):
            self._unclear(f"it makes files that cannot be seen, and runs {name}")
        elif name in self._written and is_file:
            for text in self._written[name]:
                if text is None or not text.is_known:
                    self._unclear(f"it writes {name} and runs it")
                elif runner in known.INTERPRETERS:
                    self._code(runner, text)
                else:
                    self.line(text.text, f"in {name}, which the line writes", self.names)


_ASKS_VERSION = frozenset({"--version", "-V", "-v", "--help", "-h"})
_FED = hole("what `xargs` reads")
_RUNNERS = frozenset({"eval", "source", "exec", "find", "busybox", *known.WRAPPERS})


def _printed_text(command: SimpleCommand) -> Word | None:
    """What a command writes to its output, where the line shows it."""
    words = command.words
    if len(words) == 1 and words[0].text == "cat":
        return _input_of(command).text
    if words and words[0].text == "echo" and all(word.is_known for word in words):
        text = " ".join(word.text for word in words[1:])
        return None if "\\" in text or text.startswith("-") else literal(text)
    return None


def _filled(word: Word, placeholder: str) -> Word:
    """A word in which a program puts names of files or lines of its input."""
    if placeholder not in word.text:
        return word
    mark = GLOB if placeholder == "{}" and word.text == "{}" else ANY
    return Word(word.text.replace(placeholder, mark), word.raw, plain=False)


def _takes_code(option: str, letters: str) -> bool:
    if not option.startswith("-") or not letters:
        return False
    if option.startswith("--"):
        return option in ("--eval", "--print", "--command", "--execute", "--cmd", "--expression")
    return option[-1:] in letters or option in ("-ex", "-eval")


def _unwrap(
    wrapper: known.Wrapper, words: list[Word]
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
        elif text[:2] in wrapper.values and len(text) > 2:
            at += 1
        elif words[0].name == "xargs" and text[:2] in ("-I", "-i"):
            replaced = text[2:] or (words[at + 1].text if text == "-I" and at + 1 < len(words) else "{}")
            at += 2 if text == "-I" else 1
        elif words[0].name == "nice" and re.fullmatch(r"-[0-9]+", text):
            at += 1
        else:
            return None, [], None
    while wrapper.assigns and at < len(words) and assignment_name(words[at].text):
        name = assignment_name(words[at].text) or ""
        value = words[at].text.partition("=")[2]
        assigned.append(Assignment(name, Word(value, words[at].raw, splits=words[at].splits)))
        at += 1
    at += wrapper.operands
    return words[at:], assigned, replaced


__all__ = ["DEPTH_MAX", "WORDS_MAX", "HandedText", "Program", "Reading", "read_line"]
