"""The files that a request would change, and the changes that a permission to edit covers.

It must not know rules or decisions.

Always holds
    * Permission to edit means: files in the session's folders that nothing executes.
    * A request that names no file is not covered; neither is one with an unclear file.
    * A pattern covers an executed file only if it spells out what makes it executed: `.git/**`
      does, `**` does not.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from accord.client.permissions.path_and_host_patterns import PathPattern, PlacedPath, beneath
from accord.machine.filesystem.auto_executed_files import executed_place

CHANGING_KINDS: frozenset[str] = frozenset({"edit", "delete", "move"})

_QUOTES = "`'\"“”‘’()[]<>,;:!"
_FILE_NAME = re.compile(r"\.?[\w@+-]+(\.[\w@+-]+)+|\.[\w@+-]+")


def title_paths(title: str) -> tuple[str, ...]:
    """Matches paths in a title, for requests that name no file elsewhere."""
    words = (word.rstrip(".").strip(_QUOTES) for word in title.split())
    return tuple(dict.fromkeys(word for word in words if _is_path(word)))


def _is_path(word: str) -> bool:
    return "/" in word or word.startswith("~") or _FILE_NAME.fullmatch(word) is not None


def are_ordinary(paths: Sequence[PlacedPath | None], roots: Iterable[str]) -> bool:
    """Whether there are files, all in these folders (real paths), and none is executed."""
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
    """The first file that makes a change not ordinary, and the reason for a person."""
    folders = tuple(roots)
    if not paths:
        return None, "it names no file"
    for path in paths:
        if path is None:
            return None, "it is unclear which files it changes"
        if not are_ordinary([path], folders):
            found = places(path)
            why = "something executes it" if found else "it is outside the session's folders"
            return path.real, why
    return None


def spells(pattern: PathPattern, path: PlacedPath) -> bool:
    """Whether the pattern spells out what makes the path executed, if anything does."""
    return places(path) <= {_pattern_place(pattern)}


def places(path: PlacedPath) -> set[str]:
    """The parts that make a path executed, by its spelling and by its real path."""
    found = {executed_place(path.real), executed_place(path.spelled)}
    return {one for one in found if one is not None}


def _pattern_place(pattern: PathPattern) -> str | None:
    return executed_place(("/" if pattern.absolute else "") + "/".join(pattern.parts))
