"""Where a name is used: exact for Python by its tokens, by whole words for all other files.

Pure: texts in, places out.
"""

from __future__ import annotations

import io
import keyword
import re
import tokenize
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from accord.builtin.brain.offline.symbols import Module, Symbol, language_of, module_of

UseKind = Literal["call", "use", "import", "definition", "string"]

TokenList = list[tokenize.TokenInfo]


@dataclass(frozen=True, slots=True)
class Use:
    """One place where a name stands."""

    line: int
    column: int
    kind: UseKind
    text: str
    # The definition that the place is inside of; empty at the top of a file.
    inside: str = ""


def tokens_of(text: str) -> TokenList | None:
    """The tokens of a Python text; None where it has none to the end."""
    try:
        return list(tokenize.generate_tokens(io.StringIO(text).readline))
    except (tokenize.TokenError, SyntaxError, IndentationError, ValueError):
        return None


def has_word(text: str, name: str) -> bool:
    """Whether a name stands in a text as a whole word; quick, to choose the files to read."""
    return name in text and re.search(rf"(?<!\w){re.escape(name)}(?!\w)", text) is not None


def uses_of(path: str, text: str, name: str) -> tuple[Use, ...]:
    """The places of a plain name in a file."""
    if not has_word(text, name):
        return ()
    module = module_of(path, text)
    tokens = tokens_of(text) if language_of(path) == "Python" else None
    if tokens is None:
        return tuple(_by_word(text, name, module))
    return tuple(_by_token(tokens, name, module))


def _by_token(tokens: TokenList, name: str, module: Module) -> Iterator[Use]:
    statement: TokenList = []
    for index, token in enumerate(tokens):
        if token.type in (tokenize.NEWLINE, tokenize.NL, tokenize.INDENT, tokenize.DEDENT):
            if token.type == tokenize.NEWLINE:
                statement = []
            continue
        statement.append(token)
        if token.type != tokenize.NAME or token.string != name:
            continue
        before = statement[-2].string if len(statement) > 1 else ""
        after = tokens[index + 1].string if index + 1 < len(tokens) else ""
        first = statement[0].string
        kind: UseKind = "use"
        if before in ("def", "class"):
            kind = "definition"
        elif first in ("import", "from"):
            kind = "import"
        elif after == "(":
            kind = "call"
        line = token.start[0]
        yield Use(line, token.start[1], kind, token.line.strip(), _inside(module, line, kind))


def _by_word(text: str, name: str, module: Module) -> Iterator[Use]:
    defined = {symbol.line for symbol in module.symbols if symbol.name == name}
    pattern = re.compile(rf"(?<!\w){re.escape(name)}(?!\w)(?P<call>\s*\()?")
    for number, line in enumerate(text.split("\n"), start=1):
        for match in pattern.finditer(line):
            kind: UseKind = "call" if match["call"] else "use"
            if number in defined:
                kind = "definition"
            yield Use(number, match.start(), kind, line.strip()[:200])


def _inside(module: Module, line: int, kind: UseKind) -> str:
    """The innermost definition around a line."""
    around = [
        symbol
        for symbol in module.symbols
        if symbol.kind in ("function", "method", "class") and symbol.line <= line <= symbol.end_line
    ]
    if kind == "definition":
        around = [symbol for symbol in around if symbol.line != line]
    return max(around, key=lambda symbol: symbol.line).qualified if around else ""


@dataclass(frozen=True, slots=True)
class Definition:
    """A symbol and the file that it is in."""

    path: str
    symbol: Symbol

    @property
    def place(self) -> str:
        """Where it is, as people write it."""
        return f"{self.path}:{self.symbol.line}"


def definitions_of(files: dict[str, str], name: str) -> tuple[Definition, ...]:
    """Where a name is defined.  A dotted name is a method, or a name in the file of that name."""
    parts = re.split(r"\.|::|#", name)
    found: list[Definition] = []
    for path, text in files.items():
        if not has_word(text, parts[-1]):
            continue
        found.extend(
            Definition(path, symbol)
            for symbol in module_of(path, text).symbols
            if _fits(path, symbol, parts)
        )
    # Top-level definitions first, and code before its tests; then by place.
    return tuple(sorted(found, key=lambda one: (is_test(one.path), one.symbol.depth, one.path)))


def _fits(path: str, symbol: Symbol, parts: list[str]) -> bool:
    if symbol.name != parts[-1]:
        return False
    stem = path.rpartition(".")[0].replace("/", ".").removesuffix(".__init__")
    whole = [*stem.split("."), *symbol.qualified.split(".")]
    return whole[-len(parts) :] == parts


def is_test(path: str) -> bool:
    """Whether a file is one of the tests, by its name."""
    folders, _, name = path.rpartition("/")
    stem = name.partition(".")[0]
    in_tests = any(part in ("test", "tests", "__tests__", "spec") for part in folders.split("/"))
    return (
        in_tests
        or stem.startswith("test_")
        or stem.endswith(("_test", "_spec"))
        or stem == "conftest"
        or ".test." in name
        or ".spec." in name
    )


def is_name(text: str) -> bool:
    """Whether a text can be a name in Python."""
    return text.isidentifier() and not keyword.iskeyword(text)
