"""Imports: a wrong name in a module, a module elsewhere, a name that is used and never imported.

For a missing import, what the project itself does comes first: what it defines, and how its other
files import the name.
"""

from __future__ import annotations

import ast
import re
import sys
from collections import Counter
from collections.abc import Iterator, Mapping

from accord.builtin.offline.repairs.name_replacements import Repair, with_import
from accord.builtin.offline.repairs.renamed_definitions import renamed_back
from accord.builtin.offline.repairs.similar_names import near
from accord.builtin.offline.repairs.standard_library import KNOWN, OFTEN_USED, library_names
from accord.builtin.offline.runs.tracebacks import Failure, Frame
from accord.builtin.offline.source_code.module_files import file_of, module_name, module_names
from accord.builtin.offline.source_code.name_spans import lines_of
from accord.builtin.offline.source_code.references import definitions_of, has_word, is_test
from accord.builtin.offline.source_code.scopes import bound_in
from accord.builtin.offline.source_code.symbols import parsed

_NO_NAME = re.compile(r"cannot import name '(?P<name>\w+)' from '(?P<module>[\w.]+)'")
_NO_MODULE = re.compile(r"No module named '(?P<module>[\w.]+)'")


def repair_import(files: Mapping[str, str], failure: Failure) -> Iterator[Repair]:
    """The repairs of an import that failed."""
    if not failure.frames or failure.frames[-1].path not in files:
        return
    frame = failure.frames[-1]
    if (match := _NO_NAME.search(failure.message)) is not None:
        yield from _wrong_name(files, frame, match["name"], match["module"])
    elif (match := _NO_MODULE.search(failure.message)) is not None:
        yield from _wrong_module(files, frame, match["module"])


def _wrong_name(
    files: Mapping[str, str], frame: Frame, wrong: str, module: str
) -> Iterator[Repair]:
    text = files[frame.path]
    package = file_of(files, frame.path, module)
    if package is not None:
        yield from handed_on(files, package, wrong)
    # A name that another module of the project has is more than a name that looks alike.
    homes = {
        one.path
        for one in definitions_of(dict(files), wrong)
        if one.symbol.depth == 0 and one.path.endswith(".py") and one.path != frame.path
    }
    if len(homes) == 1:
        source = module_name(homes.pop(), files, "" if "." in module else frame.path)
        changed = _with_source(text, frame.line, wrong, source)
        if changed is not None and source != module:
            why = f"`{wrong}` is not in `{module}`; `{source}` has it."
            yield Repair(frame.path, changed, frame.line, why, 0.9)
    names = names_of(files, frame.path, module)
    yield from renamed_back(files, wrong, names)
    for right, alike in near(wrong, names):
        changed = with_import(text, wrong, right)
        if changed is not None:
            why = f"`{module}` has no `{wrong}`; it has the similar name `{right}`."
            yield Repair(frame.path, changed, frame.line, why, 0.9 * alike)


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
    """The names of a module: a project module by its text, one of Python's library by import."""
    path = file_of(files, importer, module)
    if path is not None:
        tree = parsed(files[path])
        names = bound_in(tree.body) if isinstance(tree, ast.Module) else frozenset()
        return names | _below(files, path)
    return frozenset(name for name in library_names(module) if not name.startswith("_"))


def _below(files: Mapping[str, str], path: str) -> frozenset[str]:
    """The modules in a package."""
    folder, _, name = path.rpartition("/")
    if name != "__init__.py":
        return frozenset()
    inner = [other[len(folder) + 1 :] for other in files if other.startswith(f"{folder}/")]
    stems = {one.removesuffix(".py").removesuffix("/__init__") for one in inner}
    return frozenset(one for one in stems if one.isidentifier()) - {"__init__"}


def _wrong_module(files: Mapping[str, str], frame: Frame, wrong: str) -> Iterator[Repair]:
    text = files[frame.path]
    # A name with dots shows that the file imports from the root.
    known = dict(module_names(files, "" if "." in wrong else frame.path))
    last = wrong.rpartition(".")[2]
    same_end = sorted(name for name in known if name.rpartition(".")[2] == last and name != wrong)
    same_end = [name for name in same_end if known[name] != frame.path]
    found: list[tuple[str, str, float]] = []
    if len(same_end) == 1:
        why = f"there is no module `{wrong}`; it is at `{same_end[0]}`."
        found.append((same_end[0], why, 0.9))
    own = [name for name, path in known.items() if path != frame.path]
    library = [name for name in sys.stdlib_module_names if not name.startswith("_")]
    for right, alike in near(wrong, own, library):
        why = f"there is no module `{wrong}`; `{right}` is a similar name."
        found.append((right, why, 0.9 * alike))
    for right, why, score in found:
        changed = _with_module(text, frame.line, wrong, right)
        if changed is not None:
            yield Repair(frame.path, changed, frame.line, why, score)


def _with_module(text: str, line: int, wrong: str, right: str) -> str | None:
    """The text with a module's name exchanged in an import, and where the module is used."""
    lines = lines_of(text)
    if not 0 < line <= len(lines):
        return None
    pattern = re.compile(rf"(?<![\w.]){re.escape(wrong)}(?!\w)")
    changed, count = pattern.subn(right, lines[line - 1], count=1)
    if not count and wrong.rpartition(".")[0] == right.rpartition(".")[0]:
        # A relative import has the end of the name only.
        ends = wrong.rpartition(".")[2], right.rpartition(".")[2]
        relative = re.compile(rf"(from\s+\.+){re.escape(ends[0])}(?!\w)")
        changed, count = relative.subn(rf"\g<1>{ends[1]}", lines[line - 1], count=1)
    if not count or not re.match(r"\s*(?:import|from)\b", lines[line - 1]):
        return None
    plain = re.match(rf"\s*import\s+{re.escape(wrong)}\s*(?:#.*)?$", lines[line - 1])
    lines[line - 1] = changed
    if plain:
        uses = re.compile(rf"(?<![\w.'\"]){re.escape(wrong)}(?=\s*\.)")
        lines = [one if one is lines[line - 1] else uses.sub(right, one) for one in lines]
    result = "".join(lines)
    return result if isinstance(parsed(result), ast.Module) else None


