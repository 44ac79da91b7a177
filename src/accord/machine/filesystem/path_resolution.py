"""A path beneath an open directory, resolved step by step by handles.

It must not know which directories are allowed or why: it gets a root and asks `candidates`
only where an absolute link points.

Always holds
    * Every step is opened with O_NOFOLLOW from the handle of the step before.
    * Nothing is opened by a path that was checked earlier, so there is no moment between
      check and use in which a link could be swapped in.
"""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from types import TracebackType

from accord.machine.errors import (
    FileFailure,
    FileMissing,
    OutsideRoots,
    file_failure,
)
from accord.machine.filesystem import openat2

LINKS_MAX = 40
"""Links followed and steps tried again for one path; the kernel's own bound."""

DEPTH_MAX = 256
"""Directories below a root that the walk goes down; each costs a descriptor for a moment."""

PATH_BYTES_MAX = 4096
"""Longest path, as PATH_MAX."""

_CHANGED = frozenset({errno.EINVAL, errno.ENOTDIR, errno.ELOOP, errno.ENOENT})
"""What a step meets when a link and a directory were swapped since the look."""

DIRECTORY_FLAGS = getattr(os, "O_PATH", os.O_RDONLY) | os.O_DIRECTORY | os.O_CLOEXEC


class Handle:
    """A descriptor that is closed when the last operation that uses it is over."""

    __slots__ = ("fd",)

    def __init__(self, fd: int) -> None:
        self.fd = fd

    def __del__(self, close: object = os.close) -> None:
        if callable(close):
            close(self.fd)


@dataclass(frozen=True)
class Root:
    """One allowed directory: its handle, and the spellings under which callers know it."""

    handle: Handle
    given: str
    real: str
    spellings: tuple[tuple[str, ...], ...]
    identity: tuple[int, int]
    mount: int | None


