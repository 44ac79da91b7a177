"""Which files a request would change, and which changes a permission to edit covers.

It must not know rules or who decides.

Always holds
    * Permission to edit means: files in the session's folders that nothing executes.
    * A request that names no file is not covered; neither is one with a file that cannot be told.
    * A pattern covers an executed file only if it spells what makes it one: `.git/**` does, `**`
      does not.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from accord.client.patterns import PathPattern, PlacedPath, beneath
from accord.machine.executed_files import executed_place

CHANGING_KINDS: frozenset[str] = frozenset({"edit", "delete", "move"})

INPUT_PATHS_MAX = 1024
"""Paths that are read from the input of one call; the rest is told by one that cannot be read."""

# What agents call the file in the input of their editing tools.
_PATH_KEYS = frozenset(
    {
        "abspath",
        "absolutepath",
        "file",
        "filename",
        "filepath",
        "files",
        "filepaths",
        "newpath",
        "notebookpath",
        "oldpath",
        "path",
        "paths",
        "sourcepath",
        "targetfile",
        "targetpath",
        "uri",
    }
)
# The same for the two ends of a move; elsewhere they may be words of a text.
_END_KEYS = frozenset({"destination", "dst", "from", "source", "src", "target", "to"})
# Objects, or lists of them, that have such keys themselves.
_NESTED_KEYS = frozenset({"arguments", "args", "changes", "edits", "files", "input", "operations"})
_NESTING_MAX = 3

_QUOTES = "`'\"“”‘’()[]<>,;:!"
_FILE_NAME = re.compile(r"\.?[\w@+-]+(\.[\w@+-]+)+|\.[\w@+-]+")


def input_paths(given: Mapping[str, Any], kind: str) -> tuple[str, ...]:
    """The files that the input of a tool of this kind names, by the names that agents use."""
    if kind not in CHANGING_KINDS:
        return ()
    found: dict[str, None] = {}
    _collect(given, _PATH_KEYS | _END_KEYS if kind == "move" else _PATH_KEYS, found, 0)
    if len(found) > INPUT_PATHS_MAX:
        return (*list(found)[:INPUT_PATHS_MAX], "\0")
    return tuple(found)


def _collect(
    given: Mapping[str, Any], keys: frozenset[str], found: dict[str, None], depth: int
) -> None:
    for key, value in given.items():
        name = key.replace("_", "").replace("-", "").lower()
        several = value if isinstance(value, list) else [value]
        if name in keys:
            found.update((one, None) for one in several if isinstance(one, str) and one)
        if name not in _NESTED_KEYS or depth >= _NESTING_MAX:
            continue
        for one in several:
            if isinstance(one, dict):
                if name == "changes" and one is value:
                    # Files as keys, and what becomes of each as the value.
                    found.update((path, None) for path in one if "/" in path or "." in path)
                _collect(one, keys, found, depth + 1)


def title_paths(title: str) -> tuple[str, ...]:
    """What looks like a path in a title, for requests that name no file in any other way."""
    words = (word.rstrip(".").strip(_QUOTES) for word in title.split())
    return tuple(dict.fromkeys(word for word in words if _is_path(word)))


def _is_path(word: str) -> bool:
    return "/" in word or word.startswith("~") or _FILE_NAME.fullmatch(word) is not None


def are_ordinary(paths: Sequence[PlacedPath | None], roots: Iterable[str]) -> bool:
    """Whether there are files, all in these folders (real paths), and nothing executes them."""
    folders = tuple(roots)
    return bool(paths) and all(
        path is not None
        and any(beneath(path.real, folder) and path.real != folder for folder in folders)
        and not places(path)
        for path in paths
    )


def not_ordinary(
    paths: Sequence[PlacedPath | None], roots: Iterable[str]
) -> tuple[str | None, str] | None:
    """The first file that keeps a change from being ordinary, and why, for a person."""
    folders = tuple(roots)
    if not paths:
        return None, "it names no file"
    for path in paths:
        if path is None:
            return None, "it does not say for certain which files"
        if not are_ordinary([path], folders):
            found = places(path)
            why = "something executes it" if found else "it is outside the session's folders"
            return path.real, why
    return None


def spells(pattern: PathPattern, path: PlacedPath) -> bool:
    """Whether the pattern spells what makes the path executed; also where nothing does."""
    return places(path) <= {_pattern_place(pattern)}


def places(path: PlacedPath) -> set[str]:
    """What makes a path executed, by its spelling and by where it really is."""
    found = {executed_place(path.real), executed_place(path.spelled)}
    return {one for one in found if one is not None}


def _pattern_place(pattern: PathPattern) -> str | None:
    return executed_place(("/" if pattern.absolute else "") + "/".join(pattern.parts))


__all__ = [
    "CHANGING_KINDS",
    "are_ordinary",
    "input_paths",
    "not_ordinary",
    "places",
    "spells",
    "title_paths",
]
