"""From a failure to its repair: a table from the error's name to who looks for one."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from accord.builtin.brain.offline.repairs.attributes import repair_attribute, repair_keyword
from accord.builtin.brain.offline.repairs.imports import repair_import
from accord.builtin.brain.offline.repairs.names import repair_name
from accord.builtin.brain.offline.repairs.repair import Repair
from accord.builtin.brain.offline.repairs.syntax import repair_syntax
from accord.builtin.brain.offline.tracebacks import Failure, Frame

Finder = Callable[[Mapping[str, str], Failure], Repair | None]

FINDERS: Mapping[str, Finder] = {
    "NameError": repair_name,
    "ImportError": repair_import,
    "ModuleNotFoundError": repair_import,
    "AttributeError": repair_attribute,
    "TypeError": repair_keyword,
    "SyntaxError": repair_syntax,
    "IndentationError": repair_syntax,
}


def find_repair(files: Mapping[str, str], failure: Failure) -> Repair | None:
    """The repair of one failure; its paths must be the project's, see `within`."""
    finder = FINDERS.get(failure.error)
    try:
        repair = None if finder is None else finder(files, failure)
    except RecursionError:
        return None
    # A repair that changes nothing would be found again and again.
    return None if repair is None or files.get(repair.path) == repair.text else repair


def within(failure: Failure, roots: tuple[str, ...], paths: Mapping[str, str]) -> Failure:
    """The failure with the project's frames only, their paths relative to its root."""
    frames: list[Frame] = []
    for frame in failure.frames:
        path = frame.path.replace("\\", "/").removeprefix("./")
        for root in roots:
            path = path.removeprefix(root.rstrip("/") + "/")
        if path in paths:
            frames.append(Frame(path, frame.line, frame.function, frame.code))
    return Failure(failure.test, failure.error, failure.message, tuple(frames), failure.values)
