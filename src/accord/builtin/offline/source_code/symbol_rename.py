"""Renaming a symbol of a Python project: which names are that symbol, file by file.

What is at the top of a file is followed through imports, also through files that hand it on.  A
method is an attribute of whatever has one; where two classes of the project have it, nobody can
tell them apart without running the program, and it is refused.  Strings and comments stay, except
the names listed in `__all__`.

What always holds
    * Only whole names change; every other character stays.
    * What cannot be told is left alone and said, never guessed.
"""

from __future__ import annotations

import ast
import builtins
import keyword
from collections.abc import Iterable, Mapping, Set
from dataclasses import dataclass

from accord.builtin.offline.source_code.module_files import file_of
from accord.builtin.offline.source_code.name_spans import Span, Spans, replaced
from accord.builtin.offline.source_code.references import Definition, has_word
from accord.builtin.offline.source_code.scopes import Walker, bound_in, own_nodes
from accord.builtin.offline.source_code.symbols import language_of, parsed

FILES_MAX = 200
"""Files that one rename changes at most."""

_OWN_TYPES = (str, bytes, int, float, list, dict, set, tuple, object, type, BaseException)


@dataclass(frozen=True, slots=True)
class Renaming:
    """What a rename would do.  `refused` says why it does nothing; `warnings` what to look at."""

    changes: Mapping[str, str]
    places: Mapping[str, tuple[int, ...]]
    refused: str | None = None
    warnings: tuple[str, ...] = ()


def rename(files: Mapping[str, str], target: Definition, new: str) -> Renaming:
    """The changes that give a definition another name in all Python files."""
    try:
        return _rename(files, target, new)
    except RecursionError:
        return Renaming({}, {}, "an expression in one of the files is nested too deeply.")


def _rename(files: Mapping[str, str], target: Definition, new: str) -> Renaming:
    old = target.symbol.name
    refused = _refusal(old, new)
    trees, warnings = _trees(files, old)
    if refused is None and target.path not in trees:
        refused = f"{target.path} cannot be parsed."
    spans: dict[str, list[Span]] = {}
    if refused is None:
        if target.symbol.depth == 0:
            spans, clash = _top_level(files, trees, target.path, old, new)
            refused = clash
        else:
            spans, refused = _attribute(files, trees, target, new)
    if refused is None and len(spans) > FILES_MAX:
        refused = f"`{old}` is in {len(spans)} files, more than the limit of {FILES_MAX}."
    if refused is not None:
        return Renaming({}, {}, refused)
    if hasattr(builtins, new) and target.symbol.depth == 0:
        warnings.append(f"`{new}` now hides Python's own `{new}`.")
    warnings.extend(_left(files, trees, spans, old))
    changes = {path: replaced(files[path], found, new) for path, found in spans.items()}
    lines = {path: tuple(sorted({span[0] for span in found})) for path, found in spans.items()}
    return Renaming(changes, lines, None, tuple(warnings))


def _refusal(old: str, new: str) -> str | None:
    if keyword.iskeyword(new):
        return f"`{new}` is a keyword."
    if not new.isidentifier():
        return f"`{new}` is not a valid Python name."
    if old == new:
        return "the old name and the new one are the same."
    if old.startswith("__") and old.endswith("__"):
        return f"`{old}` has a special meaning in Python."
    return None


def _trees(files: Mapping[str, str], name: str) -> tuple[dict[str, ast.Module], list[str]]:
    """The files that may have the name; those that do not parse become warnings."""
    trees: dict[str, ast.Module] = {}
    warnings: list[str] = []
    for path, text in files.items():
        if language_of(path) != "Python" or not has_word(text, name):
            continue
        tree = parsed(text)
        if isinstance(tree, str):
            warnings.append(f"{path} is unchanged because it does not parse: {tree}.")
        else:
            trees[path] = tree
    return trees, warnings


# ---- what is at the top of a file


