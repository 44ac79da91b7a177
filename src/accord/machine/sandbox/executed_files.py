"""Files in a session's folder that other programs execute on their own, as far as they exist.

`machine/filesystem/auto_executed_files.py` knows their names; this module finds them.

What always holds: a repository stays usable.  Of `.git` only the settings and the hooks count.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator

from accord.machine.filesystem.auto_executed_files import executed_place

DEPTH_MAX = 4
"""Names of the list have at most this many parts, and submodules are rarely nested deeper."""

FOUND_MAX = 500
"""So many at most: each is a mount of its own."""

_CONFIG_BYTES_MAX = 1 << 20
_GIT_FILES = ("config", "config.worktree", "hooks")
_HOOKS_PATH = re.compile(r"^\s*hooksPath\s*=\s*\"?([^\"\n;#]+)", re.MULTILINE | re.IGNORECASE)


def executed_files(folder: str) -> list[str]:
    """The paths that are executed, outermost first; `folder` is a real path."""
    found = [*_git_files(os.path.join(folder, ".git"))]
    if os.path.isfile(os.path.join(folder, "HEAD")):
        found += _git_files(folder)
    found += _hook_folders(folder)
    found += _listed(folder, "", 1)
    real = (os.path.realpath(path) for path in found)
    return [path for path in dict.fromkeys(real) if path.startswith(folder + os.sep)][:FOUND_MAX]


def _listed(folder: str, above: str, depth: int) -> Iterator[str]:
    """What the list names at the top of a folder."""
    for name in _names(os.path.join(folder, above)):
        path = f"{above}/{name}" if above else name
        if path == ".git" or executed_place(path) is None:
            continue
        # A part of a longer name, such as `.github`, counts only with what follows.
        if executed_place(f"{path}/x") is not None or not os.path.isdir(os.path.join(folder, path)):
            yield os.path.join(folder, path)
        elif depth < DEPTH_MAX:
            yield from _listed(folder, path, depth + 1)


def _git_files(git: str, depth: int = 1) -> Iterator[str]:
    """The settings and hooks of a repository and of its submodules."""
    for name in _GIT_FILES:
        path = os.path.join(git, name)
        if os.path.exists(path):
            yield path
    for name in _names(os.path.join(git, "worktrees")):
        path = os.path.join(git, "worktrees", name, "config.worktree")
        if os.path.exists(path):
            yield path
    yield from _submodules(os.path.join(git, "modules"), depth)


def _submodules(folder: str, depth: int) -> Iterator[str]:
    for name in _names(folder):
        below = os.path.join(folder, name)
        if os.path.isfile(os.path.join(below, "HEAD")):
            yield from _git_files(below, depth + 1)
        elif depth < DEPTH_MAX:
            yield from _submodules(below, depth + 1)


def _hook_folders(folder: str) -> Iterator[str]:
    """The folder that the repository's settings name for hooks."""
    try:
        with open(os.path.join(folder, ".git", "config"), "rb") as file:
            text = file.read(_CONFIG_BYTES_MAX).decode("utf-8", "replace")
    except OSError:
        return
    for named in _HOOKS_PATH.findall(text):
        path = os.path.normpath(os.path.join(folder, named.strip()))
        if os.path.isdir(path):
            yield path


def _names(folder: str) -> list[str]:
    try:
        return sorted(os.listdir(folder))
    except OSError:
        return []