def imported(files: Mapping[str, str], text: str, frame: Frame, wrong: str) -> Iterator[Repair]:
    """The repairs that import a name, the likeliest first."""
    seen: set[str] = set()
    for line, what, score in _lines(files, text, frame.path, wrong):
        if line in seen:
            continue
        seen.add(line)
        changed = with_import_line(text, line)
        why = f"`{wrong}` is used in {frame.path} and never imported; {what}."
        yield Repair(frame.path, changed, frame.line, why, score)


def handed_on(files: Mapping[str, str], package: str, wrong: str) -> Iterator[Repair]:
    """A name that a package should hand on from one of its modules, and does not import."""
    folder, _, name = package.rpartition("/")
    text = files[package]
    homes = {
        one.path
        for one in definitions_of(dict(files), wrong)
        if one.symbol.depth == 0 and one.path.endswith(".py") and one.path != package
    }
    homes = {home for home in homes if home.startswith(f"{folder}/") and not is_test(home)}
    if name != "__init__.py" or len(homes) != 1:
        return
    home = homes.pop()
    module = module_name(home, files)
    line = f"from {_as_written(text, package, home) or module} import {wrong}"
    why = f"`{wrong}` is in `{module}`, and {package}, where it is expected, does not import it."
    yield Repair(package, with_import_line(text, line), 1, why, 0.93)


def _lines(
    files: Mapping[str, str], text: str, path: str, wrong: str
) -> Iterator[tuple[str, str, float]]:
    """Lines that import the name, why, and how much speaks for each."""
    homes = {
        one.path
        for one in definitions_of(dict(files), wrong)
        if one.symbol.depth == 0 and one.path != path and one.path.endswith(".py")
    }
    homes = {home for home in homes if not is_test(home)} or homes
    if len(homes) == 1:
        home = homes.pop()
        folder = path.rpartition("/")[0].replace("/", ".")
        from_root = re.search(rf"^(?:from|import) {re.escape(folder)}[. ]", text, re.MULTILINE)
        module = module_name(home, files, "" if from_root else path)
        yield (
            f"from {_as_written(text, path, home) or module} import {wrong}",
            f"{module} in this project has it",
            0.9,
        )
    elsewhere = Counter(_elsewhere(files, path, wrong))
    for line, count in elsewhere.most_common(2):
        others = "another file imports" if count == 1 else f"{count} other files import"
        yield line, f"{others} it this way", 0.9
    for module in _modules_of(text):
        if wrong in library_names(module, own=True):
            yield (
                f"from {module} import {wrong}",
                f"{module} has it, and the file already imports from there",
                0.9,
            )
    if wrong in sys.stdlib_module_names and _used_as_module(text, wrong):
        yield f"import {wrong}", "it is in Python's standard library", 0.9
    elif wrong in KNOWN:
        yield f"from {KNOWN[wrong]} import {wrong}", f"Python's {KNOWN[wrong]} has it", 0.88
    elif len(wrong) > 2:
        owners = [name for name in OFTEN_USED if wrong in library_names(name, own=True)]
        if len(owners) == 1:
            yield f"from {owners[0]} import {wrong}", f"Python's {owners[0]} has it", 0.8


def _as_written(text: str, path: str, home: str) -> str | None:
    """The module relative to the file, where the file imports so."""
    folder, _, name = home.rpartition("/")
    if folder != path.rpartition("/")[0] or not re.search(r"^from \.", text, re.MULTILINE):
        return None
    stem = name.removesuffix(".py")
    return "." if stem == "__init__" else f".{stem}"


def _elsewhere(files: Mapping[str, str], path: str, wrong: str) -> Iterator[str]:
    """How other files import the name."""
    folder = path.rpartition("/")[0]
    for other, text in files.items():
        if other == path or not other.endswith(".py") or not has_word(text, wrong):
            continue
        tree = parsed(text)
        for node in ast.walk(tree) if isinstance(tree, ast.Module) else ():
            if not isinstance(node, ast.Import | ast.ImportFrom):
                continue
            for alias in node.names:
                if (alias.asname or alias.name) != wrong:
                    continue
                if isinstance(node, ast.Import):
                    yield f"import {ast.unparse(alias)}"
                elif node.level == 0:
                    yield f"from {node.module} import {ast.unparse(alias)}"
                elif other.rpartition("/")[0] == folder:
                    source = "." * node.level + (node.module or "")
                    yield f"from {source} import {ast.unparse(alias)}"


def _modules_of(text: str) -> list[str]:
    """The modules that a file imports names from."""
    tree = parsed(text)
    nodes = ast.walk(tree) if isinstance(tree, ast.Module) else ()
    found = [
        node.module
        for node in nodes
        if isinstance(node, ast.ImportFrom) and node.module and not node.level
    ]
    return list(dict.fromkeys(found))


def _used_as_module(text: str, name: str) -> bool:
    return re.search(rf"(?<![\w.]){re.escape(name)}\s*\.\s*\w", text) is not None


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
