"""What the input of a tool call names: the files that it changes, its command, its folder.

The protocol leaves the input to each tool, so this goes by the names that agents use.  It must not
know rules or who decides.

Always holds
    * A file that is named twice, in a list, deep inside or by a patch counts as any other.
    * A relative path is one in the folder that the input names, if it names one.
    * A command is a command whatever kind the agent gives its call.
"""

from __future__ import annotations

import json
import os.path
import re
import shlex
from collections.abc import Iterator, Mapping
from typing import Any

from accord.client.changed_files import CHANGING_KINDS

INPUT_PATHS_MAX = 1024
"""Paths that are read from the input of one call; the rest is told by one that cannot be read."""
NESTING_MAX = 8
"""Objects and lists inside each other that are looked into."""

FOLDER_NAMES = ("cwd", "workdir", "working_directory", "workingDirectory", "directory")
"""The names that agents have for the folder of a command, in the input of a tool call."""

# How the names end that agents have for the file, in the input of their editing tools.
_PATH_NAME = re.compile(r".*(?:path|paths|file|files|filename|filenames|uri|uris)|fname|notebook")
# Not the file, but where all files are, or something else.
_OTHER_NAME = re.compile(r"(?:workspace|root|project|base|repo|repository|cwd)path|profile")
# The two ends of a move.  Of an edit the first are what is replaced, and the others may be anything
# but a file that is spelled from the root.
_TEXT_ENDS = frozenset({"from", "source", "src", "to"})
_OTHER_ENDS = frozenset({"dest", "destination", "dst", "input", "output", "target"})
_PATCH_NAMES = frozenset({"diff", "input", "patch", "patchtext", "unifieddiff"})
_JSON_NAMES = frozenset({"arguments", "args", "input", "parameters", "params"})
_PATCHED_FILE = re.compile(
    r"^(?:\*\*\* (?:Add|Update|Delete) File: |\*\*\* Move to: |rename (?:from|to) |"
    r"(?:---|\+\+\+) (?:[ab]/)?)([^\t\n]+)",
    re.MULTILINE,
)
# Editing tools have a `command` that is a word of their own.
_EDITOR_WORDS = frozenset(
    {"append", "create", "delete", "edit", "insert", "move", "overwrite", "read", "remove"}
    | {"rename", "replace", "str_replace", "undo_edit", "update", "view", "write"}
)


def input_paths(given: object, kind: str) -> tuple[str, ...]:
    """The files that the input of a tool of this kind names, by the names that agents use."""
    if kind not in CHANGING_KINDS:
        return ()
    found: dict[str, None] = {}
    folder = input_folder(given) if isinstance(given, Mapping) else None
    for path, as_name in _named(given, 0):
        is_absolute = path.startswith(("/", "~"))
        if folder is not None and not is_absolute and "://" not in path:
            path = os.path.join(folder, path)
        if kind == "move" or as_name == "paths" or (as_name == "target" and is_absolute):
            found[path] = None
        if len(found) > INPUT_PATHS_MAX:
            return (*list(found)[:INPUT_PATHS_MAX], "\0")
    return tuple(found)


def input_command(given: Mapping[str, Any], kind: str) -> str | None:
    """What would run."""
    given = _telling(given)
    command = given.get("command", given.get("cmd"))
    if isinstance(command, list) and all(isinstance(word, str) for word in command):
        # Quoted, or an argument such as `a; b` would read like two commands.
        return shlex.join(command)
    if not isinstance(command, str) or not command:
        return None
    if command in _EDITOR_WORDS and kind not in ("execute", "other"):
        return None
    args = given.get("args")
    if isinstance(args, list) and args and all(isinstance(word, str) for word in args):
        return f"{command} {shlex.join(args)}"
    return command


def input_folder(given: Mapping[str, Any]) -> str | None:
    """Where a command would run, under any of the names that agents have for it."""
    found = (one.get(name) for one in (_telling(given), given) for name in FOLDER_NAMES)
    return next((one for one in found if isinstance(one, str) and one), None)


def brief_input(given: Mapping[str, Any]) -> dict[str, Any]:
    """What counts of an input, in values that nobody else changes; it is read as the whole is."""
    names = ("command", "cmd", "args", "url", "server", "tool", *FOLDER_NAMES)
    whole = {**given, **_telling(given)}
    told = {name: _copy(whole[name]) for name in names if name in whole}
    for path, as_name in _named(given, 0):
        found = told.setdefault(as_name, [])
        if len(found) <= INPUT_PATHS_MAX:
            found.append(path)
    return told


def _telling(given: Mapping[str, Any]) -> Mapping[str, Any]:
    """The part of an input that names the command: some agents wrap it, as in `{"args": {...}}`."""
    inner: object = given
    for _ in range(NESTING_MAX):
        if not isinstance(inner, Mapping):
            break
        if "command" in inner or "cmd" in inner:
            return inner
        wrapped = (value for name, value in inner.items() if str(name).lower() in _JSON_NAMES)
        inner = next((one for one in map(_decoded, wrapped) if isinstance(one, Mapping)), None)
    return given


def _decoded(value: object) -> object:
    if isinstance(value, str) and value.lstrip().startswith("{"):
        try:
            return json.loads(value)
        except (ValueError, RecursionError):
            return None
    return value


def _named(given: object, depth: int, name: str = "") -> Iterator[tuple[str, str]]:
    """The paths in a value, each with a name that says the same as its own: paths, target or to."""
    if depth > NESTING_MAX:
        yield "\0", "paths"
    elif isinstance(given, str):
        yield from _in_text(given, depth, name)
    elif isinstance(given, list):
        for one in given:
            yield from _named(one, depth + 1, name)
    elif isinstance(given, dict):
        for key, value in given.items():
            is_change = name in ("changes", "files") and isinstance(value, dict | list)
            if is_change and ("/" in key or "." in key):
                # Files as keys, and what becomes of each as the value.
                yield key, "paths"
            plain = str(key).replace("_", "").replace("-", "").lower()
            yield from _named(value, depth + 1, plain)


def _in_text(text: str, depth: int, name: str) -> Iterator[tuple[str, str]]:
    if not text:
        return
    if name in _JSON_NAMES and text.lstrip().startswith("{"):
        try:
            yield from _named(json.loads(text), depth + 1)
        except (ValueError, RecursionError):
            yield "\0", "paths"
        return
    if name in _PATCH_NAMES and "\n" in text:
        found = (path.strip() for path in _PATCHED_FILE.findall(text))
        yield from ((path, "paths") for path in found if path != "/dev/null")
    elif name in _TEXT_ENDS:
        yield text, "to"
    elif name in _OTHER_ENDS:
        yield text, "target"
    elif _PATH_NAME.fullmatch(name) and not _OTHER_NAME.fullmatch(name):
        yield text, "paths"


def _copy(value: Any) -> Any:
    return [*value] if isinstance(value, list) else value


__all__ = ["FOLDER_NAMES", "brief_input", "input_command", "input_folder", "input_paths"]
