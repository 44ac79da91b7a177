"""Which files and folders a program needs in order to run, where homes are hidden.

They are found by the command line alone: the program and the links to it, the interpreter that its
first line names, the script that it is given, and the folders of PATH.

Must not know which folders are hidden: it names too much rather than too little.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Mapping, Sequence

from accord.machine.own_command_line import PACKAGE, import_path, interpreter
from accord.machine.processes.program_lookup import absolute_folders, find_program

LINKS_MAX = 40
"""A longer chain of links is a circle."""

_FIRST_LINE_BYTES_MAX = 512
_BIN_NAMES = frozenset({"bin", "sbin", ".bin", "shims", "Scripts"})
_PROJECT_FILES = ("package.json", "pyproject.toml", "setup.py", "pyvenv.cfg", "deno.json")
_PROJECT_LEVELS = 4


def program_files(command: Sequence[str], env: Mapping[str, str], cwd: str) -> Iterator[str]:
    """The paths of a command: its program, and each word that is an existing file."""
    path = env.get("PATH", os.defpath)
    yield from _program(command[0], path)
    for word in command[1:]:
        file = os.path.join(cwd, os.path.expanduser(word))
        if "\0" not in word and os.path.isfile(file):
            yield from _hops(os.path.normpath(file))


def _program(file: str, path: str) -> Iterator[str]:
    """A program, the files that links lead to, and its interpreter."""
    yield from _hops(file)
    words = _first_line(file)
    if words and os.path.basename(words[0]) == "env":
        named = [word for word in words[1:] if not word.startswith("-") and "=" not in word]
        words = [found] if named and (found := find_program(named[0], path)) else []
    if words and os.path.isabs(words[0]):
        yield from _hops(words[0])


def _first_line(file: str) -> list[str]:
    """The words of the line that names an interpreter."""
    try:
        with open(file, "rb") as opened:
            line = opened.read(_FIRST_LINE_BYTES_MAX).split(b"\n")[0]
    except OSError:
        return []
    return os.fsdecode(line[2:]).split() if line.startswith(b"#!") else []


def _hops(file: str) -> Iterator[str]:
    """A file, and what each link on the way to the real file leads to."""
    for _ in range(LINKS_MAX):
        yield file
        if not os.path.islink(file):
            break
        file = os.path.normpath(os.path.join(os.path.dirname(file), os.readlink(file)))
    yield os.path.realpath(file)


def path_folders(env: Mapping[str, str]) -> list[str]:
    """The folders of PATH."""
    folders = absolute_folders(env.get("PATH", os.defpath)).split(os.pathsep)
    return [os.path.normpath(folder) for folder in folders if folder]


def own_folders() -> list[str]:
    """What another process of ours needs: the interpreter, the package, what it imports."""
    return [
        os.path.dirname(os.path.realpath(interpreter())),
        sys.prefix,
        sys.base_prefix,
        PACKAGE,
        *import_path(),
    ]


def installation(folder: str, broad: Sequence[str]) -> str | None:
    """The folder that a program's folder belongs to; None if that would be one of `broad`.

    A program in `x/bin` has its libraries beside `bin`, unless `x` is broad, such as a home.
    """
    parent = os.path.dirname(folder)
    if os.path.basename(folder) in _BIN_NAMES and not _contains(parent, broad):
        return parent
    return None if _contains(folder, broad) else folder


def project_of(file: str, broad: Sequence[str]) -> str | None:
    """The folder that a script belongs to: the project around it, or else the one it is in."""
    own = os.path.dirname(file)
    folder = own
    for _ in range(_PROJECT_LEVELS):
        if _contains(folder, broad):
            break
        if any(os.path.exists(os.path.join(folder, name)) for name in _PROJECT_FILES):
            return folder
        folder = os.path.dirname(folder)
    return None if _contains(own, broad) else own


def _contains(folder: str, others: Sequence[str]) -> bool:
    prefix = folder.rstrip(os.sep) + os.sep
    return any(one == folder or one.startswith(prefix) for one in others)