def _top_level(
    files: Mapping[str, str], trees: Mapping[str, ast.Module], home: str, old: str, new: str
) -> tuple[dict[str, list[Span]], str | None]:
    homes = _homes(files, trees, home, old)
    found: dict[str, list[Span]] = {}
    for path, tree in trees.items():
        spans = Spans(files[path], old)
        imports = _imports_of(files, path, tree, homes, old)
        for alias in imports:
            spans.add_alias(alias)
        same = {alias for alias in imports if alias.asname in (None, old)}
        if path in homes or same:
            _plain(tree, old, spans, same, at_top=path in homes)
            if _taken(tree, new):
                return {}, f"`{new}` is already a name in {path}; the two would become one."
        if path in homes:
            _listed(tree, old, spans)
        _attributes_of(tree, _modules_of(files, path, tree, homes), old, spans)
        if spans.missed:
            return {}, f"an occurrence of `{old}` in {path} cannot be understood from its syntax."
        if spans.found:
            found[path] = spans.found
    return found, None


def _homes(
    files: Mapping[str, str], trees: Mapping[str, ast.Module], home: str, old: str
) -> frozenset[str]:
    """The files whose top-level name it is: where it is defined, and where it is imported to."""
    homes = {home}
    grew = True
    while grew:
        grew = False
        for path, tree in trees.items():
            if path not in homes and _imports_it(files, path, tree, homes, old):
                homes.add(path)
                grew = True
    return frozenset(homes)


def _imports_it(
    files: Mapping[str, str], path: str, tree: ast.Module, homes: set[str], old: str
) -> bool:
    """Whether the file has it at its top, under the same name, by an import."""
    for node in own_nodes(tree.body):
        if isinstance(node, ast.ImportFrom) and any(
            alias.name in (old, "*") and alias.asname in (None, old) for alias in node.names
        ):
            by_star = all(alias.name == "*" for alias in node.names)
            if by_star and old in bound_in(tree.body):
                # It has one of its own, which hides what the star brings.
                continue
            source = file_of(files, path, node.module or "", node.level)
            if source in homes:
                return True
    return False


def _imports_of(
    files: Mapping[str, str], path: str, tree: ast.Module, homes: frozenset[str], old: str
) -> list[ast.alias]:
    """Every import of the symbol in a file, also in functions, also under another name."""
    return [
        alias
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
        if alias.name == old and file_of(files, path, node.module or "", node.level) in homes
    ]


def _modules_of(
    files: Mapping[str, str], path: str, tree: ast.Module, homes: frozenset[str]
) -> set[str]:
    """The dotted names under which modules that have it are known in a file."""
    modules: set[str] = set()
    for node in ast.walk(tree):
        if not isinstance(node, ast.Import | ast.ImportFrom):
            continue
        for alias in node.names:
            if isinstance(node, ast.Import):
                source = file_of(files, path, alias.name)
            else:
                inner = f"{node.module}.{alias.name}" if node.module else alias.name
                source = file_of(files, path, inner, node.level)
            if source in homes:
                modules.add(alias.asname or alias.name)
    return modules


def _plain(
    tree: ast.Module, old: str, spans: Spans, imports: Set[ast.AST], *, at_top: bool
) -> None:
    """Mark the name where it is the symbol."""

    def visit(node: ast.AST, is_it: bool) -> None:
        if is_it and isinstance(node, ast.Name) and node.id == old:
            spans.add_name(node)
        elif (
            is_it
            and isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef)
            and node.name == old
        ):
            spans.add_after(node, ("def", "class"))
        elif at_top and isinstance(node, ast.Global) and old in node.names:
            spans.add_within(node)
        elif is_it and isinstance(node, ast.ExceptHandler) and node.name == old:
            spans.add_after(node, ("as",))

    Walker(old, visit, imports, at_top=at_top).walk(tree)


def _listed(tree: ast.Module, name: str, spans: Spans) -> None:
    """Mark the name in `__all__`."""
    for node in tree.body:
        if isinstance(node, ast.Assign):
            targets, value = node.targets, node.value
        elif isinstance(node, ast.AnnAssign | ast.AugAssign) and node.value is not None:
            targets, value = [node.target], node.value
        else:
            continue
        if any(isinstance(target, ast.Name) and target.id == "__all__" for target in targets):
            for part in ast.walk(value):
                if isinstance(part, ast.Constant) and part.value == name:
                    spans.add_string(part)


def _attributes_of(tree: ast.Module, modules: set[str], old: str, spans: Spans) -> None:
    """Mark `module.name` for the modules that have it."""
    for node in ast.walk(tree) if modules else ():
        if not isinstance(node, ast.Attribute) or node.attr != old:
            continue
        if ast.unparse(node.value) in modules:
            spans.add_attribute(node)


