"""JavaScript: undefined names, missing properties and modules."""

from __future__ import annotations

import posixpath
import re
from collections import Counter
from collections.abc import Iterator, Mapping

from accord.builtin.offline.repairs.javascript.source_text import (
    ENDINGS,
    code_of,
    declared_in,
    scripts_in,
    with_identifier,
    with_property,
)
from accord.builtin.offline.repairs.name_replacements import Repair
from accord.builtin.offline.repairs.similar_names import near
from accord.builtin.offline.runs.tracebacks import Failure, Frame
from accord.builtin.offline.source_code.name_spans import lines_of

_NOT_DEFINED = re.compile(r"^(?P<name>[\w$]+) is not defined")
_NO_FUNCTION = re.compile(r"^(?P<owner>.*?)\.?(?P<name>[\w$]+) is not a function")
_NO_MODULE = re.compile(r"^Cannot find module '(?P<module>[^']+)'")
_CONSTANT = "Assignment to constant variable"

_GLOBALS = (
    "Array", "Boolean", "Buffer", "Date", "Error", "Infinity", "JSON", "Map", "Math", "NaN",
    "Number", "Object", "Promise", "Proxy", "RangeError", "Reflect", "RegExp", "Set", "String",
    "Symbol", "TypeError", "URL", "WeakMap", "clearTimeout", "console", "decodeURIComponent",
    "encodeURIComponent", "exports", "globalThis", "isFinite", "isNaN", "module", "parseFloat",
    "parseInt", "process", "require", "setImmediate", "setInterval", "setTimeout", "undefined",
)  # fmt: skip
_METHODS = (
    "apply", "assign", "bind", "call", "charAt", "charCodeAt", "concat", "create",
    "defineProperty", "endsWith", "entries", "every", "exec", "fill", "filter", "find",
    "findIndex", "flat", "flatMap", "forEach", "freeze", "from", "get", "has", "hasOwnProperty",
    "includes", "indexOf", "isArray", "isInteger", "join", "keys", "lastIndexOf", "map", "match",
    "max", "min", "parse", "pop", "push", "reduce", "replace", "replaceAll", "resolve", "reverse",
    "search", "set", "shift", "slice", "some", "sort", "splice", "split", "startsWith",
    "stringify", "substring", "test", "then", "toFixed", "toLowerCase", "toString", "toUpperCase",
    "trim", "unshift", "values",
)  # fmt: skip
_NODE_MODULES = frozenset(
    {
        *("assert", "buffer", "child_process", "crypto", "events", "fs", "http", "https", "net"),
        *("os", "path", "querystring", "readline", "stream", "timers", "tls", "url", "util", "vm"),
        *("worker_threads", "zlib"),
    }
)
_REQUIRE = re.compile(r"^\s*(?:var|let|const)\s.*\brequire\(|^\s*import\s", re.MULTILINE)
_SOURCE = re.compile(r"(?P<quote>['\"])(?P<source>[^'\"]+)['\"]\)?;?\s*$")


def repair_reference(files: Mapping[str, str], failure: Failure) -> Iterator[Repair]:
    """The repairs of a name that is not defined."""
    match, frame = _NOT_DEFINED.search(failure.message), _place(files, failure)
    if match is None or frame is None:
        return
    wrong, text = match["name"], files[frame.path]
    for line, what in _imports(files, frame.path, wrong):
        changed = _with_line(text, line)
        why = f"`{wrong}` is used in {frame.path} and never required; {what}."
        yield Repair(frame.path, changed, frame.line, why, 0.9)
    declared = declared_in(text)
    everywhere = wrong not in declared
    for right, alike in near(wrong, declared, _GLOBALS):
        changed_name = with_identifier(text, wrong, right, None if everywhere else frame.line)
        if changed_name is not None:
            why = f"`{wrong}` is not defined; `{right}` is a similar name."
            yield Repair(frame.path, changed_name, frame.line, why, 0.9 * alike)
    # A declaration with a slip: it is used nowhere, and its right name is used in many places.
    for right, alike in near(wrong, declared):
        uses = len(re.findall(rf"(?<![\w$]){re.escape(wrong)}(?![\w$])", code_of(text)))
        own = len(re.findall(rf"(?<![\w$]){re.escape(right)}(?![\w$])", code_of(text)))
        if own == 1 and uses > 1:
            back = with_identifier(text, right, wrong)
            why = f"{uses} places use `{wrong}`; `{right}`, which nothing uses, gets that name."
            if back is not None:
                yield Repair(frame.path, back, frame.line, why, 0.92 * alike)


