"""The files of a session's folders, for completing `@name`: what git would not ignore.

This module does not know any screen.  Git is asked where it is there and the folder is a
repository; otherwise the folders are walked and their `.gitignore` files read.

Invariants
    * Looking at the disk happens in a thread, one look at a time; a search never waits for it.
    * At most `FILES_MAX` names, the ones near the top first where there are more.
    * Git runs nothing that the project's own configuration names.
"""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from time import monotonic

import anyio.to_thread

from accord.machine.file_search.fuzzy_search import Finder
from accord.machine.file_search.gitignore import Ignore
from accord.machine.git import git_command, git_environment

FILES_MAX = 200_000
FRESH_SECONDS = 10.0
"""After this time the next completion scans the disk again."""

RECENT_MAX = 50
DEPTH_MAX = 64
IGNORE_BYTES_MAX = 1 << 20
GIT_SECONDS_MAX = 20.0
GIT_BYTES_MAX = 64 << 20


class FilesIndex:
    """The files of some folders by name.  Names are relative to the first folder, or absolute."""

    def __init__(self, roots: Sequence[str], *, clock: Callable[[], float] = monotonic) -> None:
        self.roots = tuple(roots)
        self._clock = clock
        self._finder = Finder(())
        self._looked_at: float | None = None
        self._looking = False
        # What was used, the last one last.
        self._recent: dict[str, None] = {}
        # What was asked last: a key press asks more than once.
        self._answer: tuple[tuple[str, int], list[str]] | None = None

    @property
    def is_stale(self) -> bool:
        """Whether the index is out of date."""
        return self._looked_at is None or self._clock() - self._looked_at > FRESH_SECONDS

    @property
    def was_read(self) -> bool:
        """Whether the disk was scanned at least once."""
        return self._looked_at is not None

    def __len__(self) -> int:
        return len(self._finder)

    async def refresh(self) -> bool:
        """Scan the disk, unless that is recent or running; return whether it was scanned."""
        if self._looking or not self.is_stale:
            return False
        self._looking = True
        try:
            self._finder = await anyio.to_thread.run_sync(_finder_of, self.roots)
            self._looked_at = self._clock()
            self._answer = None
        finally:
            self._looking = False
        return True

    def find(self, query: str, most: int) -> list[str]:
        """The names that fit best, best first."""
        asked = (query, most)
        if self._answer is None or self._answer[0] != asked:
            recent = {name: age for age, name in enumerate(reversed(self._recent))}
            self._answer = (asked, self._finder.find(query, most, recent))
        return list(self._answer[1])

    def use(self, name: str) -> None:
        """Rank a used name first from now on."""
        self._recent.pop(name, None)
        self._recent[name] = None
        self._answer = None
        while len(self._recent) > RECENT_MAX:
            del self._recent[next(iter(self._recent))]

    def path_of(self, name: str) -> Path:
        """The path of a completed name."""
        return Path(self.roots[0], name) if self.roots else Path(name)


def _finder_of(roots: Sequence[str]) -> Finder:
    names: dict[str, None] = {}
    for number, root in enumerate(roots):
        for name in files_beneath(root, FILES_MAX - len(names)):
            names[name if number == 0 else os.path.join(root, name)] = None
    # Short paths near the top come first.  Sorted in parts and by plain numbers: one long sort
    # would hold the interpreter while keys are pressed.
    levels: dict[int, list[str]] = {}
    for name in names:
        levels.setdefault(name.count("/"), []).append(name)
    ordered: list[str] = []
    for depth in sorted(levels):
        levels[depth].sort(key=len)
        ordered += levels[depth]
    return Finder(ordered)


def files_beneath(root: str, most: int = FILES_MAX) -> list[str]:
    """The names of the files below a folder that are not ignored, relative to it."""
    found = _git_files(root, most)
    return list(walk(root, most)) if found is None else found


# ---- by git