def _taken(tree: ast.Module, new: str) -> bool:
    """Whether the new name means something in a file already, at its top or further in."""
    if new in bound_in(tree.body):
        return True
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and node.id == new:
            return True
        if isinstance(node, ast.arg) and node.arg == new:
            return True
    return False


# ---- what is in a class


def _attribute(
    files: Mapping[str, str], trees: Mapping[str, ast.Module], target: Definition, new: str
) -> tuple[dict[str, list[Span]], str | None]:
    old = target.symbol.name
    if target.symbol.kind not in ("method", "property", "attribute"):
        return {}, f"`{target.symbol.qualified}` is inside a function; change it there."
    if any(hasattr(kind, old) for kind in _OWN_TYPES):
        return {}, f"`{old}` is also a name that Python's own types have."
    owners = sorted(_owners(trees, old))
    if len(owners) > 1:
        return (
            {},
            f"{', '.join(owners)} have a `{old}` each, and I cannot tell whose is used where.",
        )
    if list(_owners(trees, new)) or any(
        f"{owner}.{new}" in taken for owner in owners for taken in [_members(files, new)]
    ):
        return {}, f"a class already has a `{new}`."
    found: dict[str, list[Span]] = {}
    for path, tree in trees.items():
        spans = Spans(files[path], old)
        for node in ast.walk(tree):
            if isinstance(node, ast.Attribute) and node.attr == old:
                spans.add_attribute(node)
            elif isinstance(node, ast.ClassDef):
                _members_of(node, old, spans)
            elif isinstance(node, ast.Call) and target.symbol.kind == "attribute":
                _given_to(node, target.symbol.qualified.split(".")[-2], old, spans)
        if spans.found:
            found[path] = spans.found
    return found, None


def _given_to(call: ast.Call, owner: str, old: str, spans: Spans) -> None:
    """A field of a class is also what the class is made with, as a dataclass is."""
    made = call.func.attr if isinstance(call.func, ast.Attribute) else ""
    made = call.func.id if isinstance(call.func, ast.Name) else made
    for word in call.keywords:
        if made == owner and word.arg == old:
            spans.add_keyword(word)


def _members_of(owner: ast.ClassDef, old: str, spans: Spans) -> None:
    for node in owner.body:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.name == old:
            spans.add_after(node, ("def",))
        elif isinstance(node, ast.Assign | ast.AnnAssign):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            for target in targets:
                if isinstance(target, ast.Name) and target.id == old:
                    spans.add_name(target)


def _owners(trees: Mapping[str, ast.Module], name: str) -> Iterable[str]:
    for path, tree in trees.items():
        for node in ast.walk(tree):
            if isinstance(node, ast.ClassDef) and name in bound_in(node.body):
                yield f"{node.name} in {path}"


def _members(files: Mapping[str, str], name: str) -> set[str]:
    """`Class in path.name` for every class of the project that has a member of that name."""
    trees, _ = _trees(files, name)
    return {f"{owner}.{name}" for owner in _owners(trees, name)}


def _left(
    files: Mapping[str, str],
    trees: Mapping[str, ast.Module],
    spans: Mapping[str, list[Span]],
    old: str,
) -> Iterable[str]:
    """Where the name still stands, for a person to look at."""
    others = [
        path
        for path, text in files.items()
        if path not in spans and language_of(path) != "Python" and has_word(text, old)
    ]
    if others:
        more = f" and {len(others) - 3} more" if len(others) > 3 else ""
        yield f"`{old}` is also mentioned in {', '.join(others[:3])}{more}; that is left unchanged."
    marked = {(path, span[0]) for path, found in spans.items() for span in found}
    texts = [
        f"{path}:{node.lineno}"
        for path, tree in trees.items()
        for node in ast.walk(tree)
        if isinstance(node, ast.Constant)
        and node.value == old
        and (path, node.lineno) not in marked
    ]
    if texts:
        more = f" and {len(texts) - 3} more" if len(texts) > 3 else ""
        yield f"`{old}` occurs as text in {', '.join(texts[:3])}{more}; check whether it is meant."
