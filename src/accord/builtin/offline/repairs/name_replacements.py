"""The replacement of names in a text, and `Repair`, one change of one file."""

from __future__ import annotations

import ast
from collections.abc import Callable
from dataclasses import dataclass

from accord.builtin.offline.source_code.name_spans import Span, Spans, lines_of, replaced
from accord.builtin.offline.source_code.scopes import binds
from accord.builtin.offline.source_code.symbols import parsed

# Looks at a node and notes its place if it is one of those wanted.
Take = Callable[[Spans, ast.AST], None]


@dataclass(frozen=True, slots=True)
class Repair:
    """One change of one file."""

    path: str
    text: str
    line: int
    why: str
    # How likely it is, from 0 to 1; the likeliest is tried first.
    score: float = 0.8


def changed_line(before: str | None, after: str) -> int:
    """The first line, as it is afterwards, that is not as it was before."""
    old, new = lines_of(before or ""), lines_of(after)
    pairs = enumerate(zip(old, new, strict=False), start=1)
    shorter = min(len(old), len(new))
    return next((line for line, (one, other) in pairs if one != other), shorter + 1)


def with_name(text: str, line: int, wrong: str, right: str) -> str | None:
    """The text with a plain name exchanged in one line."""

    def take(spans: Spans, node: ast.AST) -> None:
        if isinstance(node, ast.Name) and node.id == wrong and node.lineno == line:
            spans.add_name(node)

    return _exchanged(text, wrong, right, take)


def with_unbound(tree: ast.Module, text: str, line: int, wrong: str, right: str) -> str | None:
    """The text with a name exchanged that the file binds nowhere: wherever it stands.

    A file that binds it somewhere means another one there; then it is that one line.
    """

    def take(spans: Spans, node: ast.AST) -> None:
        if isinstance(node, ast.Name) and node.id == wrong:
            spans.add_name(node)

    if wrong in binding_words(tree):
        return with_name(text, line, wrong, right)
    return _exchanged(text, wrong, right, take)


def binding_words(tree: ast.AST) -> set[str]:
    """Every name that is bound anywhere below a node, in whatever scope."""
    nodes = list(ast.walk(tree))
    arguments = {node.arg for node in nodes if isinstance(node, ast.arg)}
    return arguments | {name for node in nodes for name in binds(node)}


def with_words(text: str, wrong: str, right: str, *, attributes: bool = True) -> str | None:
    """The text with a name exchanged wherever it is code, also in f-strings."""
    tree = parsed(text)
    if isinstance(tree, str):
        return None
    spans = Spans(text, wrong)
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and node.id == wrong:
            spans.add_name(node)
        elif isinstance(node, ast.Attribute) and node.attr == wrong and attributes:
            spans.add_attribute(node)
        elif isinstance(node, ast.alias) and node.name == wrong:
            spans.add_alias(node)
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            if node.name == wrong:
                spans.add_after(node, ("def", "class"))
        elif isinstance(node, ast.arg) and node.arg == wrong:
            spans.add_argument(node)
    return None if spans.missed else _changed(text, spans.found, right)


def with_attribute(text: str, line: int, wrong: str, right: str) -> str | None:
    """The text with `.wrong` exchanged in the statement of one line."""

    def take(spans: Spans, node: ast.AST) -> None:
        if not isinstance(node, ast.Attribute) or node.attr != wrong:
            return
        if node.lineno <= line <= (node.end_lineno or node.lineno):
            spans.add_attribute(node)

    return _exchanged(text, wrong, right, take)


def with_keyword(text: str, line: int, wrong: str, right: str) -> str | None:
    """The text with a keyword argument exchanged in the call around one line."""

    def take(spans: Spans, node: ast.AST) -> None:
        if isinstance(node, ast.Call) and node.lineno <= line <= (node.end_lineno or node.lineno):
            for word in node.keywords:
                if word.arg == wrong:
                    spans.add_keyword(word)

    return _exchanged(text, wrong, right, take)


def with_import(text: str, wrong: str, right: str) -> str | None:
    """The text with an imported name exchanged, in its import and where it is used."""

    def take(spans: Spans, node: ast.AST) -> None:
        if isinstance(node, ast.ImportFrom):
            for alias in node.names:
                if alias.name == wrong:
                    spans.add_alias(alias)
                    renamed.append(alias.asname is None)
        elif isinstance(node, ast.Name) and node.id == wrong:
            uses.append(node)

    renamed: list[bool] = []
    uses: list[ast.Name] = []
    spans = _collected(text, wrong, take)
    if spans is None:
        return None
    if any(renamed):
        for node in uses:
            spans.add_name(node)
    return _changed(text, spans.found, right)


def _exchanged(text: str, wrong: str, right: str, take: Take) -> str | None:
    spans = _collected(text, wrong, take)
    return None if spans is None else _changed(text, spans.found, right)


def _collected(text: str, wrong: str, take: Take) -> Spans | None:
    tree = parsed(text)
    if isinstance(tree, str):
        return None
    spans = Spans(text, wrong)
    for node in ast.walk(tree):
        take(spans, node)
    return spans


def _changed(text: str, found: list[Span], right: str) -> str | None:
    return replaced(text, found, right) if found else None
