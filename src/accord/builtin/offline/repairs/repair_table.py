"""Finds the repairs of a failure, with a table of finders by the error's name."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import chain

from accord.builtin.offline.repairs.attribute_errors import repair_attribute
from accord.builtin.offline.repairs.call_errors import repair_call
from accord.builtin.offline.repairs.imports import repair_import
from accord.builtin.offline.repairs.javascript.name_errors import (
    repair_reference,
    repair_script_call,
    repair_script_module,
)
from accord.builtin.offline.repairs.name_errors import repair_name, repair_unbound
from accord.builtin.offline.repairs.name_replacements import Repair
from accord.builtin.offline.repairs.syntax_errors import repair_syntax
from accord.builtin.offline.runs.tracebacks import Failure, Frame

Finder = Callable[[Mapping[str, str], Failure], Iterator[Repair]]

FINDERS: Mapping[str, tuple[Finder, ...]] = {
    "NameError": (repair_name,),
    "UnboundLocalError": (repair_unbound,),
    "ImportError": (repair_import,),
    "ModuleNotFoundError": (repair_import,),
    "AttributeError": (repair_attribute,),
    "TypeError": (repair_call, repair_script_call),
    # Syntax errors of JavaScript are in javascript/node_check.py, which asks node.
    "SyntaxError": (repair_syntax,),
    "IndentationError": (repair_syntax,),
    "TabError": (repair_syntax,),
    "ReferenceError": (repair_reference,),
    "Error": (repair_script_module,),
}

REPAIRS_MAX = 12
"""Repairs that are considered for one failure."""


def find_repairs(files: Mapping[str, str], failure: Failure) -> list[Repair]:
    """The repairs of one failure, the likeliest first; its paths are the project's (`within`)."""
    finders = FINDERS.get(failure.error, ())
    found: dict[tuple[str, str], Repair] = {}
    try:
        for repair in chain.from_iterable(finder(files, failure) for finder in finders):
            # A repair that changes nothing would be found again and again.
            if files.get(repair.path) != repair.text:
                found.setdefault((repair.path, repair.text), repair)
            if len(found) == REPAIRS_MAX:
                break
    except RecursionError:
        pass
    return ranked(found.values())


def ranked(repairs: Iterable[Repair]) -> list[Repair]:
    """The likeliest first; where two are alike, in their order."""
    return sorted(repairs, key=lambda one: -one.score)


def within(failure: Failure, roots: tuple[str, ...], paths: Mapping[str, str]) -> Failure:
    """The failure with the project's frames only, their paths relative to its root."""
    frames: list[Frame] = []
    for frame in failure.frames:
        path = frame.path.replace("\\", "/").removeprefix("./")
        for root in roots:
            path = path.removeprefix(root.rstrip("/") + "/")
        if path in paths:
            frames.append(Frame(path, frame.line, frame.function, frame.code))
    causes = tuple(within(one, roots, paths) for one in failure.causes)
    return Failure(
        failure.test, failure.error, failure.message, tuple(frames), failure.values, causes
    )
