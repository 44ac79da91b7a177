"""TypeError of a call: a keyword with a slip, a parameter that went missing, a forgotten `self`."""

from __future__ import annotations

import ast
import builtins
import re
from collections.abc import Iterator, Mapping

from accord.builtin.offline.repairs.name_replacements import (
    Repair,
    binding_words,
    with_keyword,
    with_words,
)
from accord.builtin.offline.repairs.similar_names import near
from accord.builtin.offline.runs.tracebacks import Failure, Frame
from accord.builtin.offline.source_code.name_spans import lines_of
from accord.builtin.offline.source_code.references import has_word, is_test
from accord.builtin.offline.source_code.scopes import bound_in, parameters
from accord.builtin.offline.source_code.symbols import parsed

_KEYWORD = re.compile(r"(?P<owner>[\w.<>]+)\(\) got an unexpected keyword argument '(?P<name>\w+)'")
_NO_KEYWORD = re.compile(r"'(?P<name>\w+)' is an invalid keyword argument for")
_TOO_MANY = re.compile(
    r"(?P<owner>[\w.<>]+)\(\) takes (?:from \d+ to )?(?P<takes>\d+) positional arguments? "
    r"but (?P<given>\d+) (?:was|were) given"
)
_MISSING = re.compile(
    r"(?P<owner>[\w.<>]+)\(\) missing 1 required (?:positional|keyword-only) argument: "
    r"'(?P<name>\w+)'"
)

Function = ast.FunctionDef | ast.AsyncFunctionDef
Found = tuple[str, Function, ast.ClassDef | None]


def repair_call(files: Mapping[str, str], failure: Failure) -> Iterator[Repair]:
    """The repairs of a call that does not fit its function."""
    if not failure.frames or failure.frames[-1].path not in files:
        return
    frame = failure.frames[-1]
    if (match := _KEYWORD.search(failure.message)) is not None:
        yield from _unknown_keyword(files, frame, match["owner"], match["name"])
    elif (match := _NO_KEYWORD.search(failure.message)) is not None:
        names = _keywords_beside(files, frame, match["name"])
        yield from _other_keyword(files, frame, match["name"], names, "the call")
    elif (match := _TOO_MANY.search(failure.message)) is not None:
        extra = int(match["given"]) - int(match["takes"])
        for found in functions_of(files, match["owner"]):
            yield from _with_self(files, found, extra)
            for name in sorted(unbound_in(files[found[0]], found[1])):
                yield from parameter_back(files, found[0], found[1], name)
    elif (match := _MISSING.search(failure.message)) is not None:
        yield from _argument_added(files, frame, match["owner"], match["name"])


def functions_of(files: Mapping[str, str], owner: str) -> Iterator[Found]:
    """The functions of the project that an error may mean by a name; those of tests last."""
    parts = [part for part in owner.split(".") if part != "<locals>"]
    for path in sorted(files, key=is_test):
        text = files[path]
        if not path.endswith(".py") or f"def {parts[-1]}" not in text:
            continue
        tree = parsed(text)
        nodes = list(ast.walk(tree)) if isinstance(tree, ast.Module) else []
        owners = {
            inner: node for node in nodes if isinstance(node, ast.ClassDef) for inner in node.body
        }
        for node in nodes:
            if not isinstance(node, Function) or node.name != parts[-1]:
                continue
            inside = owners.get(node)
            named = len(parts) > 1 and "<locals>" not in owner
            if not named or (inside is not None and inside.name == parts[-2]):
                yield path, node, inside


def unbound_in(text: str, function: Function) -> frozenset[str]:
    """The names that a function reads and nothing around it or in it binds."""
    tree = parsed(text)
    if not isinstance(tree, ast.Module):
        return frozenset()
    read = {
        node.id
        for statement in function.body
        for node in ast.walk(statement)
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)
    }
    outer = [
        node
        for node in ast.walk(tree)
        if isinstance(node, Function)
        and node.lineno <= function.lineno <= (node.end_lineno or node.lineno)
    ]
    known = set(bound_in(tree.body)) | set(dir(builtins)) | binding_words(function)
    for node in outer:
        known |= bound_in(node.body) | {one.arg for one in parameters(node.args)}
    return frozenset(read - known)


def parameter_back(
    files: Mapping[str, str], path: str, function: Function, name: str
) -> Iterator[Repair]:
    """Add a parameter that a function uses and callers pass, but that it does not have."""
    text = files[path]
    if name not in unbound_in(text, function) or name in ("self", "cls"):
        return
    called, anywhere = _handed(files, function.name, name)
    default = _default_beside(files, path, name)
    uses = sum(isinstance(node, ast.Name) and node.id == name for node in ast.walk(function))
    if called:
        score, because = 0.94, f"calls of it pass `{name}`"
    elif default is not None:
        score, because = 0.9, f"other definitions have the parameter `{name}`"
    elif anywhere:
        score, because = 0.82, f"calls pass `{name}`"
    elif uses > 1:
        score, because = 0.5, f"it uses `{name}` in {uses} places"
    else:
        return
    changed = _with_parameter(text, function, name, default or "None")
    if changed is not None:
        why = f"`{function.name}` uses `{name}` and has no such parameter; {because}."
        yield Repair(path, changed, function.lineno, why, score)


