"""AttributeError: an attribute with a slip, or one whose definition was renamed."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping

from accord.builtin.offline.repairs.call_errors import classes_of
from accord.builtin.offline.repairs.imports import handed_on, names_of
from accord.builtin.offline.repairs.name_errors import members
from accord.builtin.offline.repairs.name_replacements import Repair, with_attribute, with_words
from accord.builtin.offline.repairs.renamed_definitions import renamed_back
from accord.builtin.offline.repairs.similar_names import near
from accord.builtin.offline.runs.tracebacks import Failure, Frame
from accord.builtin.offline.source_code.module_files import file_of
from accord.builtin.offline.source_code.symbols import parsed

_OF_MODULE = re.compile(r"module '(?P<owner>[\w.]+)' has no attribute '(?P<name>\w+)'")
_OF_OBJECT = re.compile(
    r"(?:type object )?'(?P<owner>[\w.]+)'(?: object)? has no attribute '(?P<name>\w+)'"
)
_MEANT = re.compile(r"Did you mean: '(?P<name>\w+)'")
_OWN_TYPES: dict[str, type] = {
    kind.__name__: kind
    for kind in (str, bytes, bytearray, list, dict, set, frozenset, tuple, int, float, complex)
}


def repair_attribute(files: Mapping[str, str], failure: Failure) -> Iterator[Repair]:
    """The repairs of an attribute that is not there."""
    of_module = _OF_MODULE.search(failure.message)
    match = of_module or _OF_OBJECT.search(failure.message)
    if match is None or match["owner"] == "NoneType":
        return
    owner = match["owner"].rpartition(".")[2]
    # In a class, `self.__x` is known by a longer name.
    wrong = match["name"].removeprefix(f"_{owner.lstrip('_')}") if _is_private(match) else match[2]
    frame = next((one for one in reversed(failure.frames) if _stands(files, one, wrong)), None)
    if frame is None:
        # An `import *` looks for what `__all__` lists, and the name does not stand there.
        if of_module is not None and failure.frames:
            names = names_of(files, failure.frames[-1].path, match["owner"])
            yield from renamed_back(files, wrong, names)
        return
    meant = _MEANT.search(failure.message)
    circles: list[set[str]] = [set() if meant is None else {meant["name"]}]
    if of_module is not None:
        shown = f"module `{match['owner']}`"
        circles.append(set(names_of(files, frame.path, match["owner"])))
        package = file_of(files, frame.path, match["owner"])
        if package is not None:
            yield from handed_on(files, package, wrong)
    else:
        shown = f"`{match['owner']}`"
        circles.append(class_names(files, owner))
    circles.append(_beside(files[frame.path], frame.line, wrong))
    yield from renamed_back(files, wrong, circles[1])
    for right, alike in near(wrong, *circles):
        changed = _everywhere(files, frame, wrong, right)
        if changed is None:
            continue
        if right in circles[1]:
            why = f"{shown} has no `{wrong}`; it has the similar name `{right}`."
        else:
            why = f"{shown} has no `{wrong}`; `{right}` next to it is a similar name."
        yield Repair(frame.path, changed, frame.line, why, 0.9 * alike)


def _is_private(match: re.Match[str]) -> bool:
    return re.match(r"_\w+?__\w", match["name"]) is not None


def _stands(files: Mapping[str, str], frame: Frame, name: str) -> bool:
    """Whether the attribute stands in the statement of a frame, or where it continues."""
    text = files.get(frame.path)
    return text is not None and with_attribute(text, frame.line, name, name + "_") is not None


def _everywhere(files: Mapping[str, str], frame: Frame, wrong: str, right: str) -> str | None:
    """The text with the slip mended: on `self` in the whole file, else in one statement."""
    text = files[frame.path]
    tree = parsed(text)
    nodes = list(ast.walk(tree)) if isinstance(tree, ast.Module) else []
    found = [node for node in nodes if isinstance(node, ast.Attribute) and node.attr == wrong]
    names = {node.id for node in nodes if isinstance(node, ast.Name)}
    on_self = all(isinstance(one.value, ast.Name) and one.value.id == "self" for one in found)
    is_set = any(isinstance(one.ctx, ast.Store) for one in found)
    if on_self and not is_set and wrong not in names:
        return with_words(text, wrong, right)
    return with_attribute(text, frame.line, wrong, right)


def _beside(text: str, line: int, wrong: str) -> set[str]:
    """What else the file takes from the very thing that has no such attribute."""
    tree = parsed(text)
    nodes = list(ast.walk(tree)) if isinstance(tree, ast.Module) else []
    found = [node for node in nodes if isinstance(node, ast.Attribute)]
    receivers = {
        ast.unparse(one.value)
        for one in found
        if one.attr == wrong and one.lineno <= line <= (one.end_lineno or one.lineno)
    }
    names = {one.attr for one in found if ast.unparse(one.value) in receivers}
    if "self" in receivers:
        for node in nodes:
            if isinstance(node, ast.ClassDef) and node.lineno <= line <= (node.end_lineno or 0):
                names |= members(node)
    return names - {wrong}


def class_names(files: Mapping[str, str], name: str, depth: int = 0) -> set[str]:
    """What a class has, its bases included as far as they are the project's or Python's."""
    found: set[str] = set(dir(_OWN_TYPES[name])) if name in _OWN_TYPES else set()
    for owner in classes_of(files, name):
        found |= members(owner)
        for base in owner.bases:
            inherited = ast.unparse(base).rpartition(".")[2]
            if depth < 5 and inherited != name:
                found |= class_names(files, inherited, depth + 1)
    return found
