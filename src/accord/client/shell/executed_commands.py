"""Finds what a line runs: its programs, the text that it passes on, and what cannot be known.

What always holds
    * Every program that the line starts is in `programs`, or may be named by one of `texts` or by
      the arguments of a program that runs them, or `unclear` says why it cannot be known.
    * A program that runs its own code, such as `make` or `python script.py`, is one program.  That
      code is not examined.
"""

from __future__ import annotations

import re
from dataclasses import replace

from accord.client.shell.created_files import BY_NAME, BY_PATH, OBEYED, MadeFiles, OwnFile
from accord.client.shell.grammar import assigned_names, read_script
from accord.client.shell.parse_limits import DEPTH_MAX, WORDS_MAX, WRAPPERS_MAX, Budget, TooMuch
from accord.client.shell.programs import arguments as known
from accord.client.shell.programs import program_lists as tables
from accord.client.shell.programs.find import read_find_call
from accord.client.shell.programs.interpreters import OPENED_FILE, STDIN_FILE, read_interpreter_call
from accord.client.shell.programs.shells import SHELLS, changes_reading, read_shell_call
from accord.client.shell.programs.subcommands import read_tool_call
from accord.client.shell.scanner import NAME
from accord.client.shell.standard_input import Input, input_of
from accord.client.shell.syntax_tree import (
    ANY,
    ENV,
    GLOB,
    HOLE,
    Assignment,
    HandedText,
    ParsedLine,
    Program,
    Script,
    SimpleCommand,
    Word,
    assignment_name,
    filled,
    hole,
    literal,
    option_values,
    respelled,
)
from accord.client.shell.variables import (
    CODE_LANGUAGES,
    DECLARING,
    EDITING,
    EXECUTED,
    FOLDER_LISTS,
    REDIRECTING,
    SETTING,
    STATE,
    base_name,
    named_variables,
    tainted_calculation,
)

_SHELL_SYNTAX = re.compile(r"[\s;&|<>()$`'\"\\{}*?!#~=]")
_JOINED = re.compile(r"-[A-Za-z][\w./-]*[\s;&|<>()$`'\"\\]")
_BIN = re.compile(
    r"(?:(?:/usr(?:/local)?)?/s?bin|/opt/homebrew/bin|(?:\./)?\.?venv/bin"
    r"|(?:\./)?node_modules/\.bin)/[^/]+"
)


def read_line(line: str) -> tuple[ParsedLine, Script]:
    """Parse a line as a shell does."""
    reader = _Reader(ParsedLine(), assigned_names(line))
    try:
        script = reader.line(line, None, reader.names)
        reader.finish()
    except TooMuch as reason:
        return ParsedLine(unclear=[str(reason)]), reader.script
    return reader.reading, script