def _handed(files: Mapping[str, str], function: str, name: str) -> tuple[int, bool]:
    """The number of calls of the function that pass the keyword, and whether any call does."""
    count, anywhere = 0, False
    for path, text in files.items():
        if not path.endswith(".py") or not has_word(text, name):
            continue
        tree = parsed(text)
        for node in ast.walk(tree) if isinstance(tree, ast.Module) else ():
            if isinstance(node, ast.Call) and any(word.arg == name for word in node.keywords):
                anywhere = True
                count += ast.unparse(node.func).rpartition(".")[2] == function
    return count, anywhere


def _default_beside(files: Mapping[str, str], path: str, name: str) -> str | None:
    """The default that other functions of the file, or its stub, give a parameter of that name."""
    for one in (path, f"{path}i"):
        tree = parsed(files.get(one, ""))
        for node in ast.walk(tree) if isinstance(tree, ast.Module) else ():
            if not isinstance(node, Function):
                continue
            plain = [*node.args.posonlyargs, *node.args.args]
            defaults = list(zip(reversed(plain), reversed(node.args.defaults), strict=False))
            pairs = [*defaults, *zip(node.args.kwonlyargs, node.args.kw_defaults, strict=True)]
            for argument, default in pairs:
                if argument.arg == name and default is not None and ast.unparse(default) != "...":
                    return ast.unparse(default)
    return None


def _with_parameter(text: str, function: Function, name: str, default: str) -> str | None:
    arguments = function.args
    new = f"{name}={default}"
    if arguments.kwonlyargs:
        last: ast.expr | ast.arg = arguments.kw_defaults[-1] or arguments.kwonlyargs[-1]
        place, added = _end(text, last), f", {new}"
    elif arguments.vararg is not None or not (arguments.args or arguments.posonlyargs):
        if arguments.vararg is not None:
            place, added = _end(text, arguments.vararg), f", {new}"
        else:
            opened = _opening(text, function)
            place, added = opened, new
    else:
        last = [*arguments.posonlyargs, *arguments.args][-1]
        if arguments.defaults:
            last = arguments.defaults[-1]
        elif last.annotation is not None:
            last = last.annotation
        place, added = _end(text, last), f", {new}"
    if place is None:
        return None
    changed = text[:place] + added + text[place:]
    return changed if isinstance(parsed(changed), ast.Module) else None


def _end(text: str, node: ast.expr | ast.arg) -> int | None:
    if node.end_lineno is None or node.end_col_offset is None:
        return None
    return _offset(text, node.end_lineno, node.end_col_offset)


def _offset(text: str, line: int, column_bytes: int) -> int:
    lines = lines_of(text)
    before = lines[line - 1].encode("utf-8", "surrogatepass")[:column_bytes]
    return sum(map(len, lines[: line - 1])) + len(before.decode("utf-8", "ignore"))


def _opening(text: str, function: Function) -> int | None:
    """The place after the bracket that a function's parameters begin with."""
    start = _offset(text, function.lineno, function.col_offset)
    match = re.compile(rf"(?:async\s+)?def\s+{re.escape(function.name)}\s*\(").match(text, start)
    return None if match is None else match.end()


def self_back(files: Mapping[str, str], path: str, function: Function) -> Iterator[Repair]:
    """The `self` that a method uses and does not take."""
    for home, found, inside in functions_of(files, function.name):
        if home == path and found.lineno == function.lineno:
            yield from _with_self(files, (home, found, inside), 1)


def _with_self(files: Mapping[str, str], found: Found, extra: int) -> Iterator[Repair]:
    path, function, inside = found
    names = [one.arg for one in parameters(function.args)]
    if inside is None or extra != 1 or names[:1] in (["self"], ["cls"]):
        return
    decorators = {ast.unparse(one).rpartition(".")[2] for one in function.decorator_list}
    first = "cls" if "classmethod" in decorators else "self"
    place = _opening(files[path], function)
    if "staticmethod" in decorators or place is None:
        return
    text = files[path]
    changed = text[:place] + (f"{first}, " if names else first) + text[place:]
    why = f"`{function.name}` is a method of `{inside.name}` and does not take `{first}`."
    yield Repair(path, changed, function.lineno, why, 0.93)


def _unknown_keyword(
    files: Mapping[str, str], frame: Frame, owner: str, wrong: str
) -> Iterator[Repair]:
    for path, function, _inside in functions_of(files, owner):
        yield from parameter_back(files, path, function, wrong)
    shown = owner.removesuffix(".__init__")
    takes = keywords_of(files, owner)
    users, _anywhere = _handed(files, shown.rpartition(".")[2], wrong)
    if users > 1:
        yield from _parameter_renamed(files, owner, wrong, takes, users)
    names = takes or _keywords_beside(files, frame, wrong)
    yield from _other_keyword(files, frame, wrong, names, f"`{shown}`")