class Place:
    """A name in an open directory: where an operation by directory handle can happen.

    `parent` is a descriptor of the directory, `name` one component that was no link when it
    was looked at (`.` for the directory itself), `real` the path without links.  Operations
    on it must use `dir_fd=place.parent` and never follow links.  Close it by `with`.
    """

    def __init__(self, root: Root, opened: list[int], names: list[str], name: str) -> None:
        self.root = root
        self._opened = opened
        self.parent = opened[-1] if opened else root.handle.fd
        self.name = name
        parts = names if name == "." else [*names, name]
        self.real = "/".join([root.real.rstrip("/"), *parts]) or "/"

    def __enter__(self) -> Place:
        return self

    def __exit__(
        self,
        exc_type: type[BaseException] | None,
        exc: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        while self._opened:
            os.close(self._opened.pop())


class Walk:
    """One path resolved step by step by handles; the portable twin of openat2.

    The open directories always form a physical chain from the root downwards, so `..` is a
    step back on that chain and can never climb over the root.
    """

    def __init__(
        self,
        path: str,
        root: Root,
        candidates: Callable[[str], Iterable[tuple[Root, list[str]]]],
        *,
        cross_mounts: bool,
        follow: bool = True,
        create_parents: bool = False,
    ) -> None:
        self._path = path
        self._root = root
        self._candidates = candidates
        self._cross_mounts = cross_mounts
        self._follow = follow
        self._create_parents = create_parents
        self._opened: list[int] = []
        self._names: list[str] = []
        self._turns = 0

    def run(self, parts: list[str]) -> Place:
        """Walk the components and return the place they lead to.

        Raises:
            OutsideRoots: they lead out.
            FileMissing: a directory on the way is missing.
            OSError: any other step that the system refused.
        """
        try:
            name = self._name_at_the_end(parts)
        except BaseException:
            self._start_over(self._root)
            raise
        return Place(self._root, self._opened, self._names, name)

    def _name_at_the_end(self, parts: list[str]) -> str:
        pending = parts[::-1]
        while pending:
            name = pending.pop()
            if name == "..":
                self._step_back()
                continue
            if not pending and not self._follow:
                return name
            status = self._look(name, ahead=pending)
            is_link = status is not None and stat.S_ISLNK(status.st_mode)
            if not is_link and not pending:
                return name
            try:
                if is_link:
                    self._follow_link(name, pending)
                else:
                    self._step_into(name)
            except OSError as error:
                was_fine = is_link or (status is not None and stat.S_ISDIR(status.st_mode))
                if error.errno not in _CHANGED or not was_fine:
                    raise
                # It has changed since we looked, so look again.
                self._count_turn()
                pending.append(name)
        return "."

    @property
    def _here(self) -> int:
        return self._opened[-1] if self._opened else self._root.handle.fd

    def _look(self, name: str, ahead: list[str]) -> os.stat_result | None:
        """What is there now, no link followed; None for a missing last name."""
        try:
            return os.stat(name, dir_fd=self._here, follow_symlinks=False)
        except FileNotFoundError:
            if not ahead:
                return None
            # A `..` after a directory that did not exist is more likely an attack than intended.
            if not self._create_parents or ".." in ahead:
                raise FileMissing(self._path) from None
        try:
            os.mkdir(name, dir_fd=self._here)
        except FileExistsError:
            # Another process was faster; what it made is examined like anything else.
            pass
        return os.stat(name, dir_fd=self._here, follow_symlinks=False)

    def _count_turn(self) -> None:
        self._turns += 1
        if self._turns > LINKS_MAX:
            raise OutsideRoots(self._path, "too many links on the way")

    def _step_into(self, name: str) -> None:
        if len(self._opened) >= DEPTH_MAX:
            raise FileMissing(self._path, f"more than {DEPTH_MAX} directories deep")
        # Swapped for a link since the look: O_NOFOLLOW makes this fail, never follow.
        opened = open_step(
            self._root, self._here, name, DIRECTORY_FLAGS, cross_mounts=self._cross_mounts
        )
        self._opened.append(opened)
        self._names.append(name)

    def _step_back(self) -> None:
        if not self._opened:
            raise OutsideRoots(self._path)
        os.close(self._opened.pop())
        self._names.pop()

    def _follow_link(self, name: str, pending: list[str]) -> None:
        self._count_turn()
        # The text may have changed since the look; it is only ever walked, never trusted.
        target = os.readlink(name, dir_fd=self._here)
        if not target.startswith("/"):
            pending.extend(reversed(parts_of("/" + target)))
            return
        for root, rest in self._candidates(target):
            self._start_over(root)
            pending.extend(reversed(rest))
            return
        raise OutsideRoots(self._path, "a link leads outside the allowed directories")

    def _start_over(self, root: Root) -> None:
        while self._opened:
            os.close(self._opened.pop())
        self._names.clear()
        self._root = root


def open_step(
    root: Root, parent: int, name: str, flags: int, mode: int = 0, *, cross_mounts: bool
) -> int:
    """Open one component, which must not be a link, in an open directory beneath `root`.

    Raises:
        OSError: as open(2); EXDEV where another mount begins, unless `cross_mounts`.
    """
    flags |= os.O_NOFOLLOW | os.O_CLOEXEC
    try:
        return openat2.open_resolved(parent, name, flags, mode, cross_mounts=cross_mounts)
    except OSError as error:
        if error.errno not in (errno.ENOSYS, errno.EPERM):
            raise
    opened = os.open(name, flags, mode, dir_fd=parent)
    if not cross_mounts and _mount_of(opened) != root.mount:
        os.close(opened)
        raise OSError(errno.EXDEV, os.strerror(errno.EXDEV), name)
    return opened


def parts_of(path: str) -> list[str]:
    """The components of an absolute path; `..` stays for the kernel to resolve."""
    if not path.startswith("/"):
        raise OutsideRoots(path, "not an absolute path")
    if "\0" in path:
        raise OutsideRoots(path, "a path cannot contain a zero byte")
    try:
        length = len(os.fsencode(path))
    except UnicodeEncodeError:
        raise FileMissing(path, "the name cannot be encoded") from None
    if length > PATH_BYTES_MAX:
        raise FileMissing(path, "the name is too long")
    return [part for part in path.split("/") if part not in ("", ".")]


def open_root(given: str) -> Root:
    """Open a directory as a root; links on the way to it are trusted, its owner gave them.

    Raises:
        FileFailure: it is missing, not a directory, not accessible or not absolute.
    """
    if not os.path.isabs(given):
        raise FileFailure(given, "a root must be an absolute path")
    try:
        handle = Handle(os.open(given, DIRECTORY_FLAGS))
    except OSError as error:
        if error.errno == errno.ENOTDIR:
            raise FileMissing(given, "not a directory") from error
        if error.errno == errno.ENOENT:
            raise FileMissing(given, "no such directory") from error
        raise file_failure(given, error) from error
    except ValueError as error:
        # A zero byte, or half a character: no directory can have that name.
        raise FileMissing(given, "no such directory") from error
    status = os.fstat(handle.fd)
    real = os.path.realpath(given)
    spellings = {tuple(parts_of(os.path.normpath(given))), tuple(parts_of(real))}
    return Root(
        handle=handle,
        given=given,
        real=real,
        spellings=tuple(spellings),
        identity=(status.st_dev, status.st_ino),
        mount=_mount_of(handle.fd),
    )


def _mount_of(fd: int) -> int | None:
    """The mount a descriptor lies on; the device number where the system does not tell."""
    try:
        with open(f"/proc/self/fdinfo/{fd}", encoding="ascii") as lines:
            for line in lines:
                if line.startswith("mnt_id:"):
                    return int(line.split()[1])
    except OSError:
        pass
    return os.fstat(fd).st_dev


def rename(
    name: str,
    goal: str,
    *,
    src_dir_fd: int,
    dst_dir_fd: int,
    overwrite: bool,
    linkable: bool = True,
) -> None:
    """Give something beneath one directory another name, beneath the same or another.

    `linkable` is what a hard link can be made to.

    Raises:
        OSError: FileExistsError if the name is taken and `overwrite` is not set, or another reason.
    """
    if not overwrite:
        if linkable:
            # A hard link fails where the name is taken, so nothing is replaced by accident.
            try:
                os.link(
                    name, goal, src_dir_fd=src_dir_fd, dst_dir_fd=dst_dir_fd, follow_symlinks=False
                )
            except OSError as error:
                if error.errno not in (errno.EPERM, errno.EOPNOTSUPP):
                    raise
            else:
                os.unlink(name, dir_fd=src_dir_fd)
                return
        try:
            os.stat(goal, dir_fd=dst_dir_fd, follow_symlinks=False)
        except FileNotFoundError:
            pass
        else:
            raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), goal)
    os.rename(name, goal, src_dir_fd=src_dir_fd, dst_dir_fd=dst_dir_fd)