class _Reader:
    """Collects what one line runs.  Shells within the line are read by the same reader.

    `script` is the line itself, as far as it was parsed.
    """

    def __init__(self, reading: ParsedLine, names: frozenset[str]) -> None:
        self.reading = reading
        self.names = names
        self.script = Script()
        self._depth = 0
        self._budget = Budget()
        self._loose = 0
        self._wrapped = 0
        self._files = MadeFiles()
        self._printed: list[Word] = []
        self._fed: list[str] = []
        self._distrusted = False

    # ---- lines

    def line(self, text: str, road: str | None, names: frozenset[str]) -> Script:
        """Read the commands of a line."""
        self._budget.text(len(text))
        if self._depth == DEPTH_MAX:
            self._unclear("shells are nested too deeply")
            return Script()
        self._depth += 1
        self.names |= assigned_names(text)
        script = read_script(text, names | self.names)
        if self._depth == 1:
            self.script = script
        self._budget.steps(script.steps)
        for problem in script.problems:
            self._unclear(problem)
        if script.error is not None and not self._loose:
            self._unclear(script.error)
        for command in script.commands:
            assigned = {assignment_name(word.raw) for word in command.words}
            assigned |= {one.name for one in command.assignments}
            self._distrusted |= not REDIRECTING.isdisjoint(assigned)
        for command in script.commands:
            self._command(command, road)
        for value in script.values:
            self._value(value, is_loop=True)
        if (name := tainted_calculation(script)) is not None:
            self._unclear(f"its arithmetic uses {name}, whose value is known only at run time")
        if shadowed := script.functions & (tables.HARMLESS | tables.COPYING):
            self._unclear(f"it gives `{min(shadowed)}` another meaning")
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
        given = input_of(command)
        for redirection in command.redirections:
            self._files.redirect(redirection, command)
        if command.words:
            self._invocation(command.words, given, road, sh_only=command.is_guess)

    def _value(self, assignment: Assignment, *, is_loop: bool = False) -> None:
        name, value = assignment.name, assignment.value
        if (name.startswith("BASH_") and name != "BASH_ENV") or name in STATE:
            self._unclear(f"it sets {name}")
        is_executed = EXECUTED.fullmatch(name) is not None
        if is_executed:
            self._executed_value(name, value)
        if value.is_known and not (is_loop and not is_executed):
            self._handed(value.text, f"the value of {name}" if name else "a default value")
        elif value.is_known:
            self.reading.texts.append(HandedText(value.text, f"a value of {name}"))

    def _executed_value(self, name: str, value: Word) -> None:
        """Note a value that a program runs, as a shell line or as code."""
        if value.is_tainted or OPENED_FILE.fullmatch(value.text):
            self._unclear(f"{name} names a program, and its value is known only at run time")
        if EDITING.fullmatch(name) and known.writes_commands(value.text):
            self._unclear(f"{name} may write commands that git runs")
        self._files.run(value, "bash")
        if name in CODE_LANGUAGES:
            self._code(CODE_LANGUAGES[name], value)
        if not value.is_known and FOLDER_LISTS.fullmatch(name) is None:
            # A whole word from the environment is the user's own choice.
            shown = replace(value, text=_WHOLE_ENV.sub(":", value.text))
            self.reading.texts.append(HandedText(shown.text, f"the value of {name}"))
            self._read_loosely(respelled(shown), f"in the value of {name}")

    def _handed(self, text: str, where: str) -> None:
        """Note text that may be run as a line of its own."""
        self.reading.texts.append(HandedText(text, where))
        self._read_loosely(text, where)

    def _read_loosely(self, text: str, where: str) -> None:
        """Parse text that may never run, also in the notation of git and make."""
        if _SHELL_SYNTAX.search(text):
            self._loose += 1
            for spelling in {text, text.replace("$$", "$"), text.lstrip("!@|")}:
                self.line(spelling, where, self.names)
            self._loose -= 1

    # ---- one program

    def _invocation(
        self,
        words: list[Word],
        given: Input,
        road: str | None,
        *,
        sh_only: bool = False,
        nested: bool = False,
    ) -> None:
        self._budget.program()
        self._wrapped += 1
        if self._wrapped > WRAPPERS_MAX:
            self._unclear("too many programs run one another")
        else:
            self._run_program(words, given, road, sh_only=sh_only, nested=nested)
        self._wrapped -= 1

    def _run_program(
        self, words: list[Word], given: Input, road: str | None, *, sh_only: bool, nested: bool
    ) -> None:
        first = words[0]
        if not self._names_program(first):
            self._unknown_program(words, given, road, sh_only=sh_only)
            return
        name = known.program_name(first)
        if first.text.startswith(("/proc/", "/dev/", "=")):
            self._unclear(f"the program is known only at run time: {first.raw}")
        self._files.run(first, BY_NAME if first.text == first.name else BY_PATH)
        self._files.makes_unseen |= name in tables.UNPACKING or known.makes_files(words)
        if name not in tables.IDLE:
            self._files.work(name)
        if self._special(name, words, given if not nested else replace(given, nested=True), road):
            return
        if self._is_harmless(name, first, words):
            self._add(words, road)
            self._harmless(name, words, given)
        else:
            self._add(words, road, f"`{name}` may run its arguments as another program")
            if not nested:
                self._hands_on(words, given)

    def _unknown_program(
        self, words: list[Word], given: Input, road: str | None, *, sh_only: bool
    ) -> None:
        first = words[0]
        is_files = GLOB in first.text and not {ANY, ENV} & set(first.text)
        if is_files and (self._loose or (sh_only and "/" not in first.text)):
            # It may not be a command at all: a file pattern, or arithmetic in bash.
            reason = f"`{first.raw}` may run its arguments as another program"
            self._add(words, road, reason)
            self._hands_on(words, given)
        elif not sh_only or first.is_tainted or is_files:
            self._unclear(f"the program is known only at run time: {first.raw}")

    def _names_program(self, first: Word) -> bool:
        """Whether the word names a known program in any folder."""
        return not first.splits and HOLE.search(first.name) is None

    def _special(self, name: str, words: list[Word], given: Input, road: str | None) -> bool:
        """Handle programs that run others in a known way; return False for all others."""
        if name in SHELLS:
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

    def _wrapper(self, name: str, words: list[Word], given: Input, road: str | None) -> bool:
        if name == "command" and len(words) > 1 and words[1].text in ("-v", "-V"):
            self._add(words, road)
            return True
        inner, assigned, replaced = known.unwrap(tables.WRAPPERS[name], words)
        if inner is None:
            if name == "xargs" and not given.is_empty:
                self._unclear("`xargs` has unknown options, so its command is unknown")
            if name == "env" and any("\\" in word.text for word in words):
                self._unclear("`env` splits text in its own way")
            return False
        self._add(words[: len(words) - len(inner)], road)
        for assignment in assigned:
            self._value(assignment)
        if name == "xargs":
            if not inner:
                return True
            if given.lists_files and inner[0].name in tables.EXECUTING_OPTIONS:
                self._fed.append(name)
            is_list = given.lists_files
            if replaced:
                inner = [filled(word, replaced, by_files=is_list) for word in inner]
            else:
                inner = [*inner, _FED_FILES if is_list else _FED]
            given = Input(is_empty=True, is_given=True)
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
            call = read_tool_call(name, words)
            for problem in call.problems:
                self._unclear(problem)
            return call.is_harmless
        listed = name in tables.HARMLESS or name in tables.EXECUTING_OPTIONS
        return listed and not known.could_execute(name, words[1:])

    def _harmless(self, name: str, words: list[Word], given: Input) -> None:
        if name in ("cd", "pushd", "popd"):
            self.reading.changes_folder = True
        if name in ("set", "shopt") and changes_reading(words[1:]):
            self._unclear(f"`{name}` changes how the rest of the line is read")
        self._variables(name, words, given)
        if name in tables.COPYING or name in tables.WRITING:
            self._files.copy(words[1:])
        printed = [word for word in words[1:] if not word.text.startswith("-")]
        self._printed += [word for word in printed if word.text != _FED_FILES.text]
        if given.text is not None:
            self._printed.append(given.text)

    def _variables(self, name: str, words: list[Word], given: Input) -> None:
        """Note the variables that a command of the shell sets, and subscripts that it evaluates."""
        for word in named_variables(name, words):
            variable = base_name(word)
            if "[" in word.text and re.search(r"[$`]", word.text):
                self._handed(word.text, f"a subscript given to `{name}`")
            if HOLE.search(variable):
                self._unclear(f"the variable that `{name}` uses is known only at run time")
            elif variable not in self.names and NAME.fullmatch(variable):
                self._unclear(f"the name of a variable is built at run time: {word.raw}")
            if name in DECLARING and "=" in word.text:
                text = word.text.partition("=")[2]
                value = Word(text, word.raw, word.plain, word.splits, word.quoted)
                self._value(Assignment(variable, value))
            elif name in SETTING:
                self._value(Assignment(variable, given.text or hole(f"what `{name}` reads")))
                for part in words[1:] if name == "printf" else ():
                    self._handed(part.text, f"what `{name}` writes to {variable}")

    # ---- programs that may run their arguments

    def _hands_on(self, words: list[Word], given: Input) -> None:
        """Look for shells, interpreters and lines in the arguments of a program."""
        name = words[0].name
        if len(words) > WORDS_MAX:
            self._unclear(f"`{name}` has too many arguments to check")
            return
        self._told_later(words, given)
        self._files.touch(words[1:])
        for word in words[1:]:
            for value in {word.text, *option_values(word.text)}:
                # Some programs read a file of options whose name follows an @.
                if not value.startswith("-"):
                    self._files.run(literal(value.lstrip("@")), name)
        for at, word in enumerate(words[1:], 1):
            if given.is_given and given.text is None and STDIN_FILE.fullmatch(word.text):
                self._unclear(f"`{name}` may run what it reads")
            if OPENED_FILE.fullmatch(word.text):
                self._unclear(f"`{name}` may run a file that is known only at run time")
            if not word.is_known:
                self._read_loosely(respelled(word), f"in the arguments of `{name}`")
                continue
            inner = known.program_name(word)
            if inner in SHELLS or inner in tables.INTERPRETERS or inner in _RUNNERS:
                self._invocation(words[at:], given, f"run by `{name}`", nested=True)
            if _JOINED.match(word.text):
                self._unclear(f"`{name}` may have a command joined to an option: {word.raw}")
            if known.calls_program(word.text):
                self._unclear(f"`{name}` may run code that starts programs: {word.raw}")
            for text in option_values(word.text):
                self._read_loosely(text, f"in the arguments of `{name}`")
        if given.text is not None:
            self._handed(given.text.text, f"the standard input of `{name}`")
            if known.calls_program(given.text.text):
                self._unclear(f"`{name}` may run code that starts programs")
            if not given.text.is_known:
                self._unclear(f"the standard input of `{name}` is known only at run time")
        elif given.is_given and not given.is_empty:
            self._fed.append(name)

    def _told_later(self, words: list[Word], given: Input) -> None:
        """Note programs that run their input; a text that only starts like one may not be."""
        name = words[0].name
        if self._loose and not given.is_given:
            return
        operands = [word for word in words[1:] if not word.text.startswith("-")]
        if name in tables.STDIN_RUNNERS and [word.text for word in words[1:]] != ["-l"]:
            self._unclear(f"`{name}` runs what it reads or receives later")
        elif (
            name in tables.OPERANDS_BEFORE
            and (len(operands) < tables.OPERANDS_BEFORE[name] or given.is_given)
        ) or (name in ("su", "script", "sudo", "runuser", "systemd-run") and len(words) < 3):
            self._unclear(f"`{name}` may run a shell that reads its commands from elsewhere")

    # ---- shells

    def _shell(self, words: list[Word], given: Input) -> None:
        name, call = words[0].name, read_shell_call(words[0].name, words)
        at = call.operands
        if call.problem is not None:
            self._unclear(call.problem)
        for file in call.start_files:
            self._script_file(name, [file])
            if file.is_tainted or file.splits or OPENED_FILE.fullmatch(file.text):
                self._unclear(f"the start-up file of `{name}` is known only at run time")
        for started in _START_FILES if call.starts_up else ():
            self._files.run(literal(started), name)
        if call.reads_code:
            self._shell_code(name, words, at)
        elif at < len(words) and OPENED_FILE.fullmatch(words[at].text):
            self._unclear(f"the script that `{name}` runs is known only at run time")
        elif call.reads_stdin or at >= len(words) or STDIN_FILE.fullmatch(words[at].text):
            if not {"--version", "--help"} & {word.text for word in words[1:]}:
                self._shell_stdin(name, given)
        elif not words[at].is_known and (words[at].is_tainted or words[at].splits):
            self._unclear(f"the script that `{name}` runs is known only at run time")
        else:
            self._script_file(name, words[at:])

    def _script_file(self, name: str, words: list[Word]) -> None:
        self._files.run(words[0], name)
        self._add(words, f"run by `{name}`")

    def _shell_code(self, name: str, words: list[Word], at: int) -> None:
        if at >= len(words):
            return
        if not words[at].is_known or words[at].splits:
            self._unclear(f"the code of `{name} -c` is built at run time")
            return
        self.line(words[at].text, f"in the code of `{name} -c`", self.names)

    def _shell_stdin(self, name: str, given: Input) -> None:
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
                self._unclear("the arguments of `eval` are known only at run time")
            else:
                self.line(" ".join(word.text for word in rest), "run by `eval`", self.names)
        elif name == "trap":
            rest = [word for word in rest if word.text not in ("--", "-p", "-l", "-")]
            if rest and not rest[0].is_known:
                self._unclear("the command of `trap` is known only at run time")
            elif rest:
                self.line(rest[0].text, "run by `trap`", self.names)
        elif name in ("source", "."):
            self._sourced(name, rest)
        elif name == "let":
            for word in rest:
                self._handed(word.text, "an expression of `let`")
                if not word.is_known:
                    self._unclear("`let` evaluates text that is known only at run time")
        elif rest and not all(re.fullmatch(r"-[rpldtn]*", word.text) for word in rest):
            self._unclear(f"`{name}` gives a name another meaning")

    def _sourced(self, name: str, rest: list[Word]) -> None:
        if not rest:
            return
        file = rest[0]
        opened = STDIN_FILE.fullmatch(file.text) or OPENED_FILE.fullmatch(file.text)
        if file.is_tainted or file.splits or opened:
            self._unclear(f"the file that `{name}` reads is known only at run time")
        else:
            self._script_file("sh", rest)

    # ---- other languages

    def _interpreter(self, name: str, words: list[Word], given: Input) -> None:
        if len(words) > WORDS_MAX:
            self._unclear(f"`{name}` has too many arguments to check")
            return
        rest = words[1:]
        call = read_interpreter_call(name, rest)
        for file in call.files:
            self._files.run(file, name)
            if OPENED_FILE.fullmatch(file.text):
                self._unclear(f"the script that `{name}` runs is known only at run time")
        for word in call.code:
            self._code(name, word)
        for word in call.data:
            self.reading.texts.append(HandedText(word.text, f"the arguments of `{name}`"))
        if call.script is not None:
            self._script_file(name, rest[call.script :])
            if OPENED_FILE.fullmatch(rest[call.script].text):
                self._unclear(f"the script that `{name}` runs is known only at run time")
        if call.problem is not None:
            self._unclear(call.problem)
        if call.reads_stdin or (call.takes_input and given.is_given):
            self._interpreter_stdin(name, given)
        for word in rest if call.writes_files else ():
            self._files.mention(word.text)

    def _interpreter_stdin(self, name: str, given: Input) -> None:
        if given.is_empty or (given.nested and not given.is_given):
            return
        if given.text is None:
            self._unclear(f"`{name}` reads its code from its standard input")
        else:
            self._code(name, given.text)

    def _code(self, name: str, code: Word, where: str | None = None) -> None:
        where = where or f"`{name}`"
        if code.is_tainted or (code.splits and ENV in code.text):
            self._unclear(f"the code of {where} is built at run time")
        elif known.starts_programs(name, code.text):
            self._unclear(f"the code of {where} may start programs that it does not name")
        elif "sed" in name:
            return
        self.reading.texts.append(HandedText(code.text, f"the code of {where}", is_code=True))
        if name not in tables.STREAM_EDITORS:
            self._files.mention(code.text)
        for file in _LOADED.findall(code.text):
            self._files.run(literal(file), name)

    def _find(self, words: list[Word], given: Input) -> None:
        if len(words) > WORDS_MAX:
            self._unclear("`find` has too many arguments to check")
            return
        call = read_find_call(words)
        if call.problem is not None:
            self._unclear(call.problem)
        for word in call.data:
            self.reading.texts.append(HandedText(word.text, "the arguments of `find`"))
        for word in call.writes:
            self._files.write(word)
        for inner in call.runs:
            self._invocation(inner, given, "run by `find`")

    # ---- the line as a whole

    def finish(self) -> None:
        """Compare the files that the line writes with those that it runs."""
        for word in self._printed if self._fed else ():
            self._handed(word.text, f"text that `{self._fed[0]}` may read")
            if known.calls_program(word.text):
                self._unclear(f"text that `{self._fed[0]}` may read has code that starts programs")
            if not word.is_known or set("\\%") & set(word.text):
                self._unclear(f"text that `{self._fed[0]}` may read is built at run time")
        # A file that the line writes and runs may in turn write and run others.
        done: set[OwnFile] = set()
        for _ in range(DEPTH_MAX):
            found = set(self._files.own_files()) - done
            for own in sorted(found, key=lambda one: (one.name, one.runner, one.text or "")):
                self._own_file(own)
            if not found:
                return
            done |= found
        self._unclear("it writes and runs files that write and run others")

    def _own_file(self, own: OwnFile) -> None:
        if own.text is None and own.reason:
            self._unclear(own.reason)
        elif own.text is None:
            for word in self._printed:
                self._code(own.runner, word, own.name)
        elif own.runner == OBEYED:
            self._handed(own.text, f"the text that the line writes to {own.name}")
            if own.language is not None:
                self._code(own.language, literal(own.text), own.name)
        elif own.runner in tables.INTERPRETERS or own.runner == "pytest":
            self._code(own.runner, literal(own.text), own.name)
        else:
            self.line(own.text, f"in {own.name}, which the line writes", self.names)


# A file that code loads; data is loaded in the same way.
_LOADED = re.compile(
    r"\b(?:do|require\w*|load\w*|include\w*)\b[\s(]*['\"]([^'\"]+)(?<!\.json)['\"]"
)
_WHOLE_ENV = re.compile(rf"(?<!\S){ENV}(?!\S)")
_START_FILES = (".bashrc", ".bash_profile", ".bash_login", ".profile", ".zshrc", ".zshenv")
_FED = hole("the input of `xargs`")
_FED_FILES = Word(f"./{GLOB}", "the input of `xargs`", plain=False, splits=True)
_RUNNERS = frozenset({"eval", "source", "exec", "find", "busybox", *tables.WRAPPERS})
