"""A name that is used and never imported: which import brings it.

What the project itself does comes first: what it defines, and how its other files import the name.
"""

from __future__ import annotations

import ast
import re
import sys
from collections import Counter
from collections.abc import Iterator, Mapping

from accord.builtin.offline.repairs.repair import Repair, with_import_line
from accord.builtin.offline.repairs.standard_library import KNOWN, OFTEN_USED, library_names
from accord.builtin.offline.runs.tracebacks import Frame
from accord.builtin.offline.source_code.module_files import module_name
from accord.builtin.offline.source_code.references import definitions_of, has_word, is_test
from accord.builtin.offline.source_code.symbols import parsed


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
