"""Reads the input of a tool call: the files that it changes, its command, its folder.

The protocol leaves the input to each tool, so this goes by the names that agents use.  It must not
know rules or decisions.

Always holds
    * A file counts wherever it is named: twice, in a list, deep inside, or in a patch.
    * A relative path is relative to the folder that the input names, if it names one.
    * A command is a command whatever kind the agent gives its call, and under any of the names
      that agents use.  Several commands in one input are lines of one command.
"""

from __future__ import annotations

import json
import posixpath
import re
import shlex
from collections.abc import Collection, Iterator, Mapping
from typing import Any

from accord.client.permissions.changed_files import CHANGING_KINDS
from accord.client.permissions.request import PermissionRequest
from accord.transcript.items.tool_call import DEFAULT_KIND

INPUT_PATHS_MAX = 1024
"""Paths that are read from one input; more are represented by an unreadable one."""
NESTING_MAX = 8
"""Depth of nested objects and lists that are read."""

FOLDER_NAMES = ("cwd", "workdir", "working_directory", "workingDirectory", "directory")
"""Names that agents use for the folder of a command."""

_COMMAND_NAMES = frozenset(
    {"cmd", "cmdline", "cmds", "command", "commandline", "commands", "shellcommand"}
)
_LIST_NAMES = frozenset({"cmds", "commands"})
_WORDS_NAMES = frozenset({"args", "arguments", "argv"})
# Things beside its words that change what a command does.
_SETTING_NAMES = frozenset({"env", "environment", "envvars", "variables", "stdin", "input"})

# Endings of the names that agents use for a file.
_PATH_NAME = re.compile(r".*(?:path|paths|file|files|filename|filenames|uri|uris)|fname|notebook")
# Names with such an ending that are not the file.
_OTHER_NAME = re.compile(r"(?:workspace|root|project|base|repo|repository|cwd)path|profile")
# The two ends of a move.  In an edit, the first are the replaced text, and the others are a file
# only if they are absolute paths.
_TEXT_ENDS = frozenset({"from", "source", "src", "to"})
_OTHER_ENDS = frozenset({"dest", "destination", "dst", "input", "output", "target"})
_PATCH_NAMES = frozenset({"diff", "input", "patch", "patchtext", "unifieddiff"})
_JSON_NAMES = frozenset({"arguments", "args", "input", "parameters", "params"})
_PATCHED_FILE = re.compile(
    r"^(?:\*\*\* (?:Add|Update|Delete) File: |\*\*\* Move to: |rename (?:from|to) |"
    r"(?:---|\+\+\+) (?:[ab]/)?)([^\t\n]+)",
    re.MULTILINE,
)
# Values of `command` in editing tools, which are not shell commands.
_EDITOR_WORDS = frozenset(
    {"append", "create", "delete", "edit", "insert", "move", "overwrite", "read", "remove"}
    | {"rename", "replace", "str_replace", "undo_edit", "update", "view", "write"}
)


def input_paths(given: object, kind: str) -> tuple[str, ...]:
    """The files that the input of a call of this kind names."""
    if kind not in CHANGING_KINDS:
        return ()
    found: dict[str, None] = {}
    folder = input_folder(given) if isinstance(given, Mapping) else None
    for path, as_name in _named(given, 0):
        is_absolute = path.startswith(("/", "~"))
        if folder is not None and not is_absolute and "://" not in path:
            path = posixpath.join(folder, path)
        if kind == "move" or as_name == "paths" or (as_name == "target" and is_absolute):
            found[path] = None
        if len(found) > INPUT_PATHS_MAX:
            return (*list(found)[:INPUT_PATHS_MAX], "\0")
    return tuple(found)


def input_command(given: Mapping[str, Any], kind: str) -> str | None:
    """The command that would run, with all its words; several commands are several lines."""
    lines = dict.fromkeys(line for line in _commands(given, kind, 0) if line)
    return "\n".join(lines) or None


def _commands(given: Mapping[str, Any], kind: str, depth: int) -> Iterator[str]:
    if depth >= NESTING_MAX:
        return
    heads, words = _heads(given), _given_words(given)
    for key, value in given.items():
        name = _plain(key)
        if name in _LIST_NAMES and isinstance(value, list):
            for one in value:
                each = one if isinstance(one, dict) else {"command": one}
                yield from _commands(each, kind, depth + 1)
        elif key in heads:
            line = _line(value, kind)
            if line:
                yield " ".join((line, *(_words(given[one]) for one in words)))
        elif name in _JSON_NAMES and not _is_tool(given):
            inner = _object(value)
            if inner is not None:
                yield from _commands(inner, kind, depth + 1)


def _heads(given: Mapping[str, Any]) -> list[str]:
    """The names of the members that are commands; `argv` counts where it stands alone."""
    heads = [name for name in given if _plain(name) in _COMMAND_NAMES]
    return heads or [name for name in given if _plain(name) == "argv"]


def _given_words(given: Mapping[str, Any]) -> list[str]:
    """The names of the members that are words of the command."""
    heads = _heads(given)
    return [
        name
        for name, value in given.items()
        if _plain(name) in _WORDS_NAMES and name not in heads and _words(value)
    ]