def _parameter_renamed(
    files: Mapping[str, str], owner: str, wrong: str, takes: frozenset[str], users: int
) -> Iterator[Repair]:
    """Rename a parameter back to the name that callers use."""
    for right, alike in near(wrong, takes):
        for path, function, _inside in functions_of(files, owner):
            if right not in {one.arg for one in parameters(function.args)}:
                continue
            lines = lines_of(files[path])
            first, last = function.lineno - 1, function.end_lineno or function.lineno
            # What is indented parses below something only.
            head = "if 1:\n" if function.col_offset else ""
            body = head + "".join(lines[first:last])
            changed = with_words(body, right, wrong, attributes=False)
            if changed is None:
                continue
            whole = "".join([*lines[:first], changed.removeprefix(head), *lines[last:]])
            why = f"{users} calls pass `{wrong}`; `{function.name}` calls it `{right}`."
            yield Repair(path, whole, function.lineno, why, 0.91 * alike)


def _other_keyword(
    files: Mapping[str, str], frame: Frame, wrong: str, names: frozenset[str], owner: str
) -> Iterator[Repair]:
    for right, alike in near(wrong, names):
        changed = with_keyword(files[frame.path], frame.line, wrong, right)
        if changed is not None:
            why = f"{owner} takes no `{wrong}`; it takes the similar `{right}`."
            yield Repair(frame.path, changed, frame.line, why, 0.9 * alike)


def _keywords_beside(files: Mapping[str, str], frame: Frame, wrong: str) -> frozenset[str]:
    """The keywords that other calls of the same thing have."""
    tree = parsed(files[frame.path])
    if not isinstance(tree, ast.Module):
        return frozenset()
    names = {
        ast.unparse(node.func)
        for node in ast.walk(tree)
        if isinstance(node, ast.Call)
        and node.lineno <= frame.line <= (node.end_lineno or node.lineno)
        and any(word.arg == wrong for word in node.keywords)
    }
    found: set[str] = set()
    for path, text in files.items():
        other = parsed(text) if path.endswith(".py") else ""
        for node in ast.walk(other) if isinstance(other, ast.Module) else ():
            if isinstance(node, ast.Call) and ast.unparse(node.func) in names:
                found.update(word.arg for word in node.keywords if word.arg)
    return frozenset(found - {wrong})


def keywords_of(files: Mapping[str, str], owner: str) -> frozenset[str]:
    """The keywords that a function of the project takes; its name is as an error shows it."""
    parts = [part for part in owner.split(".") if part != "<locals>"]
    names: set[str] = set()
    if parts[-1] == "__init__" and len(parts) > 1:
        for node in classes_of(files, parts[-2]):
            # A dataclass is made from its annotated fields.
            names.update(
                inner.target.id
                for inner in node.body
                if isinstance(inner, ast.AnnAssign) and isinstance(inner.target, ast.Name)
            )
    for _path, function, _inside in functions_of(files, owner):
        special = (function.args.vararg, function.args.kwarg)
        names.update(one.arg for one in parameters(function.args) if one not in special)
    return frozenset(names - {"self", "cls"})


def classes_of(files: Mapping[str, str], name: str) -> Iterator[ast.ClassDef]:
    """The classes of the project with a name."""
    for path, text in files.items():
        if path.endswith(".py") and f"class {name}" in text:
            tree = parsed(text)
            for node in ast.walk(tree) if isinstance(tree, ast.Module) else ():
                if isinstance(node, ast.ClassDef) and node.name == name:
                    yield node


def _argument_added(
    files: Mapping[str, str], frame: Frame, owner: str, name: str
) -> Iterator[Repair]:
    """Pass a missing argument that the caller has."""
    text = files[frame.path]
    tree = parsed(text)
    if not isinstance(tree, ast.Module):
        return
    known: set[str] = set(bound_in(tree.body))
    for node in ast.walk(tree):
        if isinstance(node, Function) and node.lineno <= frame.line <= (node.end_lineno or 0):
            known |= bound_in(node.body) | {one.arg for one in parameters(node.args)}
    parts = owner.split(".")
    wanted = parts[-2] if parts[-1] == "__init__" and len(parts) > 1 else parts[-1]
    for node in ast.walk(tree):
        if not isinstance(node, ast.Call) or name not in known:
            continue
        inside = node.lineno <= frame.line <= (node.end_lineno or node.lineno)
        if not inside or ast.unparse(node.func).rpartition(".")[2] != wanted:
            continue
        end = _offset(text, node.end_lineno or node.lineno, (node.end_col_offset or 1) - 1)
        head = text[:end].rstrip()
        joint = "" if head.endswith(("(", ",")) else ", "
        changed = f"{head}{joint}{name}={name}{text[len(head) :]}"
        if isinstance(parsed(changed), ast.Module):
            why = f"`{wanted}` needs `{name}`, which is available and is not passed."
            yield Repair(frame.path, changed, frame.line, why, 0.85)
