"""ImportError and ModuleNotFoundError: a wrong name in a module, a module elsewhere."""

from __future__ import annotations

import ast
import importlib
import re
import sys
from collections.abc import Mapping

from accord.builtin.brain.offline.modules import file_of, module_name, module_names
from accord.builtin.brain.offline.places import lines_of
from accord.builtin.brain.offline.references import definitions_of
from accord.builtin.brain.offline.repairs.repair import Repair, nearest, with_import
from accord.builtin.brain.offline.scopes import bound_in
from accord.builtin.brain.offline.symbols import parsed
from accord.builtin.brain.offline.tracebacks import Failure, Frame

_NO_NAME = re.compile(r"cannot import name '(?P<name>\w+)' from '(?P<module>[\w.]+)'")
_NO_MODULE = re.compile(r"No module named '(?P<module>[\w.]+)'")
# Modules that do something when they are imported.  Which one it is, a test run's output says.
_ACTIVE = frozenset(
    {"this", "antigravity", "idlelib", "lib2to3", "test", "turtledemo", "turtle", "tkinter"}
)


def repair_import(files: Mapping[str, str], failure: Failure) -> Repair | None:
    """The repair of an import that failed."""
    if not failure.frames or failure.frames[-1].path not in files:
        return None
    frame = failure.frames[-1]
    if (match := _NO_NAME.search(failure.message)) is not None:
        return _wrong_name(files, frame, match["name"], match["module"])
    if (match := _NO_MODULE.search(failure.message)) is not None:
        return _wrong_module(files, frame, match["module"])
    return None


def _wrong_name(files: Mapping[str, str], frame: Frame, wrong: str, module: str) -> Repair | None:
    text = files[frame.path]
    # A name that another module of the project has is more than a name that looks alike.
    homes = {
        one.path
        for one in definitions_of(dict(files), wrong)
        if one.symbol.depth == 0 and one.path.endswith(".py") and one.path != frame.path
    }
    if len(homes) == 1:
        right = module_name(homes.pop(), files)
        changed = _with_source(text, frame.line, wrong, right)
        if changed is not None:
            why = f"`{wrong}` is not in `{module}`; `{right}` has it."
            return Repair(frame.path, changed, frame.line, why)
    right_name = nearest(wrong, names_of(files, frame.path, module))
    changed = None if right_name is None else with_import(text, wrong, right_name)
    if changed is None:
        return None
    why = f"`{module}` has no `{wrong}`; it has `{right_name}`, which is nearly the same."
    return Repair(frame.path, changed, frame.line, why)


def _with_source(text: str, line: int, name: str, module: str) -> str | None:
    """The text with one name imported from another module."""
    tree = parsed(text)
    for node in ast.walk(tree) if isinstance(tree, ast.Module) else ():
        if not isinstance(node, ast.ImportFrom) or not (
            node.lineno <= line <= (node.end_lineno or node.lineno)
        ):
            continue
        wanted = [alias for alias in node.names if alias.name == name]
        rest = [alias for alias in node.names if alias.name != name]
        if not wanted:
            continue
        lines = lines_of(text)
        indent = " " * node.col_offset
        ending = "\r\n" if lines[node.lineno - 1].endswith("\r\n") else "\n"
        new = [f"{indent}from {module} import {ast.unparse(wanted[0])}{ending}"]
        if rest:
            kept = ast.ImportFrom(module=node.module, names=rest, level=node.level)
            new.insert(0, f"{indent}{ast.unparse(kept)}{ending}")
        return "".join([*lines[: node.lineno - 1], *new, *lines[node.end_lineno or node.lineno :]])
    return None


def names_of(files: Mapping[str, str], importer: str, module: str) -> frozenset[str]:
    """What a module has: one of the project by its text, one of Python's library by itself."""
    path = file_of(files, importer, module)
    if path is not None:
        tree = parsed(files[path])
        return bound_in(tree.body) if isinstance(tree, ast.Module) else frozenset()
    return frozenset(name for name in library_names(module) if not name.startswith("_"))


def library_names(module: str) -> list[str]:
    """The names of a module of Python's own library; nothing for any other."""
    parts = module.split(".")
    # A part such as `__main__` runs a program.
    if any(part.startswith("_") for part in parts):
        return []
    if parts[0] not in sys.stdlib_module_names or parts[0] in _ACTIVE:
        return []
    try:
        return dir(importlib.import_module(module))
    except ImportError:
        return []


def _wrong_module(files: Mapping[str, str], frame: Frame, wrong: str) -> Repair | None:
    text = files[frame.path]
    known = dict(module_names(files))
    last = wrong.rpartition(".")[2]
    same_end = sorted(name for name in known if name.rpartition(".")[2] == last and name != wrong)
    same_end = [name for name in same_end if known[name] != frame.path]
    if len(same_end) == 1:
        right: str | None = same_end[0]
        why = f"there is no module `{wrong}`; `{right}` is where it is."
    else:
        own = [name for name, path in known.items() if path != frame.path]
        library = [name for name in sys.stdlib_module_names if not name.startswith("_")]
        right = nearest(wrong, own, library)
        why = f"there is no module `{wrong}`; `{right}` is nearly the same."
    if right is None:
        return None
    changed = _with_module(text, frame.line, wrong, right)
    return None if changed is None else Repair(frame.path, changed, frame.line, why)


def _with_module(text: str, line: int, wrong: str, right: str) -> str | None:
    """The text with a module's name exchanged in an import, and where the module is used."""
    lines = lines_of(text)
    if not 0 < line <= len(lines):
        return None
    pattern = re.compile(rf"(?<![\w.]){re.escape(wrong)}(?!\w)")
    changed, count = pattern.subn(right, lines[line - 1], count=1)
    if not count or not re.match(r"\s*(?:import|from)\b", lines[line - 1]):
        return None
    plain = re.match(rf"\s*import\s+{re.escape(wrong)}\s*(?:#.*)?$", lines[line - 1])
    lines[line - 1] = changed
    if plain:
        uses = re.compile(rf"(?<![\w.'\"]){re.escape(wrong)}(?=\s*\.)")
        lines = [one if one is lines[line - 1] else uses.sub(right, one) for one in lines]
    result = "".join(lines)
    return result if isinstance(parsed(result), ast.Module) else None
