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
from collections.abc import Iterable, Sequence

from accord.client.permissions.patterns import PathPattern, PlacedPath, beneath
from accord.machine.filesystem.auto_executed_files import executed_place

CHANGING_KINDS: frozenset[str] = frozenset({"edit", "delete", "move"})

_QUOTES = "`'\"“”‘’()[]<>,;:!"
_FILE_NAME = re.compile(r"\.?[\w@+-]+(\.[\w@+-]+)+|\.[\w@+-]+")


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
    "not_ordinary",
    "places",
    "spells",
    "title_paths",
]