def repair_script_call(files: Mapping[str, str], failure: Failure) -> Iterator[Repair]:
    """The repairs of a call of a non-function, and of an assignment to a constant."""
    frame = _place(files, failure)
    if frame is None:
        return
    text = files[frame.path]
    if failure.message.startswith(_CONSTANT):
        yield from _variable(text, frame)
    match = _NO_FUNCTION.search(failure.message)
    if match is None:
        return
    owner, wrong = match["owner"].strip(), match["name"]
    beside = set(re.findall(rf"{re.escape(owner)}\.([\w$]+)", code_of(text))) if owner else set()
    known = {
        name
        for other in scripts_in(files).values()
        for name in re.findall(r"(?:\.|\b)([\w$]+)\s*(?:=\s*function|:\s*function|\()", other)
    }
    for right, alike in near(wrong, beside - {wrong}, known - {wrong}, _METHODS):
        changed = with_property(text, wrong, right, frame.line)
        if changed is not None:
            why = f"`{wrong}` is not a function there; `{right}` is a similar name."
            yield Repair(frame.path, changed, frame.line, why, 0.9 * alike)


def repair_script_module(files: Mapping[str, str], failure: Failure) -> Iterator[Repair]:
    """The repairs of a module that cannot be found."""
    match, frame = _NO_MODULE.search(failure.message), _place(files, failure)
    if match is None or frame is None:
        return
    wrong, folder = match["module"], posixpath.dirname(frame.path)
    if wrong.startswith("."):
        names = {
            _relative(folder, path, wrong) for path in files if path.endswith((*ENDINGS, ".json"))
        }
    else:
        names = set(_NODE_MODULES)
    for right, alike in near(wrong, names):
        text = files[frame.path]
        for quote in "'\"":
            changed = text.replace(f"{quote}{wrong}{quote}", f"{quote}{right}{quote}")
            if changed != text:
                why = f"there is no module `{wrong}`; `{right}` is a similar name."
                yield Repair(frame.path, changed, frame.line, why, 0.9 * alike)


def _place(files: Mapping[str, str], failure: Failure) -> Frame | None:
    frame = failure.frames[-1] if failure.frames else None
    if frame is None or frame.path not in files or not frame.path.endswith(ENDINGS):
        return None
    return frame


def _relative(folder: str, path: str, like: str) -> str:
    """A file as another file requires it, written as the given one: with its ending or without."""
    found = posixpath.relpath(path, folder or ".")
    found = found if found.startswith(".") else f"./{found}"
    return found if like.endswith((*ENDINGS, ".json")) else re.sub(r"\.[cm]?js$", "", found)


def _variable(text: str, frame: Frame) -> Iterator[Repair]:
    line = lines_of(text)[frame.line - 1] if 0 < frame.line <= len(lines_of(text)) else ""
    for name in re.findall(r"([\w$]+)\s*(?:[-+*/%|&^]?=(?!=)|\+\+|--)", line):
        changed, count = re.subn(rf"\bconst(\s+{re.escape(name)}\b)", r"let\1", text)
        if count == 1:
            why = f"`{name}` is a constant and is assigned to, so it must be a variable."
            yield Repair(frame.path, changed, frame.line, why, 0.9)


def _imports(files: Mapping[str, str], path: str, name: str) -> Iterator[tuple[str, str]]:
    """Lines that bring a name, and what speaks for them."""
    found: Counter[str] = Counter()
    binds = re.compile(rf"(?<![\w$.]){re.escape(name)}(?![\w$])(?=[^'\"]*['\"])")
    for other, text in scripts_in(files).items():
        if other == path or name not in text:
            continue
        for line in lines_of(text):
            if _REQUIRE.match(line) and binds.search(line.partition("require(")[0] + "''"):
                found[_moved(line.strip(), other, path)] += 1
    for line, count in found.most_common(2):
        others = "another file requires" if count == 1 else f"{count} other files require"
        yield line, f"{others} it this way"
    if name in _NODE_MODULES:
        yield _styled(files[path], name), "it is a module of node"


def _moved(line: str, source: str, target: str) -> str:
    """The line of one file as another file has to write it."""
    match = _SOURCE.search(line)
    if match is None or not match["source"].startswith("."):
        return line
    there = posixpath.normpath(posixpath.join(posixpath.dirname(source), match["source"]))
    here = posixpath.relpath(there, posixpath.dirname(target) or ".")
    here = here if here.startswith(".") else f"./{here}"
    if posixpath.dirname(source) == posixpath.dirname(target):
        here = match["source"]
    return line[: match.start("source")] + here + line[match.end("source") :]


def _styled(text: str, name: str) -> str:
    """A line that requires a module of node, as the file writes such lines."""
    like = next((line for line in lines_of(text) if _REQUIRE.match(line)), "")
    quote = '"' if '"' in like else "'"
    end = "" if like and not like.rstrip().endswith(";") else ";"
    if re.match(r"\s*import\s", like):
        return f"import {name} from {quote}{name}{quote}{end}"
    word = re.match(r"\s*(var|let|const)", like)
    return f"{word[1] if word else 'const'} {name} = require({quote}{name}{quote}){end}"


def _with_line(text: str, line: str) -> str:
    """The text with one more line: after the lines that require, or before the code."""
    lines = lines_of(text)
    after = 0
    for index, one in enumerate(lines):
        if _REQUIRE.match(one) and not one[:1].isspace():
            after = index + 1
        elif re.match(r"['\"]use strict|#!", one):
            after = max(after, index + 1)
    ending = "\r\n" if "\r\n" in text else "\n"
    return "".join([*lines[:after], line + ending, *lines[after:]])
