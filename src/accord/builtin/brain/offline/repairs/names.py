"""NameError: a name with a slip, a forgotten import, a forgotten `self`."""

from __future__ import annotations

import ast
import builtins
import re
import sys
from collections.abc import Mapping

from accord.builtin.brain.offline.modules import module_name
from accord.builtin.brain.offline.references import definitions_of, is_test
from accord.builtin.brain.offline.repairs.repair import (
    Repair,
    nearest,
    with_import_line,
    with_name,
)
from accord.builtin.brain.offline.scopes import bound_in, parameters
from accord.builtin.brain.offline.symbols import parsed
from accord.builtin.brain.offline.tracebacks import Failure, Frame

# What people use without importing it, and where it is.
KNOWN = {
    "Path": "pathlib", "PurePath": "pathlib", "dataclass": "dataclasses", "field": "dataclasses",
    "defaultdict": "collections", "Counter": "collections", "OrderedDict": "collections",
    "deque": "collections", "namedtuple": "collections", "partial": "functools",
    "lru_cache": "functools", "reduce": "functools", "wraps": "functools",
    "contextmanager": "contextlib", "suppress": "contextlib", "Decimal": "decimal",
    "Fraction": "fractions", "Enum": "enum", "dedent": "textwrap", "datetime": "datetime",
    "timedelta": "datetime", "date": "datetime", "Any": "typing", "NamedTuple": "typing",
    "Protocol": "typing", "TypeVar": "typing", "Optional": "typing", "Union": "typing",
    "ABC": "abc", "abstractmethod": "abc", "StringIO": "io", "BytesIO": "io", "chain": "itertools",
    "product": "itertools", "permutations": "itertools", "combinations": "itertools",
    "itemgetter": "operator", "sqrt": "math", "ceil": "math", "floor": "math", "pi": "math",
    "TestCase": "unittest",
}  # fmt: skip

_NOT_DEFINED = re.compile(r"name '(?P<name>\w+)' is not defined")

Function = ast.FunctionDef | ast.AsyncFunctionDef


def repair_name(files: Mapping[str, str], failure: Failure) -> Repair | None:
    """The repair of a name that is not there."""
    match = _NOT_DEFINED.search(failure.message)
    if match is None or not failure.frames:
        return None
    wrong, frame = match["name"], failure.frames[-1]
    text = files.get(frame.path)
    tree = None if text is None else parsed(text)
    if text is None or not isinstance(tree, ast.Module):
        return None
    return (
        _of_self(text, tree, frame, wrong)
        or _imported(files, text, frame, wrong)
        or _near(text, tree, frame, wrong)
    )


def _near(text: str, tree: ast.Module, frame: Frame, wrong: str) -> Repair | None:
    functions = around(tree, frame.line)
    local: set[str] = set()
    for function in functions:
        local |= bound_in(function.body) | {one.arg for one in parameters(function.args)}
    right = nearest(wrong, local, bound_in(tree.body), dir(builtins))
    changed = None if right is None else with_name(text, frame.line, wrong, right)
    if right is None or changed is None:
        return None
    where = f" in `{functions[-1].name}`" if right in local else ""
    why = f"`{wrong}` is not a name here, but `{right}`{where} is one and nearly the same."
    return Repair(frame.path, changed, frame.line, why)


def around(tree: ast.Module, line: int) -> list[Function]:
    """The functions around a line, outer first."""
    found = [
        node
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        and node.lineno <= line <= (node.end_lineno or node.lineno)
    ]
    return sorted(found, key=lambda node: node.lineno)


def _imported(files: Mapping[str, str], text: str, frame: Frame, wrong: str) -> Repair | None:
    """An import that is missing: of the project's own, of a module, of a well-known name."""
    homes = {
        one.path
        for one in definitions_of(dict(files), wrong)
        if one.symbol.depth == 0 and one.path != frame.path and one.path.endswith(".py")
    }
    homes = {path for path in homes if not is_test(path)} or homes
    if len(homes) == 1:
        module = module_name(homes.pop(), files)
        line, what = f"from {module} import {wrong}", f"{module} of this project has it"
    elif wrong in sys.stdlib_module_names and _used_as_module(text, wrong):
        line, what = f"import {wrong}", "it is a module of Python's library"
    elif wrong in KNOWN:
        line, what = f"from {KNOWN[wrong]} import {wrong}", f"Python's {KNOWN[wrong]} has it"
    else:
        return None
    changed = with_import_line(text, line)
    why = f"`{wrong}` is used in {frame.path} and never imported; {what}."
    return Repair(frame.path, changed, frame.line, why)


def _used_as_module(text: str, name: str) -> bool:
    return re.search(rf"(?<![\w.]){re.escape(name)}\s*\.\s*\w", text) is not None


def _of_self(text: str, tree: ast.Module, frame: Frame, wrong: str) -> Repair | None:
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
                    return Repair(frame.path, changed, frame.line, why)
    return None


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
