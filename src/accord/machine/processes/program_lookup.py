"""Programs that are looked up by name, never in the working directory.

A relative or empty entry of PATH (`.`, `node_modules/.bin`) means another folder in every project,
so whatever a project calls `git` would run in its place.  Such entries are skipped here.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence

from accord.errors import SpawnFailed


def find_program(name: str, path: str | None = None) -> str | None:
    """The absolute path of a program, or None.

    A bare name is looked up in the absolute folders of `path`, by default of PATH.  A name with a
    folder in it is that file.
    """
    # Imported here: it loads all kinds of archives, which an agent's start need not wait for.
    from shutil import which

    if os.path.dirname(name):
        found = which(name)
        return None if found is None else os.path.abspath(found)
    searched = os.environ.get("PATH", os.defpath) if path is None else path
    return which(name, path=absolute_folders(searched))


def with_program(command: Sequence[str], env: Mapping[str, str] | None = None) -> list[str]:
    """The command with its program as an absolute path, found in the PATH of `env` or ours.

    Raises:
        SpawnFailed: no absolute folder of PATH has the program.
    """
    if not command or os.path.dirname(command[0]):
        return list(command)
    name = command[0]
    found = find_program(name, None if env is None else env.get("PATH", os.defpath))
    if found is None:
        raise SpawnFailed(f"cannot start {name!r}: no such program")
    return [found, *command[1:]]


def absolute_folders(path: str) -> str:
    """A search path without its relative and empty entries."""
    return os.pathsep.join(filter(os.path.isabs, path.split(os.pathsep)))
