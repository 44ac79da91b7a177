"""Where a name is used: exact for Python by its syntax tree, by whole words for all other files.

Pure: texts in, places out.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from accord.builtin.offline.source_code.symbols import (
    Module,
    Symbol,
    language_of,
    module_of,
    parsed,
)

UseKind = Literal["call", "use", "import", "definition"]


@dataclass(frozen=True, slots=True)
class Use:
    """One occurrence of a name."""

    line: int
    kind: UseKind
    text: str
    # The definition that the place is inside of; empty at the top of a file.
    inside: str = ""


def has_word(text: str, name: str) -> bool:
    """Whether a name stands in a text as a whole word; quick, to choose the files to read."""
    return name in text and re.search(rf"(?<!\w){re.escape(name)}(?!\w)", text) is not None


def uses_of(path: str, text: str, name: str) -> tuple[Use, ...]:
    """The places of a plain name in a file."""
    if not has_word(text, name):
        return ()
    module = module_of(path, text)
    tree = parsed(text) if language_of(path) == "Python" else ""
    if isinstance(tree, str):
        return tuple(_by_word(text, name, module))
    found = dict.fromkeys(_in_tree(tree, name))
    lines = text.split("\n")
    return tuple(
        Use(line, kind, lines[line - 1].strip()[:200], _inside(module, line, kind))
        for line, kind in sorted(found)
        if 0 < line <= len(lines)
    )


def _in_tree(tree: ast.Module, name: str) -> Iterator[tuple[int, UseKind]]:
    """The lines of a name, and how it stands there; names inside f-strings too."""
    called: set[ast.AST] = set()
    own: set[ast.AST] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            called.add(node.func)
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            # The parts of a property are marked by its own name: `@value.setter`.
            own.update(
                one.value
                for one in node.decorator_list
                if isinstance(one, ast.Attribute)
                and isinstance(one.value, ast.Name)
                and one.value.id == node.name
            )
        if node in own:
            continue
        if isinstance(node, ast.Name) and node.id == name:
            yield node.lineno, "call" if node in called else "use"
        elif isinstance(node, ast.Attribute) and node.attr == name:
            yield node.end_lineno or node.lineno, "call" if node in called else "use"
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            if node.name == name:
                yield node.lineno, "definition"
        elif isinstance(node, ast.alias) and name in (node.name, node.asname):
            yield node.lineno, "import"
        elif isinstance(node, ast.arg) and node.arg == name:
            yield node.lineno, "definition"
        elif isinstance(node, ast.keyword) and node.arg == name:
            yield node.lineno, "use"


def _by_word(text: str, name: str, module: Module) -> Iterator[Use]:
    defined = {symbol.line for symbol in module.symbols if symbol.name == name}
    pattern = re.compile(rf"(?<!\w){re.escape(name)}(?!\w)(?P<call>\s*\()?")
    for number, line in enumerate(text.split("\n"), start=1):
        for match in pattern.finditer(line):
            kind: UseKind = "call" if match["call"] else "use"
            if number in defined:
                kind = "definition"
            yield Use(number, kind, line.strip()[:200])


def _inside(module: Module, line: int, kind: UseKind) -> str:
    """The innermost definition around a line."""
    around = [
        symbol
        for symbol in module.symbols
        if symbol.kind in ("function", "method", "property", "class")
        and symbol.line <= line <= symbol.end_line
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