def _git_files(root: str, most: int) -> list[str] | None:
    """What git knows or does not ignore; None if it cannot tell."""
    listed = _git(root, "-co", "--exclude-standard")
    if listed is None:
        return None
    names = dict.fromkeys(listed)
    # What was deleted is still in git's index.
    for gone in _git(root, "-d") or ():
        names.pop(gone, None)
    if os.path.isfile(os.path.join(root, ".gitmodules")):
        names.update(dict.fromkeys(_git(root, "-c", "--recurse-submodules") or ()))
        names = {name: None for name in names if not os.path.isdir(os.path.join(root, name))}
    kept: list[str] = []
    for name in names:
        if name.endswith("/"):
            # A repository inside this one, of which only the folder is named.
            kept += (name + inner for inner in files_beneath(os.path.join(root, name), most))
        else:
            kept.append(name)
    return kept if len(kept) <= most else sorted(kept, key=lambda name: name.count("/"))[:most]


def _git(root: str, *arguments: str) -> list[str] | None:
    command = git_command("ls-files", "-z", *arguments)
    if command is None:
        return None
    try:
        with subprocess.Popen(
            command,
            cwd=root,
            env=git_environment(),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        ) as process:
            try:
                data, _ = process.communicate(timeout=GIT_SECONDS_MAX)
            except BaseException:
                process.kill()
                raise
    except (OSError, ValueError, subprocess.SubprocessError):
        return None
    if process.returncode != 0 or len(data) > GIT_BYTES_MAX:
        return None
    return [os.fsdecode(name) for name in data.split(b"\0") if name]


# ---- by walking the folders


@dataclass(frozen=True, slots=True)
class _Rules:
    """The ignore files that count in a folder: each with its folder, the last wins."""

    files: tuple[tuple[str, Ignore], ...]

    def ignores(self, path: str, *, is_folder: bool) -> bool:
        """Whether a path (absolute) is ignored; whether a folder above it is, the walk knows."""
        for folder, ignore in reversed(self.files):
            decided = ignore.decides(path[len(folder) + 1 :], is_folder=is_folder)
            if decided is not None:
                return decided
        return False

    def within(self, folder: str) -> _Rules:
        """The rules in a folder: these, and those of its own file."""
        ignore = _ignore_of(os.path.join(folder, ".gitignore"))
        return self if ignore is None else _Rules((*self.files, (folder, ignore)))


def walk(root: str, most: int = FILES_MAX) -> Iterator[str]:
    """The files below a folder that no `.gitignore` ignores, those near the top first.

    Links to folders are not followed, and `.git` is never looked into.
    """
    root = os.path.abspath(root)
    level = [(root, "", _rules_above(root))]
    for _ in range(DEPTH_MAX):
        below: list[tuple[str, str, _Rules]] = []
        for folder, prefix, outer in level:
            rules = outer.within(folder)
            for entry in _entries(folder):
                if entry.name == ".git":
                    continue
                is_folder = _is_folder(entry)
                if rules.ignores(entry.path, is_folder=is_folder):
                    continue
                if is_folder:
                    below.append((entry.path, f"{prefix}{entry.name}/", rules))
                elif most > 0:
                    most -= 1
                    yield prefix + entry.name
                else:
                    return
        level = below


def _entries(folder: str) -> list[os.DirEntry[str]]:
    try:
        with os.scandir(folder) as found:
            return sorted(found, key=lambda entry: entry.name)
    except OSError:
        # It may be deleted or unreadable.
        return []


def _is_folder(entry: os.DirEntry[str]) -> bool:
    try:
        return entry.is_dir(follow_symlinks=False)
    except OSError:
        return False


def _rules_above(root: str) -> _Rules:
    """What the folders above say, up to the top of the repository that this is in."""
    above = [root]
    while not os.path.exists(os.path.join(above[-1], ".git")):
        parent = os.path.dirname(above[-1])
        if parent == above[-1]:
            # Not in a repository: ignore files of parent folders.
            return _Rules(())
        above.append(parent)
    top = above.pop()
    files: list[tuple[str, Ignore]] = []
    exclude = _ignore_of(os.path.join(top, ".git", "info", "exclude"))
    if exclude is not None:
        files.append((top, exclude))
    rules = _Rules(tuple(files))
    if top == root:
        return rules
    for folder in (top, *reversed(above[1:])):
        rules = rules.within(folder)
    return rules


def _ignore_of(path: str) -> Ignore | None:
    try:
        with open(path, "rb") as file:
            return Ignore(os.fsdecode(file.read(IGNORE_BYTES_MAX)))
    except (OSError, ValueError):
        return None
