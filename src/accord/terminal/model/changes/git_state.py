"""The git state of the project before the agent's first change.

These functions block: call them in a thread.  Only commands that change nothing are run, not even
git's own index, and nothing that the project's configuration would have git start.

Invariants
    * Without git, a repository or an answer within `SECONDS_MAX`, the result is None.
    * What is read of the answer is bounded.
"""

from __future__ import annotations

import os
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from accord.machine.git import filters_named, git_command, git_environment

GitMark: TypeAlias = Literal["clean", "dirty", "untracked", "ignored", "outside"]

SECONDS_MAX = 5.0
BYTES_MAX = 8 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class GitState:
    """A repository at one moment.

    `marks` has the paths that are not clean, from the top of the repository on; a folder ends in
    a slash and stands for all below it.
    """

    top: str
    branch: str | None = None
    head: str | None = None
    marks: Mapping[str, GitMark] = field(default_factory=dict)
    # There were more than are known.
    is_cut: bool = False

    def mark(self, path: str) -> GitMark:
        """What git knew about a file that existed at that time."""
        if path == self.top or not path.startswith(f"{self.top}/"):
            return "outside"
        inner = path[len(self.top) + 1 :]
        found = self.marks.get(inner)
        while found is None and "/" in inner:
            inner = inner.rpartition("/")[0]
            found = self.marks.get(f"{inner}/")
        return found or "clean"

    @property
    def label(self) -> str:
        """For a line: the branch, or the commit."""
        return self.branch or f"detached at {(self.head or '')[:8]}"


def read_git_state(folder: str) -> GitState | None:
    """The repository that a folder is in."""
    top = _git(folder, "rev-parse", "--show-toplevel")
    if top is None:
        return None
    filters = _filters(folder)
    if filters is None:
        return None
    told = _git(
        folder,
        "status",
        "--porcelain=v2",
        "--branch",
        "-z",
        "--untracked-files=normal",
        "--ignored=traditional",
        # A submodule has filters of its own, which run when its files are compared.
        "--ignore-submodules=dirty",
        without_filters=filters,
    )
    if told is None:
        return None
    return state_of(os.fsdecode(top[0].rstrip(b"\n")), *told)


def _filters(folder: str) -> list[str] | None:
    """The filters that `git status` would run; None if they cannot all be switched off."""
    # Git ends with 1 where there are none.
    told = _git(folder, "config", "-z", "--name-only", "--get-regexp", r"^filter\.", codes=(0, 1))
    return None if told is None or told[1] else filters_named(told[0])


def state_of(top: str, told: bytes, is_cut: bool = False) -> GitState:
    """Read what `git status --porcelain=v2 --branch -z` says."""
    branch: str | None = None
    head: str | None = None
    marks: dict[str, GitMark] = {}
    parts = iter(told.split(b"\0")[:-1])
    for part in parts:
        line = os.fsdecode(part)
        kind, _, rest = line.partition(" ")
        if line.startswith("# branch.head "):
            name = line.removeprefix("# branch.head ")
            branch = None if name == "(detached)" else name
        elif line.startswith("# branch.oid "):
            head = line.removeprefix("# branch.oid ")
        elif kind == "?":
            marks[rest] = "untracked"
        elif kind == "!":
            marks[rest] = "ignored"
        elif kind == "1":
            marks[rest.split(" ", 7)[-1]] = "dirty"
        elif kind == "2":
            marks[rest.split(" ", 8)[-1]] = "dirty"
            # Where it was before has a part of its own.
            next(parts, b"")
        elif kind == "u":
            marks[rest.split(" ", 9)[-1]] = "dirty"
    return GitState(top, branch, head, marks, is_cut)


def _git(
    folder: str,
    *words: str,
    without_filters: Sequence[str] = (),
    codes: Sequence[int] = (0,),
) -> tuple[bytes, bool] | None:
    """Git's output, and whether it was cut off; None if git failed."""
    command = git_command("-C", folder, *words, without_filters=without_filters)
    if command is None:
        return None
    try:
        process = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=git_environment(),
            start_new_session=True,
        )
    except OSError:
        return None
    import threading

    # Reading has no time limit of its own; the end of the process ends it.
    limit = threading.Timer(SECONDS_MAX, process.kill)
    limit.start()
    try:
        assert process.stdout is not None
        with process.stdout as answer:
            data = answer.read(BYTES_MAX + 1)
        is_cut = len(data) > BYTES_MAX
        if is_cut:
            process.kill()
            data = data[: data.rfind(b"\0", 0, BYTES_MAX) + 1]
        code = process.wait()
    finally:
        limit.cancel()
    return (data, is_cut) if code in codes or is_cut else None
