"""NameError: a name with a slip, a forgotten import, a forgotten `self` or parameter."""

from __future__ import annotations

import ast
import builtins
import re
from collections.abc import Iterator, Mapping

from accord.builtin.offline.repairs.call_errors import parameter_back, self_back
from accord.builtin.offline.repairs.imports import imported
from accord.builtin.offline.repairs.name_replacements import (
    Repair,
    with_name,
    with_unbound,
    with_words,
)
from accord.builtin.offline.repairs.renamed_definitions import renamed_back
from accord.builtin.offline.repairs.similar_names import near
from accord.builtin.offline.runs.tracebacks import Failure, Frame
from accord.builtin.offline.source_code.scopes import bound_in, parameters
from accord.builtin.offline.source_code.symbols import parsed

_NOT_DEFINED = re.compile(r"name '(?P<name>\w+)' is not defined")
_NOT_YET = re.compile(r"local variable '(?P<name>\w+)' (?:where it is|referenced before)")

Function = ast.FunctionDef | ast.AsyncFunctionDef


def repair_name(files: Mapping[str, str], failure: Failure) -> Iterator[Repair]:
    """The repairs of a name that is not there."""
    match = _NOT_DEFINED.search(failure.message)
    if match is None or not failure.frames:
        return
    wrong, frame = match["name"], failure.frames[-1]
    text = files.get(frame.path)
    tree = None if text is None else parsed(text)
    if text is None or not isinstance(tree, ast.Module):
        return
    yield from _of_self(text, tree, frame, wrong)
    yield from imported(files, text, frame, wrong)
    functions = around(tree, frame.line)
    if functions and wrong in ("self", "cls"):
        yield from self_back(files, frame.path, functions[-1])
    elif functions:
        yield from parameter_back(files, frame.path, functions[-1], wrong)
    yield from renamed_back(files, wrong, bound_in(tree.body))
    yield from _near(text, tree, frame, wrong)


def repair_unbound(files: Mapping[str, str], failure: Failure) -> Iterator[Repair]:
    """The repairs of a local name without a value: a `global`, or a slip where it gets one."""
    match = _NOT_YET.search(failure.message)
    frame = failure.frames[-1] if failure.frames else None
    text = None if frame is None else files.get(frame.path)
    tree = None if text is None else parsed(text)
    if match is None or frame is None or text is None or not isinstance(tree, ast.Module):
        return
    wrong, functions = match["name"], around(tree, frame.line)
    if functions and wrong in bound_in(tree.body):
        first = _first_line(functions[-1])
        lines = text.split("\n")
        indent = re.match(r"\s*", lines[first - 1])
        lines.insert(first - 1, f"{indent[0] if indent else ''}global {wrong}")
        why = f"`{functions[-1].name}` assigns to the global `{wrong}` and needs `global` for it."
        yield Repair(frame.path, "\n".join(lines), frame.line, why, 0.85)
    yield from _near(text, tree, frame, wrong)


def _first_line(function: Function) -> int:
    """The line of the first statement after the docstring."""
    is_doc = ast.get_docstring(function) is not None and len(function.body) > 1
    return function.body[1 if is_doc else 0].lineno


def _near(text: str, tree: ast.Module, frame: Frame, wrong: str) -> Iterator[Repair]:
    functions = around(tree, frame.line)
    local: set[str] = set()
    for function in functions:
        local |= bound_in(function.body) | {one.arg for one in parameters(function.args)}
    for right, alike in near(wrong, local, bound_in(tree.body), dir(builtins)):
        where = f" in `{functions[-1].name}`" if right in local else ""
        misspelt = _binding(text, tree, functions, wrong, right) if right in local else None
        if misspelt is not None:
            why = f"`{wrong}` is used{where} but not defined; "
            why += f"`{right}` has a similar name and is unused."
            yield Repair(frame.path, misspelt, frame.line, why, 0.9 * alike + 0.02)
        changed = with_unbound(tree, text, frame.line, wrong, right)
        if changed is not None:
            why = f"`{wrong}` is not defined; `{right}` is a similar name{where}."
            yield Repair(frame.path, changed, frame.line, why, 0.9 * alike)


def _binding(
    text: str, tree: ast.Module, functions: list[Function], wrong: str, right: str
) -> str | None:
    """The text with the slip mended where the name gets its value, if nothing reads it there."""
    names = [node for node in ast.walk(functions[-1]) if isinstance(node, ast.Name)]
    read = [one for one in names if one.id == right and isinstance(one.ctx, ast.Load)]
    uses = [one for one in names if one.id == wrong]
    elsewhere = sum(isinstance(one, ast.Name) and one.id == right for one in ast.walk(tree))
    here = sum(one.id == right for one in names)
    if read or len(uses) < 2 or elsewhere > here:
        return None
    return with_words(text, right, wrong, attributes=False)


def around(tree: ast.Module, line: int) -> list[Function]:
    """The functions around a line, outer first."""
    found = [
        node
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        and node.lineno <= line <= (node.end_lineno or node.lineno)
    ]
    return sorted(found, key=lambda node: node.lineno)


def _of_self(text: str, tree: ast.Module, frame: Frame, wrong: str) -> Iterator[Repair]:
    """A member of the class that was used without `self`."""
    for owner in ast.walk(tree):
        if not isinstance(owner, ast.ClassDef) or wrong not in members(owner):
            continue
        for method in owner.body:
            if not isinstance(method, ast.FunctionDef | ast.AsyncFunctionDef):
                continue
            inside = method.lineno <= frame.line <= (method.end_lineno or method.lineno)
            first = method.args.args[0].arg if method.args.args else ""
            if inside and first in ("self", "cls"):
                changed = with_name(text, frame.line, wrong, f"{first}.{wrong}")
                if changed is not None:
                    why = f"`{wrong}` belongs to `{owner.name}`; it needs `{first}.` before it."
                    yield Repair(frame.path, changed, frame.line, why, 0.95)
                    return


def members(owner: ast.ClassDef) -> frozenset[str]:
    """What a class has: what its body binds, and what its methods set on self."""
    found = set(bound_in(owner.body))
    for node in ast.walk(owner):
        if (
            isinstance(node, ast.Attribute)
            and isinstance(node.ctx, ast.Store)
            and isinstance(node.value, ast.Name)
            and node.value.id == "self"
        ):
            found.add(node.attr)
    return frozenset(found)