def _line(command: object, kind: str) -> str:
    if isinstance(command, str) and command in _EDITOR_WORDS and kind not in ("execute", "other"):
        return ""
    return _words(command)


def _words(value: object) -> str:
    """The words of a command: a list has one per item, a text is a typed line."""
    if isinstance(value, str):
        return "" if _object(value) is not None else value
    if not isinstance(value, list) or any(isinstance(one, dict | list) for one in value):
        return ""
    # Quoted, since an argument such as `a; b` would read like two commands.
    return shlex.join(one if isinstance(one, str) else json.dumps(one) for one in value)


def _is_tool(given: Mapping[str, Any]) -> bool:
    """Whether the nested object holds the arguments of an MCP tool that is named beside it."""
    return all(isinstance(given.get(name), str) for name in ("server", "tool"))


def _object(value: object) -> Mapping[str, Any] | None:
    """An object, also one that is encoded as text."""
    if isinstance(value, str) and value.lstrip().startswith("{"):
        try:
            value = json.loads(value)
        except (ValueError, RecursionError):
            return None
    return value if isinstance(value, dict) else None


def is_given_more(given: Mapping[str, Any]) -> bool:
    """Whether a command gets variables or standard input, which its line does not show."""
    return any(
        _plain(name) in _SETTING_NAMES and value
        for one in _objects(given, 0)
        for name, value in one.items()
    )


def untold_input(
    given: Mapping[str, Any], request: PermissionRequest, told: Collection[str]
) -> dict[str, Any]:
    """The members of an input that neither the command, its folder nor a shown text contains.

    A time limit and a description do not change what a tool does, and do not count.
    """
    names: set[str] = set()
    kind = DEFAULT_KIND if request.tool_call is None else request.tool_call.kind
    if request.command is not None:
        names = {name for name in FOLDER_NAMES if _is_folder(given.get(name), request.cwd)}
        if request.command == input_command(given, kind):
            names |= {name for name in _heads(given) if _words(given[name])}
            names |= set(_given_words(given))
    return {
        name: value
        for name, value in given.items()
        if name not in names and not _is_told(name, value, told)
    }


def _is_told(name: str, value: object, told: Collection[str]) -> bool:
    if isinstance(value, str):
        return not value or value in told or name == "description"
    if isinstance(value, list):
        return all(isinstance(one, str) and one in told for one in value)
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return value is None or value == {} or (is_number and "timeout" in name.lower())


def _is_folder(value: object, cwd: str | None) -> bool:
    """Whether this is the folder, as spelled or relative to another folder."""
    if not isinstance(value, str) or cwd is None:
        return False
    value, cwd = posixpath.normpath(value), posixpath.normpath(cwd)
    return value == cwd or (not posixpath.isabs(value) and cwd.endswith(f"/{value}"))


def input_folder(given: Mapping[str, Any]) -> str | None:
    """The folder of the command, under any of the names that agents use."""
    objects = list(_objects(given, 0))
    objects.sort(key=lambda one: not _heads(one))
    found = (one.get(name) for one in objects for name in FOLDER_NAMES)
    return next((one for one in found if isinstance(one, str) and one), None)


def _objects(given: Mapping[str, Any], depth: int) -> Iterator[Mapping[str, Any]]:
    """The input and the objects that it wraps, as in `{"args": {...}}`."""
    yield given
    if depth < NESTING_MAX and not _is_tool(given):
        for name, value in given.items():
            inner = _object(value) if _plain(name) in _JSON_NAMES else None
            if inner is not None:
                yield from _objects(inner, depth + 1)


def brief_input(given: Mapping[str, Any]) -> dict[str, Any]:
    """The part of an input that counts, as a copy; it reads the same as the whole."""
    told = {name: _copy(given[name]) for name in ("url", "server", "tool") if name in given}
    if (folder := input_folder(given)) is not None:
        told["cwd"] = folder
    if commands := list(_commands(given, "execute", 0)):
        told["commands"] = commands
    if is_given_more(given):
        told["env"] = True
    for path, as_name in _named(given, 0):
        found = told.setdefault(as_name, [])
        if len(found) <= INPUT_PATHS_MAX:
            found.append(path)
    return told


def _named(given: object, depth: int, name: str = "") -> Iterator[tuple[str, str]]:
    """The paths in a value, each under a canonical name: paths, target or to."""
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
                # Files as keys, and the change of each as the value.
                yield key, "paths"
            yield from _named(value, depth + 1, _plain(key))


def _in_text(text: str, depth: int, name: str) -> Iterator[tuple[str, str]]:
    if not text:
        return
    if name in _JSON_NAMES and text.lstrip().startswith("{"):
        inner = _object(text)
        if inner is None:
            yield "\0", "paths"
        else:
            yield from _named(inner, depth + 1)
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


def _plain(name: object) -> str:
    return str(name).replace("_", "").replace("-", "").lower()


def _copy(value: Any) -> Any:
    return [*value] if isinstance(value, list) else value
