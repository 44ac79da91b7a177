"""The shell grammar: every simple command of a line, at whatever depth it stands.

Reads POSIX sh and bash.  Where a plain sh runs something that bash does not, such as the words
after `&&` in `[[ a && b ]]`, that command is found too and marked `sh_only`.

Always holds
    * A line that is read without errors and problems runs no program but the commands found, as
      far as their words are known.
    * Reading ends: nesting has a bound, and what is beyond it is not understood.
"""

from __future__ import annotations

import contextlib
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from accord.client.shell.parse_limits import STEPS_MAX
from accord.client.shell.scanner import (
    BLANKS,
    NAME,
    RESERVED,
    Readers,
    Scanner,
)
from accord.client.shell.syntax_tree import (
    Assignment,
    NotUnderstood,
    Redirection,
    Script,
    SimpleCommand,
    SyntaxProblem,
    Word,
    assignment_name,
    hole,
    literal,
)

_KEYWORD = re.compile(
    r"(?:if|then|elif|else|fi|for|select|while|until|do|done|case|esac|function|time|coproc"
    r"|\[\[|!|\{|\})(?=[\s;&|<>()]|$)"
)
_OUT_OF_PLACE = frozenset({"then", "elif", "else", "fi", "do", "done", "esac", "}"})
_REDIRECTION = re.compile(
    r"(?P<descriptor>[0-9]+|\{[A-Za-z_]\w*\})?(<<<|<<-|<<(?!\()|<>|<&|>>|>\||>&|<(?!\()|>(?!\())|(&>>|&>)"
)
_SEPARATOR = re.compile(r"&&|\|\||\|&|\||;(?![;&])|&(?!>)")
# No expansion happens in the delimiter of a here-document, and shells remove quotes differently.
_DELIMITER = re.compile(r"[\w.!%+,:/@^-]+|\\\w+|'[^'\n]*'|\"[^\"$`\\\n]*\"")
_CASE_END = re.compile(r";;&|;;|;&")
_ASSIGNED = re.compile(r"[A-Za-z_]\w*(?:\[([^]\n]*)\])?\+?=")
_FUNCTION = re.compile(r"[ \t]*\([ \t]*\)")
_DECLARING = frozenset({"export", "declare", "local", "readonly", "typeset"})
_NUMERIC_TESTS = frozenset({"-eq", "-ne", "-lt", "-le", "-gt", "-ge", "-v"})


def read_script(
    text: str, names: frozenset[str] = frozenset(), *, wildcards: bool = False
) -> Script:
    """Read a line.

    `names` are variables that are assigned around the line.  With `wildcards`, `*` and `?` are
    ordinary characters.
    """
    script = Script()
    if not RESERVED.isdisjoint(text) or "\0" in text:
        script.problems.append("it has characters that no command contains")
        return script
    assigned = names | assigned_names(text)
    parser = _Parser(text, script, assigned, wildcards=wildcards)
    try:
        parser.commands(())
    except SyntaxProblem as error:
        script.error = str(error)
    except NotUnderstood as error:
        script.problems.append(str(error))
    if script.steps > STEPS_MAX and not script.problems:
        script.problems.append("it has too many parts to check")
    return script


def assigned_names(text: str) -> frozenset[str]:
    """Names that stand in a text other than as `$NAME`, so that it may assign them."""
    return frozenset(
        found[0]
        for found in NAME.finditer(text)
        if not text.endswith(("$", "${"), 0, found.start())
        or text.startswith((":=", "="), found.end())
    )


@dataclass(slots=True)
class _Heredoc:
    """A here-document whose body begins on the next line."""

    command: SimpleCommand
    index: int
    delimiter: str
    strips: bool
    literal: bool


