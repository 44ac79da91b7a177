"""Words of the shell language: quoting, expansions and the substitutions inside them.

Follows POSIX and bash.  Where the two disagree about where a word ends, the line is not understood.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

from accord.client.shell.parse_limits import NESTING_MAX
from accord.client.shell.syntax_tree import (
    ANY,
    ENV,
    GLOB,
    Assignment,
    NotUnderstood,
    Script,
    SyntaxProblem,
    Word,
)

BLANKS = " \t"
# Characters, and the ends of the text, that cannot be a part of an operator or a name.
_APART = ("", " ", "\t", "\n")
METACHARACTERS = frozenset(" \t\n;&|<>()")
NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")

# Unquoted brackets and braces, until the end of the word says what they mean.
_BRACKET, _BRACKET_END = "\ue003", "\ue004"
_BRACE, _COMMA, _BRACE_END = "\ue005", "\ue006", "\ue007"
_MARKS = {"[": _BRACKET, "]": _BRACKET_END, "{": _BRACE, ",": _COMMA, "}": _BRACE_END}
_UNMARK = str.maketrans({mark: char for char, mark in _MARKS.items()})
RESERVED = frozenset(map(chr, range(0xE000, 0xE008)))
"""Characters that represent holes and marks; a line must not contain them."""

_SET_EXPRESSION = re.compile(f"{_BRACKET}[^{_BRACKET}{_BRACKET_END}/]+{_BRACKET_END}")
_ANSI = re.compile(
    r"\\(?:([abeEfnrtv\\\"?])|([0-7]{1,3})|x([0-9A-Fa-f]{1,2})|u([0-9A-Fa-f]{1,4})"
    r"|U([0-9A-Fa-f]{1,8})|c(.))",
    re.DOTALL,
)
_ANSI_LETTERS = dict(zip("abeEfnrtv", "\a\b\x1b\x1b\f\n\r\t\v", strict=True))
_KEYS = re.compile(r"![A-Za-z_]\w*(?:\[[@*]\]|[@*])$")
_SPECIAL = "?#$!-"
_SET_BY_SHELL = frozenset(
    (
        "_", "REPLY", "MAPFILE", "OPTARG", "BASH_REMATCH", "BASH_COMMAND", "BASH_ARGV",
        "BASH_ARGV0", "FUNCNAME", "DIRSTACK", "BASH_EXECUTION_STRING", "COPROC", "READLINE_LINE"
    )
)  # fmt: skip
_WELL_KNOWN = frozenset(
    (
        "HOME", "PWD", "OLDPWD", "USER", "LOGNAME", "TMPDIR", "HOSTNAME", "UID", "EUID", "PPID",
        "RANDOM", "SECONDS", "LINENO", "BASHPID", "EPOCHSECONDS", "PATH", "VIRTUAL_ENV",
        "CONDA_PREFIX", "NVM_DIR", "CARGO_HOME", "GOPATH", "PYENV_ROOT", "JAVA_HOME",
        "XDG_CONFIG_HOME", "XDG_CACHE_HOME", "XDG_DATA_HOME", "XDG_RUNTIME_DIR"
    )
)  # fmt: skip
_LAYOUT = re.compile(r"[\n\t]")


@dataclass(frozen=True, slots=True)
class Readers:
    """What reads the commands inside of words.

    `substitution` reads those of `$(...)` up to the closing parenthesis, at the scanner's position;
    `nested` reads a text that is a line of its own, and `as_sh` one that is a line to sh only.
    """

    substitution: Callable[[], None]
    nested: Callable[[str], None]
    as_sh: Callable[[str], None]


class Scanner:
    """A position in a text, and what is read from there on.

    `names` are the variables that the line may assign.
    """

    def __init__(
        self,
        text: str,
        script: Script,
        names: frozenset[str],
        readers: Readers,
        *,
        wildcards: bool = False,
    ) -> None:
        self.text = text
        self.at = 0
        self.script = script
        self.names = names
        self._substitution = readers.substitution
        self._nested = readers.nested
        self._as_sh = readers.as_sh
        self._wildcards = wildcards
        # Where no expression was found, so that it is not tried again.
        self._no_arithmetic: set[int] = set()

    # ---- positions

    def peek(self, length: int = 1) -> str:
        """The next characters, without taking them."""
        return self.text[self.at : self.at + length]

    def take(self, expected: str) -> bool:
        """Skip a text if it is here."""
        if not self.text.startswith(expected, self.at):
            return False
        self.at += len(expected)
        return True

    def match(self, pattern: re.Pattern[str]) -> re.Match[str] | None:
        """Match a pattern here, without taking it."""
        return pattern.match(self.text, self.at)

    # ---- words

    def word(self) -> Word | None:
        """Return the word that begins here; None at an operator or at the end."""
        start, built = self.at, _Built()
        if self.peek() == "~":
            self._tilde(built)
        while self.at < len(self.text):
            char = self.text[self.at]
            if char in METACHARACTERS:
                if char not in "<>" or self.peek(2)[1:] != "(":
                    break
                self.at += 2
                self._substitution()
                built.add("/dev/fd/63", plain=False)
            else:
                self._unquoted(char, built)
        return built.word(self.text[start : self.at]) if self.at > start else None

    def _tilde(self, built: _Built) -> None:
        found = re.compile(r"~[A-Za-z0-9_+.-]*").match(self.text, self.at)
        assert found is not None
        self.at = found.end()
        built.add(ENV, plain=False)

    def _unquoted(self, char: str, built: _Built) -> None:
        if char == "\\":
            self._escape(built)
        elif char == "'":
            self._single(built)
        elif char == '"':
            self.at += 1
            self.expansions(built, '"')
        elif char == "$":
            self._dollar(built, quoted=False)
        elif char == "`":
            self._backtick(built, quoted=False)
        elif char in "?*+@!" and self.peek(2)[1:] == "(":
            raise NotUnderstood("it has an extended pattern, which shells read differently")
        else:
            self.at += 1
            if char in "*?" and not self._wildcards:
                built.add(GLOB, plain=False, splits=True)
            else:
                plain = char.isprintable() and char not in "[]{}~#!^"
                built.add(_MARKS.get(char, char), plain=plain)

    def _escape(self, built: _Built) -> None:
        following = self.peek(2)[1:]
        built.plain = False
        if following == "\n":
            self.continuation()
            return
        self.at += 2
        built.quote(following or "\\", plain=False)

    def continuation(self) -> None:
        """Step over the end of a line that goes on in the next one.

        Raises:
            NotUnderstood: it stands inside of a word, where it may split an operator or a name.
        """
        before, after = self.text[max(self.at - 1, 0) : self.at], self.text[self.at + 2 :][:1]
        if before not in _APART and after not in _APART:
            raise NotUnderstood("a line goes on in the next one in the middle of a word")
        self.at += 2

    def _single(self, built: _Built) -> None:
        end = self.text.find("'", self.at + 1)
        if end < 0:
            raise SyntaxProblem("a single quote is not closed")
        inside = self.text[self.at + 1 : end]
        self.at = end + 1
        built.quote(inside, plain=_LAYOUT.sub("", inside).isprintable())

    def expansions(self, built: _Built, end: str) -> None:
        """Read text in which only `$`, backticks and backslashes count, up to its end.

        `end` is the closing double quote, or nothing for the whole rest of the text.
        """
        built.quoted = True
        while self.at < len(self.text):
            char = self.text[self.at]
            if char == end:
                self.at += 1
                return
            if char == "\\":
                following = self.peek(2)[1:]
                if following == "\n":
                    self.continuation()
                    continue
                escaped = following and following in f"$`\\{end or ''}"
                self.at += 2 if escaped else 1
                built.quote(following if escaped else "\\", plain=False)
            elif char == "$":
                self._dollar(built, quoted=True)
            elif char == "`":
                self._backtick(built, quoted=True)
            else:
                self.at += 1
                built.quote(char, plain=char in "\n\t" or (char.isprintable() and char != "!"))
        if end:
            raise SyntaxProblem("a double quote is not closed")

    def rest(self) -> Word:
        """The rest of the text as the body of a here-document: quotes mean nothing in it."""
        start, built = self.at, _Built()
        self.expansions(built, "")
        return built.word(self.text[start:])

    # ---- expansions

    def _dollar(self, built: _Built, *, quoted: bool) -> None:
        built.plain = False
        self.script.enter()
        self._expansion(built, quoted=quoted)
        self.script.leave()

    def _expansion(self, built: _Built, *, quoted: bool) -> None:
        following = self.peek(2)[1:]
        if self.peek(3) == "$((" and self._arithmetic_expansion(built):
            return
        if following == "(":
            self.at += 2
            before = len(self.script.commands)
            self._substitution()
            self._output(built, before, quoted=quoted)
        elif following == "{":
            self.at += 2
            self._parameter(built, quoted=quoted)
        elif following == "[":
            self.at += 2
            start = self.at
            self.arithmetic("]")
            if not METACHARACTERS.isdisjoint(self.text[start : self.at]):
                # To a plain sh it is not an expression, and the line goes on.
                self._as_sh(f"echo {self.text[start : self.at]}")
            built.add("0", plain=False)
        elif following == "'" and not quoted:
            self.at += 1
            self._ansi(built)
        elif following == '"' and not quoted:
            self.at += 2
            self.expansions(built, '"')
        elif following and following in _SPECIAL:
            self.at += 2
            built.add("0", plain=False)
        elif following and (following in "@*" or following.isdigit()):
            self.at += 2
            built.add(ANY, plain=False, splits=not quoted or following == "@")
        elif found := NAME.match(self.text, self.at + 1):
            self.at = found.end()
            self._variable(built, found[0], quoted=quoted)
        else:
            self.at += 1
            built.add("$", plain=False)

    def _variable(self, built: _Built, name: str, *, quoted: bool) -> None:
        if name in self.names or name in _SET_BY_SHELL:
            built.add(ANY, plain=False, splits=not quoted)
        elif name in _WELL_KNOWN:
            # It never contains a program or blanks, so it stays as written.
            built.add(f"${name}", plain=False)
        else:
            built.add(ENV, plain=False, splits=not quoted)

    def _arithmetic_expansion(self, built: _Built) -> bool:
        """Read `$((...))`; False where it turns out to be `$( (...) ...)`."""
        if not self.try_arithmetic(3):
            return False
        built.add("0", plain=False)
        return True

    def try_arithmetic(self, opening: int) -> bool:
        """Read an expression up to `))` behind its opening; False where it is none."""
        start, before, nesting = self.at, len(self.script.commands), self.script.nesting
        if start in self._no_arithmetic:
            return False
        self.at += opening
        try:
            self.arithmetic("))")
        except SyntaxProblem:
            self._no_arithmetic.add(start)
            self.at, self.script.nesting = start, nesting
            del self.script.commands[before:]
            return False
        return True

    def arithmetic(self, end: str) -> None:
        """Read an arithmetic expression up to its end.

        Variables in it are evaluated in turn, and a value such as `a[$(rm x)]` runs a command.
        """
        start, depth, built = self.at, 0, _Built()
        while self.at < len(self.text):
            char = self.text[self.at]
            if depth == 0 and self.text.startswith(end, self.at):
                self.use_in_arithmetic(built.word(self.text[start : self.at]))
                self.at += len(end)
                return
            if char in "([":
                depth += 1
                if depth > NESTING_MAX:
                    break
            elif char in ")]":
                depth -= 1
                if depth < 0:
                    break
            if char == "$":
                self._dollar(built, quoted=True)
            elif char == "`":
                self._backtick(built, quoted=True)
            elif self.peek(2) in ("\\$", "\\`"):
                raise NotUnderstood("an arithmetic expression has a quoted expansion")
            else:
                # Quotes do not keep anything from being expanded here.
                self.at += 2 if char == "\\" else 1
        raise SyntaxProblem("an arithmetic expression is not closed")

    def use_in_arithmetic(self, word: Word) -> None:
        """Note the variables of an expression, and whether it is built at run time."""
        self.script.arithmetic.update(NAME.findall(word.raw))
        if re.search(r"['\"\\].*[$`]", word.raw, re.DOTALL) and "[" in word.raw:
            self.script.problems.append("an arithmetic expression has a quoted expansion")
        if "$(" in word.raw and ANY in word.text:
            self.script.problems.append("its arithmetic uses the output of a command")
        elif re.search(r"\$[0-9@*]|\$\{[0-9@*!]", word.raw):
            self.script.problems.append("its arithmetic uses its arguments")

    def _parameter(self, built: _Built, *, quoted: bool) -> None:
        """Read `${...}`, of which the first two characters are taken."""
        start, inner = self.at, _Built()
        if self.peek() and self.peek() in " \t\n|(":
            raise NotUnderstood("some shells run the commands in ${ ...; }")
        while self.peek() not in ("", "}"):
            char = self.peek()
            if char == "'" and quoted:
                raise NotUnderstood("shells differ about a quote inside ${...}")
            if char in METACHARACTERS or char in "[]{,":
                self.at += 1
                inner.add(char, plain=False)
            else:
                self._unquoted(char, inner)
        if not self.take("}"):
            raise SyntaxProblem("a ${ is not closed")
        raw = self.text[start : self.at - 1]
        self._operate(raw, inner.word(raw))
        name = NAME.match(raw)
        if raw.startswith("#") and len(raw) > 1:
            built.add("0", plain=False)
        elif name is not None and name.end() == len(raw):
            self._variable(built, name[0], quoted=quoted)
        else:
            known = name is not None and name[0] not in self.names and ANY not in inner.text
            safe = known and raw[name.end() :].lstrip(":")[:1] in "%#/^," if name else False
            built.add(ENV if safe else ANY, plain=False, splits=not quoted or "@" in raw)

    def _operate(self, raw: str, inner: Word) -> None:
        """Note what the operator in `${...}` evaluates."""
        if raw.startswith("!") and not _KEYS.match(raw):
            self.script.problems.append("it reads a variable whose name another variable holds")
        if "@P" in raw:
            self.script.problems.append("it expands the value of a variable as a prompt")
        name = NAME.match(raw.lstrip("#!"))
        rest = raw.lstrip("#!")[name.end() :] if name else ""
        subscript = re.match(r"\[([^]]*)\]", rest)
        if subscript and subscript[1] not in ("@", "*"):
            self.use_in_arithmetic(Word(inner.text, subscript[1]))
        rest = rest[subscript.end() :] if subscript else rest
        if rest[:1] == ":" and rest[1:2] not in ("-", "=", "?", "+"):
            self.use_in_arithmetic(Word(inner.text, rest))
        elif rest.lstrip(":")[:1] in ("-", "=", "+") and rest:
            text = inner.text.partition(rest.lstrip(":")[0])[2]
            assigned = name[0] if name and "=" in rest[:2] else ""
            self.script.values.append(Assignment(assigned, Word(text, rest)))

    def _ansi(self, built: _Built) -> None:
        found = re.compile(r"'((?:[^'\\]|\\.)*)'", re.DOTALL).match(self.text, self.at)
        if found is None:
            raise SyntaxProblem("a $' quote is not closed")
        inside = found[1]
        if "\\'" in inside or inside.endswith("\\\\"):
            raise NotUnderstood("sh and bash disagree about where a $' quote ends")
        self.at = found.end()
        built.quote(_ANSI.sub(_ansi_character, inside), plain=False)

    def _backtick(self, built: _Built, *, quoted: bool) -> None:
        found = re.compile(r"`((?:[^`\\]|\\.)*)`", re.DOTALL).match(self.text, self.at)
        if found is None:
            raise SyntaxProblem("a backtick is not closed")
        self.at = found.end()
        if quoted and '\\"' in found[1]:
            raise NotUnderstood("shells differ about a quoted quote inside backticks")
        inside = re.sub(r'\\([$`\\"])' if quoted else r"\\([$`\\])", r"\1", found[1])
        before = len(self.script.commands)
        self._nested(inside)
        self._output(built, before, quoted=quoted)

    def _output(self, built: _Built, before: int, *, quoted: bool) -> None:
        """Add the output of the commands since then."""
        if _counts(self.script, before):
            built.add("0", plain=False)
        else:
            built.add(ANY, plain=False, splits=not quoted)


def _ansi_character(found: re.Match[str]) -> str:
    letter, octal, byte, short, long, control = found.groups()
    if letter is not None:
        return _ANSI_LETTERS.get(letter, letter)
    if control is not None:
        return chr(ord(control) & 0x1F)
    code = int(octal, 8) if octal is not None else int(byte or short or long, 16)
    # A zero byte ends the text, and bytes beyond ASCII may join to characters.
    is_text = 0 < code < 0x80 or (byte is None and octal is None and 0 < code < 0x110000)
    return chr(code) if is_text and chr(code) not in RESERVED else ANY


def _counts(script: Script, before: int) -> bool:
    """Whether the commands since then print nothing but numbers."""
    commands = script.commands[before:]
    if len(commands) != 1 or not commands[0].words or not commands[0].words[0].plain:
        return False
    words = [word.text for word in commands[0].words if word.plain]
    if len(words) < len(commands[0].words):
        return False
    if words[0] == "seq":
        return all(re.fullmatch(r"-?[0-9.]+", word) for word in words[1:])
    return words == ["nproc"] or (
        words[0] == "wc" and all(re.fullmatch(r"-[clmw]+", word) for word in words[1:])
    )


class _Built:
    """A word while it is read.  `plain` only ever becomes false, `splits` only true."""

    def __init__(self) -> None:
        self._pieces: list[str] = []
        self.plain = True
        self.splits = False
        self.quoted = False

    @property
    def text(self) -> str:
        return "".join(self._pieces)

    def add(self, text: str, *, plain: bool, splits: bool = False) -> None:
        """Text outside of quotes, or a hole."""
        self._pieces.append(text)
        self.plain &= plain
        self.splits |= splits

    def quote(self, text: str, *, plain: bool) -> None:
        self.quoted = True
        self.add(text, plain=plain)

    def word(self, raw: str) -> Word:
        """The word, with sets and braces turned into holes."""
        text, splits = self.text, self.splits
        first, last = text.find(_BRACE), text.rfind(_BRACE_END)
        inside = text[first : last + 1] if 0 <= first < last else ""
        if _COMMA in inside or ".." in inside:
            text, splits = text[:first] + _hole(inside) + text[last + 1 :], True
        if raw not in ("[", "[["):
            text = _SET_EXPRESSION.sub(lambda found: _hole(found[0]), text)
        text = text.translate(_UNMARK)
        return Word(text, raw, self.plain, splits or GLOB in text, self.quoted)


def _hole(text: str) -> str:
    """A hole for a set or for braces: what may stand there is written in the line."""
    return ANY if {ANY, ENV, "/"} & set(text) else GLOB
