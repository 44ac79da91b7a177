"""The allowed directories as open handles, and paths opened beneath them.

It must not know file contents, sessions or permissions.

Always holds
    * Text only chooses the root that is tried; whether a path stays beneath it is decided by
      handles: openat2 in one call, or the walk of `path_resolution.py`.
    * Handles live as long as an operation uses them, also when the roots are replaced meanwhile.

Links that stay beneath a root work, also absolute ones and ones into another root of the set.
Mounts beneath a root are refused unless `cross_mounts` says otherwise: a bind mount can show
any other tree.
"""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator, Sequence

from accord.machine.errors import OUTSIDE, OutsideRoots, file_failure
from accord.machine.filesystem import openat2
from accord.machine.filesystem.path_resolution import (
    Place,
    Root,
    Walk,
    open_root,
    open_step,
    parts_of,
)

_WALK_ERRORS = frozenset({errno.EXDEV, errno.ELOOP, errno.ENOSYS, errno.EPERM, errno.EAGAIN})
"""After these the walk decides: absolute links, no openat2, or a race it could not settle."""


class Roots:
    """A replaceable set of directories; everything opened through it lies beneath one of them."""

    def __init__(
        self, directories: Sequence[str | os.PathLike[str]], *, cross_mounts: bool = False
    ) -> None:
        """Open every directory now.

        Raises:
            FileFailure: one is missing, not a directory, not accessible or not absolute.
        """
        self._cross_mounts = cross_mounts
        self._roots = tuple(open_root(os.fspath(directory)) for directory in directories)

    @property
    def directories(self) -> tuple[str, ...]:
        """The roots as they were given."""
        return tuple(root.given for root in self._roots)

    def replace(self, directories: Sequence[str | os.PathLike[str]]) -> None:
        """Replace the set, all or nothing; running operations finish on the old one."""
        self._roots = tuple(open_root(os.fspath(directory)) for directory in directories)

    def close(self) -> None:
        """Forget every root: from now on each path is outside."""
        self._roots = ()

    def open_beneath(self, path: str | os.PathLike[str], flags: int, mode: int = 0o666) -> int:
        """Open `path` with the flags of os.open and return a descriptor the caller closes.

        The descriptor is never inherited, never becomes a controlling terminal, and opening
        never waits (O_NONBLOCK): look at fstat before reading, it may be a pipe or device.

        Raises:
            OutsideRoots: no root holds the path.
            FileFailure: anything else that went wrong.
        """
        text = os.fspath(path)
        flags |= os.O_CLOEXEC
        if not flags & getattr(os, "O_PATH", 0):
            flags |= os.O_NOCTTY | os.O_NONBLOCK
        # The reason and not the exception: that would keep its own frame, and handles, alive.
        reason = OUTSIDE
        for root, rest in self._candidates(text):
            try:
                return self._open(text, root, rest, flags, mode)
            except OutsideRoots as outside:
                reason = outside.reason
            except OSError as error:
                raise file_failure(text, error) from error
        raise OutsideRoots(text, reason)

    def locate(
        self, path: str | os.PathLike[str], *, follow: bool = True, create_parents: bool = False
    ) -> Place:
        """Find the directory and name that `path` means; the name itself need not exist.

        With `follow` a link at the end is followed as long as it stays beneath a root, also to
        a file that does not exist yet.  With `create_parents` missing directories are made.

        Raises:
            OutsideRoots: no root holds the path.
            FileMissing: a directory on the way is missing.
        """
        text = os.fspath(path)
        # The reason and not the exception: that would keep its own frame, and handles, alive.
        reason = OUTSIDE
        for root, rest in self._candidates(text):
            walk = Walk(
                text,
                root,
                self._candidates,
                cross_mounts=self._cross_mounts,
                follow=follow,
                create_parents=create_parents,
            )
            try:
                return walk.run(rest)
            except OutsideRoots as outside:
                reason = outside.reason
            except OSError as error:
                raise file_failure(text, error) from error
        raise OutsideRoots(text, reason)

    def _open(self, text: str, root: Root, rest: list[str], flags: int, mode: int) -> int:
        try:
            return openat2.open_resolved(
                root.handle.fd,
                "/".join(rest) or ".",
                flags,
                mode,
                cross_mounts=self._cross_mounts,
            )
        except OSError as error:
            if error.errno not in _WALK_ERRORS:
                raise
        walk = Walk(text, root, self._candidates, cross_mounts=self._cross_mounts)
        with walk.run(rest) as place:
            return open_step(
                place.root,
                place.parent,
                place.name,
                flags,
                mode,
                cross_mounts=self._cross_mounts,
            )

    def _candidates(self, path: str) -> Iterator[tuple[Root, list[str]]]:
        """The roots whose spelling begins the path, longest first, else one that is an ancestor.

        Nothing is granted here; the rest of the path is resolved from the root's handle.
        """
        parts = parts_of(path)
        roots = self._roots
        found: list[tuple[int, int, Root]] = []
        for order, root in enumerate(roots):
            lengths = [len(s) for s in root.spellings if tuple(parts[: len(s)]) == s]
            if lengths:
                found.append((-max(lengths), order, root))
        if found:
            for length, _, root in sorted(found, key=lambda entry: entry[:2]):
                yield root, parts[-length:]
            return
        by_identity = {root.identity: root for root in roots}
        alias: tuple[Root, list[str]] | None = None
        for end in range(len(parts) + 1) if by_identity else ():
            try:
                status = os.stat("/" + "/".join(parts[:end]))
            except OSError:
                break
            root_here = by_identity.get((status.st_dev, status.st_ino))
            if root_here is not None:
                alias = (root_here, parts[end:])
        if alias is not None:
            yield alias
