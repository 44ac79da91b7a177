"""AttributeError and TypeError: an attribute or a keyword argument with a slip."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping

from accord.builtin.brain.offline.repairs.imports import names_of
from accord.builtin.brain.offline.repairs.names import members
from accord.builtin.brain.offline.repairs.repair import (
    Repair,
    nearest,
    with_attribute,
    with_keyword,
)
from accord.builtin.brain.offline.scopes import parameters
from accord.builtin.brain.offline.symbols import parsed
from accord.builtin.brain.offline.tracebacks import Failure

_OF_MODULE = re.compile(r"module '(?P<owner>[\w.]+)' has no attribute '(?P<name>\w+)'")
_OF_OBJECT = re.compile(
    r"(?:type object )?'(?P<owner>[\w.]+)'(?: object)? has no attribute '(?P<name>\w+)'"
)
_KEYWORD = re.compile(r"(?P<owner>[\w.<>]+)\(\) got an unexpected keyword argument '(?P<name>\w+)'")
_OWN_TYPES: dict[str, type] = {
    kind.__name__: kind
    for kind in (str, bytes, bytearray, list, dict, set, frozenset, tuple, int, float, complex)
}


def repair_attribute(files: Mapping[str, str], failure: Failure) -> Repair | None:
    """The repair of an attribute that is not there."""
    if not failure.frames or failure.frames[-1].path not in files:
        return None
    frame = failure.frames[-1]
    text = files[frame.path]
    names: list[str] | frozenset[str] = []
    match = _OF_MODULE.search(failure.message)
    if match is not None:
        names, owner = names_of(files, frame.path, match["owner"]), f"module `{match['owner']}`"
    else:
        match = _OF_OBJECT.search(failure.message)
        if match is None:
            return None
        kind, owner = match["owner"], f"`{match['owner']}`"
        names = dir(_OWN_TYPES[kind]) if kind in _OWN_TYPES else sorted(class_names(files, kind))
    right = nearest(match["name"], names)
    changed = None if right is None else with_attribute(text, frame.line, match["name"], right)
    if changed is None:
        return None
    why = f"{owner} has no `{match['name']}`; it has `{right}`, which is nearly the same."
    return Repair(frame.path, changed, frame.line, why)


def class_names(files: Mapping[str, str], name: str, depth: int = 0) -> set[str]:
    """What a class of the project has, its bases included as far as they are the project's."""
    found: set[str] = set()
    for owner in _classes(files, name):
        found |= members(owner)
        for base in owner.bases:
            inherited = ast.unparse(base).rpartition(".")[2]
            if depth < 5 and inherited != name:
                found |= class_names(files, inherited, depth + 1)
    return found


def _classes(files: Mapping[str, str], name: str) -> Iterator[ast.ClassDef]:
    for path, text in files.items():
        if path.endswith(".py") and f"class {name}" in text:
            tree = parsed(text)
            for node in ast.walk(tree) if isinstance(tree, ast.Module) else ():
                if isinstance(node, ast.ClassDef) and node.name == name:
                    yield node


def repair_keyword(files: Mapping[str, str], failure: Failure) -> Repair | None:
    """The repair of a keyword argument that a function does not take."""
    match = _KEYWORD.search(failure.message)
    if match is None or not failure.frames or failure.frames[-1].path not in files:
        return None
    frame = failure.frames[-1]
    right = nearest(match["name"], keywords_of(files, match["owner"]))
    text = files[frame.path]
    changed = None if right is None else with_keyword(text, frame.line, match["name"], right)
    if changed is None:
        return None
    owner = match["owner"].removesuffix(".__init__")
    why = f"`{owner}` takes no `{match['name']}`; it takes `{right}`, which is nearly the same."
    return Repair(frame.path, changed, frame.line, why)


def keywords_of(files: Mapping[str, str], owner: str) -> frozenset[str]:
    """The keywords that a function of the project takes; its name is as an error shows it."""
    parts = [part for part in owner.split(".") if part != "<locals>"]
    names: set[str] = set()
    if parts[-1] == "__init__" and len(parts) > 1:
        for node in _classes(files, parts[-2]):
            # A dataclass is made from its annotated fields.
            names.update(
                inner.target.id
                for inner in node.body
                if isinstance(inner, ast.AnnAssign) and isinstance(inner.target, ast.Name)
            )
            names.update(_taken(node, "__init__"))
        return frozenset(names)
    for path, text in files.items():
        if path.endswith(".py") and f"def {parts[-1]}" in text:
            tree = parsed(text)
            if isinstance(tree, ast.Module):
                names.update(_taken(tree, parts[-1]))
    return frozenset(names)


def _taken(tree: ast.AST, name: str) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.name == name:
            special = (node.args.vararg, node.args.kwarg)
            for one in parameters(node.args):
                if one not in special and one.arg not in ("self", "cls"):
                    yield one.arg
