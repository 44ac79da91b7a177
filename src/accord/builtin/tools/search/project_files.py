"""The files of a project: those that git tracks or would add, else a walk of the folder.

It must not know tool calls.

What always holds
    * Nothing of the project is executed to list it: git's own hooks and monitors are switched off.
    * Links are never followed, so that nothing outside the folder is listed.
"""

from __future__ import annotations

import os
import stat
import subprocess
from collections.abc import Callable
from dataclasses import dataclass

import anyio
from anyio import to_thread

from accord.machine.git import git_command, git_environment

FILES_MAX = 100_000
"""Files that are looked at in one search."""

LIST_BYTES_MAX = 32 * 1024 * 1024
GIT_SECONDS_MAX = 10.0

IGNORED_FOLDERS = frozenset(
    {
        ".git",
        ".hg",
        ".svn",
        "node_modules",
        "__pycache__",
        ".venv",
        "venv",
        ".tox",
        ".nox",
        ".mypy_cache",
        ".pytest_cache",
        ".ruff_cache",
        ".hypothesis",
        ".idea",
        ".cache",
        ".gradle",
        "target",
        ".next",
    }
)
"""Folders that a walk without git leaves out."""

_LIST = (
    "ls-files",
    "-z",
    "--cached",
    "--others",
    "--exclude-standard",
    "--deduplicate",
)


@dataclass(frozen=True)
class Listing:
    """Relative paths with forward slashes, sorted; `is_cut` when there are more."""

    folder: str
    paths: tuple[str, ...]
    is_cut: bool = False


async def project_files(folder: str) -> Listing:
    """List the files below a folder that a person would search."""
    known = await _from_git(folder)
    if known is None:
        known = await to_thread.run_sync(_walk, folder, abandon_on_cancel=True)
    return known


async def _from_git(folder: str) -> Listing | None:
    """The files that git lists; None without git or outside a repository."""
    command = git_command(*_LIST)
    if command is None:
        return None
    data, code = bytearray(), None
    with anyio.move_on_after(GIT_SECONDS_MAX) as timer:
        try:
            process = await anyio.open_process(
                command,
                cwd=folder,
                env=git_environment(),
                stdin=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
            )
        except OSError:
            return None
        async with process:
            assert process.stdout is not None
            async for piece in process.stdout:
                data += piece
                if len(data) > LIST_BYTES_MAX:
                    process.kill()
                    break
            code = await process.wait()
    if timer.cancelled_caught or (code != 0 and len(data) <= LIST_BYTES_MAX):
        return None
    names = [os.fsdecode(name) for name in bytes(data).split(b"\0")[:-1]]
    if not names:
        # An ignored folder within a repository: its files are still wanted.
        return None
    return await to_thread.run_sync(_regular, folder, names, abandon_on_cancel=True)


def _regular(folder: str, names: list[str]) -> Listing:
    """Without links, what is behind links, submodules, and what is deleted and not committed."""
    kept: list[str] = []
    # Git still lists the files of a folder that has become a link.
    is_folder = {"": True}
    for name in sorted(names):
        parent = name.rpartition("/")[0]
        if _is_folder(folder, parent, is_folder) and _is_regular(os.path.join(folder, name)):
            kept.append(name)
            if len(kept) > FILES_MAX:
                return Listing(folder, tuple(kept[:-1]), is_cut=True)
    return Listing(folder, tuple(kept))


def _is_folder(folder: str, name: str, known: dict[str, bool]) -> bool:
    """Whether it is a folder, and so is every part of its path."""
    if name not in known:
        parent = name.rpartition("/")[0]
        known[name] = _is_folder(folder, parent, known) and _mode_is(
            os.path.join(folder, name), stat.S_ISDIR
        )
    return known[name]


def _walk(folder: str) -> Listing:
    kept: list[str] = []
    for here, folders, names in os.walk(folder):
        folders[:] = sorted(name for name in folders if name not in IGNORED_FOLDERS)
        base = os.path.relpath(here, folder)
        for name in names:
            path = name if base == "." else f"{base}/{name}"
            if _is_regular(os.path.join(here, name)):
                kept.append(path)
        if len(kept) > FILES_MAX:
            return Listing(folder, tuple(sorted(kept)[:FILES_MAX]), is_cut=True)
    return Listing(folder, tuple(sorted(kept)))


def _is_regular(path: str) -> bool:
    return _mode_is(path, stat.S_ISREG)


def _mode_is(path: str, kind: Callable[[int], bool]) -> bool:
    try:
        return kind(os.lstat(path).st_mode)
    except OSError:
        return False
