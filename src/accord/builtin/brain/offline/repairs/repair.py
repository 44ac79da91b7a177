"""What a repair is, and how a name in a text is exchanged."""

from __future__ import annotations

import ast
import difflib
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from accord.builtin.brain.offline.places import Span, Spans, lines_of, replaced
from accord.builtin.brain.offline.symbols import parsed

# How alike two names are that count as one with a slip.
NEARNESS_MIN = 0.7


# Looks at a node and notes its place if it is one of those wanted.
Take = Callable[[Spans, ast.AST], None]


@dataclass(frozen=True, slots=True)
class Repair:
    """One change of one file."""

    path: str
    text: str
    line: int
    why: str


def nearest(wrong: str, *circles: Iterable[str]) -> str | None:
    """The name that was meant: the most alike one, of the innermost circle where two are equal.

    None when nothing is near, or when one circle has two that are equally near.
    """
    best: tuple[float, int] | None = None
    names: set[str] = set()
    for index, circle in enumerate(circles):
        for name in set(circle):
            if name == wrong or (name.startswith("__") and not wrong.startswith("_")):
                continue
            alike = _alike(wrong, name)
            if alike < NEARNESS_MIN:
                continue
            rank = (alike, -index)
            if best is None or rank > best:
                best, names = rank, {name}
            elif rank == best:
                names.add(name)
    return names.pop() if len(names) == 1 else None


def _alike(one: str, other: str) -> float:
    if one.lower() == other.lower() or one.replace("_", "") == other.replace("_", ""):
        return 1.0
    return difflib.SequenceMatcher(None, one.lower(), other.lower()).ratio()


def with_name(text: str, line: int, wrong: str, right: str) -> str | None:
    """The text with a plain name exchanged in one line."""

    def take(spans: Spans, node: ast.AST) -> None:
        if isinstance(node, ast.Name) and node.id == wrong and node.lineno == line:
            spans.add_name(node)

    return _exchanged(text, wrong, right, take)


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


def with_import_line(text: str, line: str) -> str:
    """The text with one more import: after the last import at its top, or before its code."""
    lines = lines_of(text)
    tree = parsed(text)
    after = 0
    if isinstance(tree, ast.Module):
        for index, node in enumerate(tree.body):
            is_doc = index == 0 and isinstance(node, ast.Expr) and _is_string(node.value)
            if is_doc or isinstance(node, ast.Import | ast.ImportFrom):
                after = node.end_lineno or node.lineno
                if is_doc or _is_future(node):
                    continue
            elif not isinstance(node, ast.Import | ast.ImportFrom):
                break
    first = bool(re.match(r"#!|#.*coding", lines[0])) if lines else False
    after = max(after, 1 if first else 0)
    ending = "\r\n" if "\r\n" in text else "\n"
    has_imports = after > 0 and bool(re.match(r"\s*(?:import|from)\b", lines[after - 1]))
    new = [line + ending]
    if after > 0 and not has_imports:
        new.insert(0, ending)
    if not has_imports and after < len(lines) and lines[after].strip():
        new.append(ending)
    if after and not lines[after - 1].endswith("\n"):
        lines[after - 1] += ending
    return "".join([*lines[:after], *new, *lines[after:]])


def _is_string(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, str)


def _is_future(node: ast.stmt) -> bool:
    return isinstance(node, ast.ImportFrom) and node.module == "__future__"