class _Parser:
    """Reads one text into a script that several texts may share."""

    def __init__(
        self,
        text: str,
        script: Script,
        names: frozenset[str],
        *,
        piped: bool = False,
        sh_only: bool = False,
        wildcards: bool = False,
    ) -> None:
        self._scan = Scanner(
            text,
            script,
            names,
            Readers(self._substituted, self._nested, self._read_as_sh),
            wildcards=wildcards,
        )
        self._script = script
        self._names = names
        self._piped = piped
        self._sh_only = sh_only
        # The simple command that was read last, and the one whose output the next one reads.
        self._latest: SimpleCommand | None = None
        self._upstream: SimpleCommand | None = None
        self._heredocs: list[_Heredoc] = []

    # ---- lists

    def commands(self, closers: Sequence[str]) -> str:
        """Read commands up to one of the closers, which is taken; nothing means the whole text."""
        self._script.enter()
        outer = self._piped
        while True:
            self._skip_lines()
            closer = self._closer(closers)
            if closer is not None:
                break
            self._latest = None
            self._command()
            self._upstream = None
            self._skip_blanks()
            separator = self._scan.match(_SEPARATOR)
            self._piped = outer
            if separator is not None:
                self._scan.at = separator.end()
                self._script.is_simple = False
                self._piped = outer or separator[0] in ("|", "|&")
                self._upstream = self._latest if separator[0] == "|" else None
        self._latest = self._upstream = None
        self._script.leave()
        self._piped = outer
        return closer

    def _closer(self, closers: Sequence[str]) -> str | None:
        scan = self._scan
        if scan.at >= len(scan.text):
            if closers:
                raise SyntaxProblem(f"{closers[-1]} is missing")
            return ""
        for closer in closers:
            if closer == ")" or closer.startswith(";"):
                if scan.take(closer):
                    return closer
                continue
            found = scan.match(_KEYWORD)
            if found is not None and found[0] == closer:
                scan.at = found.end()
                return closer
        if scan.peek() == ")" or scan.match(_CASE_END):
            raise SyntaxProblem(f"{scan.peek()} is out of place")
        return None

    def _skip_blanks(self) -> None:
        scan = self._scan
        while True:
            if scan.peek() and scan.peek() in BLANKS:
                scan.at += 1
            elif scan.peek(2) == "\\\n":
                scan.continuation()
                self._script.is_simple = False
            else:
                return

    def _skip_lines(self) -> None:
        """Skip blanks, ends of lines and comments; bodies of here-documents begin here."""
        scan = self._scan
        while True:
            self._skip_blanks()
            if scan.peek() == "#":
                self._script.is_simple = False
                end = scan.text.find("\n", scan.at)
                scan.at = len(scan.text) if end < 0 else end
            elif scan.take("\n"):
                self._script.is_simple = False
                self._read_bodies()
            else:
                return

    # ---- substitutions

    def _substituted(self) -> None:
        waiting, self._heredocs = self._heredocs, []
        start, simple = self._scan.at, self._script.is_simple
        self.commands((")",))
        if waiting and "\n" in self._scan.text[start : self._scan.at]:
            raise NotUnderstood("a here-document begins inside a substitution")
        self._heredocs = waiting
        self._script.is_simple = simple

    def _nested(self, text: str) -> None:
        simple = self._script.is_simple
        self._parser(text).commands(())
        self._script.is_simple = simple

    def _parser(self, text: str, *, sh_only: bool = False) -> _Parser:
        return _Parser(
            text,
            self._script,
            self._names,
            piped=self._piped,
            sh_only=sh_only or self._sh_only,
        )

    def _read_as_sh(self, text: str) -> None:
        """Note what a plain sh would run in a text that means something else to bash."""
        problems, nesting = len(self._script.problems), self._script.nesting
        with contextlib.suppress(SyntaxProblem, NotUnderstood):
            self._parser(text, sh_only=True).commands(())
        del self._script.problems[problems:]
        self._script.nesting = nesting

    # ---- here-documents

    def _read_bodies(self) -> None:
        scan = self._scan
        for waiting in self._heredocs:
            lines: list[str] = []
            while scan.at < len(scan.text):
                end = scan.text.find("\n", scan.at)
                end = len(scan.text) if end < 0 else end
                line = scan.text[scan.at : end]
                scan.at = min(end + 1, len(scan.text))
                if waiting.strips:
                    line = line.lstrip("\t")
                if line == waiting.delimiter:
                    break
                if not waiting.literal and line.endswith("\\"):
                    raise NotUnderstood("a line of a here-document goes on in the next one")
                lines.append(line + "\n")
            body = "".join(lines)
            word = literal(body)
            if not waiting.literal:
                word = self._parser(body)._scan.rest()
            place = waiting.command.redirections
            place[waiting.index] = replace(place[waiting.index], body=word)
        self._heredocs = []

    # ---- redirections

    def _redirection(self, command: SimpleCommand) -> str | None:
        """Take a redirection into the command; its operator, or None where there is none."""
        scan = self._scan
        found = scan.match(_REDIRECTION)
        if found is None:
            return None
        descriptor = found["descriptor"] or ""
        operator = found[0].removeprefix(descriptor)
        scan.at = found.end()
        self._skip_blanks()
        target = scan.word()
        if target is None:
            raise SyntaxProblem(f"nothing follows {operator}")
        if operator in (">&", "<&") and (target.is_tainted or set("$`") & set(target.text)):
            # Bash expands such a target twice.
            self._script.problems.append(f"the target of {operator} is built at run time")
        if operator in ("<<", "<<-"):
            found_delimiter = _DELIMITER.fullmatch(target.raw)
            if found_delimiter is None:
                raise NotUnderstood("shells differ about the end of a here-document")
            index, is_literal = len(command.redirections), target.quoted
            self._heredocs.append(
                _Heredoc(command, index, target.text, operator == "<<-", is_literal)
            )
            command.redirections.append(Redirection(operator, target, literal(""), descriptor))
        else:
            body = target if operator == "<<<" else None
            command.redirections.append(Redirection(operator, target, body, descriptor))
        return operator

    def _trailing_redirections(self, first: int) -> None:
        """Redirections of a compound command whose commands begin at this index."""
        command = SimpleCommand(sh_only=self._sh_only)
        self._skip_blanks()
        while self._redirection(command):
            self._skip_blanks()
        if not command.redirections:
            return
        if any(one.is_input for one in command.redirections):
            for inside in self._script.commands[first:]:
                inside.piped = True
        self._script.commands.append(command)

    # ---- commands

    def _command(self) -> None:
        scan, script = self._scan, self._script
        script.step()
        self._skip_blanks()
        first = len(script.commands)
        if scan.peek() == "(":
            script.is_simple = False
            if scan.peek(2) != "((" or not self._arithmetic_command():
                scan.at += 1
                self.commands((")",))
            self._trailing_redirections(first)
            return
        found = scan.match(_KEYWORD)
        if found is None:
            self._simple()
            return
        script.is_simple = False
        keyword = found[0]
        if keyword in _OUT_OF_PLACE:
            raise SyntaxProblem(f"`{keyword}` is out of place")
        scan.at = found.end()
        if keyword in ("!", "time", "coproc"):
            self._prefixed(keyword)
            return
        {
            "{": self._group,
            "if": self._if,
            "for": self._for,
            "select": self._for,
            "while": self._while,
            "until": self._while,
            "case": self._case,
            "function": self._function,
            "[[": self._conditional,
        }[keyword]()
        self._trailing_redirections(first)

    def _prefixed(self, keyword: str) -> None:
        self._skip_blanks()
        if keyword == "time" and self._scan.take("-p"):
            self._skip_blanks()
        if keyword == "coproc":
            # `coproc NAME { ...; }` names the process; a simple command has no name.
            named = self._scan.match(re.compile(r"[A-Za-z_]\w*[ \t]+(?=[({])"))
            if named is not None and named[0].strip() not in ("if", "while", "until", "for"):
                self._scan.at = named.end()
        if self._scan.peek() not in ("", "\n", ";", "&", "|", ")"):
            self._command()

    def _group(self) -> None:
        self.commands(("}",))

    def _if(self) -> None:
        self.commands(("then",))
        while True:
            closer = self.commands(("elif", "else", "fi"))
            if closer == "elif":
                self.commands(("then",))
            elif closer == "else":
                self.commands(("fi",))
                return
            else:
                return

    def _while(self) -> None:
        self.commands(("do",))
        self.commands(("done",))

    def _for(self) -> None:
        scan = self._scan
        self._skip_blanks()
        if scan.take("(("):
            scan.arithmetic("))")
        else:
            name = scan.word()
            if name is None or not NAME.fullmatch(name.raw):
                raise SyntaxProblem("a loop has no variable")
            self._skip_lines()
            if scan.match(re.compile(r"in(?=[\s;]|$)")):
                scan.at += 2
                self._loop_words(name.raw)
            else:
                self._script.values.append(Assignment(name.raw, hole("$@")))
        self._skip_blanks()
        scan.take(";")
        self._skip_lines()
        opening = scan.match(_KEYWORD)
        if opening is None or opening[0] not in ("do", "{"):
            raise SyntaxProblem("a loop has no body")
        scan.at = opening.end()
        self.commands(("done",) if opening[0] == "do" else ("}",))

    def _loop_words(self, name: str) -> None:
        while True:
            self._skip_blanks()
            # A comment ends the words.
            word = None if self._scan.peek() == "#" else self._scan.word()
            if word is None:
                return
            self._script.values.append(Assignment(name, word))

    def _case(self) -> None:
        scan = self._scan
        self._skip_blanks()
        if scan.word() is None:
            raise SyntaxProblem("`case` has no word")
        self._skip_lines()
        if not scan.match(re.compile(r"in(?=\s|$)")):
            raise SyntaxProblem("`in` is missing")
        scan.at += 2
        while True:
            self._skip_lines()
            found = scan.match(_KEYWORD)
            if found is not None and found[0] == "esac":
                scan.at = found.end()
                return
            scan.take("(")
            self._case_patterns()
            if self.commands((";;&", ";;", ";&", "esac")) == "esac":
                return

    def _case_patterns(self) -> None:
        while True:
            self._skip_blanks()
            if self._scan.word() is None:
                raise SyntaxProblem("a pattern is missing")
            self._skip_blanks()
            if self._scan.take(")"):
                return
            if not self._scan.take("|"):
                raise SyntaxProblem(") is missing")

    def _function(self) -> None:
        self._skip_blanks()
        name = self._scan.word()
        if name is None:
            raise SyntaxProblem("a function has no name")
        self._script.functions.add(name.text)
        found = self._scan.match(_FUNCTION)
        if found is not None:
            self._scan.at = found.end()
        self._function_body()

    def _function_body(self) -> None:
        self._script.is_simple = False
        self._skip_lines()
        self._command()

    def _conditional(self) -> None:
        """`[[ ... ]]`, whose `&&` and `||` are operators of a plain sh."""
        scan, start, words = self._scan, self._scan.at, list[Word]()
        while True:
            self._skip_lines()
            if scan.match(re.compile(r"\]\](?=[\s;&|<>()]|$)")):
                break
            if scan.at >= len(scan.text):
                raise SyntaxProblem("]] is missing")
            word = None if scan.peek(2) in ("!(",) else scan.word()
            if word is None:
                scan.at += 1
            else:
                words.append(word)
        inside = scan.text[start : scan.at]
        scan.at += 2
        if any(word.text in _NUMERIC_TESTS for word in words):
            for word in words:
                scan.use_in_arithmetic(word)
        self._read_as_sh(f"test {inside} ]]")

    def _arithmetic_command(self) -> bool:
        """`((...))`, which a plain sh reads as two subshells; False where it is that to all."""
        scan, start = self._scan, self._scan.at
        if not scan.try_arithmetic(2):
            return False
        self._read_as_sh(scan.text[start + 2 : scan.at - 2])
        return True

    # ---- simple commands

    def _simple(self) -> None:
        scan = self._scan
        command = SimpleCommand(
            piped=self._piped,
            upstream=self._upstream,
            sh_only=self._sh_only,
            is_guess=self._sh_only,
        )
        self._upstream = None
        place, begun = len(self._script.commands), scan.at
        for_sh: SimpleCommand | None = None
        while not self._is_over():
            words = len(command.words)
            operator = self._redirection(command)
            if operator is not None:
                if operator.startswith("&") and command.words and for_sh is None:
                    # A plain sh ends the command at `&` and begins another.
                    for_sh = SimpleCommand(sh_only=True)
            elif not self._assignment(command):
                if scan.peek() == "(":
                    self._function_or_problem(command, place)
                    return
                word = scan.word()
                assert word is not None, "operators end a command"
                command.words.append(word)
            if for_sh is not None:
                for_sh.words += command.words[words:]
        if scan.at == begun:
            raise SyntaxProblem(f"{scan.peek(2)} is out of place")
        self._script.commands.insert(place, command)
        self._latest = command
        if for_sh is not None and for_sh.words:
            self._script.commands.append(for_sh)

    def _is_over(self) -> bool:
        self._skip_blanks()
        following = self._scan.peek()
        if following == "#":
            return True
        return following in ("", "\n", ";", "|", ")") or (
            following == "&" and self._scan.peek(2) != "&>"
        )

    def _assignment(self, command: SimpleCommand) -> bool:
        scan = self._scan
        found = scan.match(_ASSIGNED)
        declares = bool(command.words) and command.words[0].text in _DECLARING
        if found is None or (command.words and not (declares and self._opens_array(found))):
            return False
        name, start = assignment_name(found[0]), scan.at
        assert name is not None
        if found[1]:
            self._subscript(found[1])
        scan.at = found.end()
        if scan.take("("):
            self._array(command, name, scan.text[start : scan.at])
        else:
            value = scan.word() or literal("")
            command.assignments.append(Assignment(name, value))
        return True

    def _opens_array(self, found: re.Match[str]) -> bool:
        return self._scan.text.startswith("(", found.end())

    def _subscript(self, text: str) -> None:
        parser = self._parser(f"{text}]")
        try:
            parser._scan.arithmetic("]")
        except SyntaxProblem:
            raise NotUnderstood("a subscript cannot be read") from None

    def _array(self, command: SimpleCommand, name: str, raw: str) -> None:
        while True:
            self._skip_lines()
            if self._scan.take(")"):
                return
            word = self._scan.word()
            if word is None:
                raise SyntaxProblem(f"{raw} is not closed")
            command.assignments.append(Assignment(name, word))

    def _function_or_problem(self, command: SimpleCommand, place: int) -> None:
        found = self._scan.match(_FUNCTION)
        named = len(command.words) == 1 and not command.assignments and not command.redirections
        if found is None or not named:
            self._script.commands.insert(place, command)
            raise SyntaxProblem("( is out of place")
        self._scan.at = found.end()
        self._script.functions.add(command.words[0].text)
        self._function_body()
