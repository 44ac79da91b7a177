"""The texts of a project, read from the disk within bounds, past links.

Unsaved text of the client is not seen here; an action that changes a file reads it again.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import partial

from anyio import to_thread

from accord.builtin.offline.source_code.symbols import language_of
from accord.builtin.tools.search.grep_process import Reader
from accord.builtin.tools.search.project_files import project_files

FILE_BYTES_MAX = 1024 * 1024
"""A larger file is data; it is listed and not read."""

PROJECT_BYTES_MAX = 48 * 1024 * 1024
PROJECT_FILES_MAX = 10_000
"""How much of a project is read for one question."""

# The interpreters of environments that lie in the project, as people name them.
ENVIRONMENT_PYTHONS = (".venv/bin/python", "venv/bin/python", ".venv/Scripts/python.exe",
                 "venv/Scripts/python.exe")  # fmt: skip
_NAMED = frozenset({"Makefile", "makefile", "GNUmakefile", "Dockerfile", "README", "LICENSE"})
_ENDINGS = frozenset({"txt", "cfg", "ini", "in", "xml", "svelte", "vue", "gradle"})


@dataclass(frozen=True, slots=True)
class Project:
    """The files of a project: all their paths, relative to the root, and the texts among them."""

    root: str
    paths: tuple[str, ...]
    files: Mapping[str, str] = field(default_factory=dict[str, str])
    # Whether there was more than could be read.
    is_cut: bool = False
    # The interpreters of environments in the project, which are not files of it.
    pythons: tuple[str, ...] = ()
    # Files that should be texts by their names and could not be read as such.
    unread: tuple[str, ...] = ()

    @property
    def roots(self) -> tuple[str, ...]:
        """The root as it was given and as the system calls it."""
        return (self.root, os.path.realpath(self.root))

    @property
    def python_files(self) -> dict[str, str]:
        """The Python files among the texts."""
        return {path: text for path, text in self.files.items() if path.endswith((".py", ".pyi"))}

    def with_texts(self, texts: Mapping[str, str]) -> Project:
        """The same project with some texts replaced."""
        paths = tuple(sorted({*self.paths, *texts}))
        return replace(self, paths=paths, files={**self.files, **texts})

    def with_only_python(self) -> Project:
        """The same project, where only Python counts."""
        return replace(self, files=self.python_files)

    def find(self, target: str) -> tuple[str, ...]:
        """The files that a person may mean by a name: the very one, else those that end so."""
        bare = target.replace("\\", "/").removeprefix("./")
        for root in self.roots:
            bare = bare.removeprefix(root.rstrip("/") + "/")
        if bare in self.paths:
            return (bare,)
        return tuple(path for path in self.paths if path.endswith(f"/{bare}"))

    def by_stem(self, name: str) -> tuple[str, ...]:
        """The files that a name means without its ending: `calc` or `stats.report`."""
        tail = "/" + name.replace(".", "/")
        return tuple(path for path in self.paths if f"/{path.rpartition('.')[0]}".endswith(tail))

    def below(self, folder: str) -> tuple[str, ...]:
        """The files in a folder."""
        bare = folder.removeprefix("./").strip("/")
        return tuple(path for path in self.paths if path.startswith(f"{bare}/"))


async def read_project(root: str, about: str | None = None) -> Project:
    """The project in a folder; of one that is too large, all files with the word it is about."""
    listing = await project_files(root)
    read = partial(_read, root, listing.paths, about)
    files, unread, is_cut = await to_thread.run_sync(read, abandon_on_cancel=True)
    pythons = await to_thread.run_sync(_pythons, root)
    return Project(root, listing.paths, files, is_cut or listing.is_cut, pythons, unread)


def _pythons(root: str) -> tuple[str, ...]:
    return tuple(one for one in ENVIRONMENT_PYTHONS if os.path.exists(os.path.join(root, one)))


def _read(
    root: str, paths: Iterable[str], about: str | None
) -> tuple[dict[str, str], tuple[str, ...], bool]:
    files: dict[str, str] = {}
    unread: list[str] = []
    total, bytes_max, files_max = 0, PROJECT_BYTES_MAX, PROJECT_FILES_MAX
    is_full = False
    try:
        reader = Reader(os.fsencode(root))
    except OSError:
        return files, (), False
    try:
        for path in paths:
            if not _is_text_name(path):
                continue
            text = _text_of(reader, path)
            if text is None:
                unread.append(path)
                continue
            if is_full and (about is None or about not in text):
                continue
            total += len(text)
            if total > bytes_max or len(files) >= files_max:
                if about is None or is_full:
                    return files, tuple(unread), True
                # From here on only what it is about, as much again.
                is_full, bytes_max, files_max = True, 2 * bytes_max, 2 * files_max
                if about not in text:
                    continue
            files[path] = text
    finally:
        reader.close()
    return files, tuple(unread), False


def _is_text_name(path: str) -> bool:
    name = path.rpartition("/")[2]
    if language_of(path) is not None or name in _NAMED:
        return True
    return name.rpartition(".")[2].lower() in _ENDINGS


def _text_of(reader: Reader, path: str) -> str | None:
    """The text of a regular file; None for anything else, or too much."""
    try:
        data = _data_of(reader.open(os.fsencode(path)))
    except OSError:
        return None
    if data is None or b"\0" in data or len(data) > FILE_BYTES_MAX:
        return None
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        return None


def _data_of(opened: int) -> bytes | None:
    with os.fdopen(opened, "rb") as file:
        status = os.fstat(file.fileno())
        if not stat.S_ISREG(status.st_mode) or status.st_size > FILE_BYTES_MAX:
            return None
        return file.read(FILE_BYTES_MAX + 1)
