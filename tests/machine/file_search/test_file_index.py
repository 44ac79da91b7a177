"""The files of a folder, as git sees them and as we do without it."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import anyio
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from accord.machine.file_search import file_index as files_index
from accord.machine.file_search.file_index import (
    FRESH_SECONDS,
    FilesIndex,
    files_beneath,
    walk,
)

needs_git = pytest.mark.skipif(shutil.which("git") is None, reason="git is not installed")


def _write(root: Path, *names: str, text: str = "") -> None:
    for name in names:
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


def _git(root: Path, *arguments: str) -> None:
    subprocess.run(["git", "-C", str(root), *arguments], check=True, capture_output=True)


def test_without_git_a_walk_reads_the_ignore_files(tmp_path: Path) -> None:
    """Issue 6: gitignore-aware; nothing else is left out, `.git` but for."""
    _write(tmp_path, "a.py", "b.pyc", ".git/config", "out/x", "src/keep.log", "src/y.log", ".env")
    _write(tmp_path, "node_modules/left/in.js")
    (tmp_path / ".gitignore").write_text("*.pyc\n/out/\n*.log\n")
    (tmp_path / "src" / ".gitignore").write_text("!keep.log\n")
    assert sorted(walk(str(tmp_path))) == [
        ".env",
        ".gitignore",
        "a.py",
        "node_modules/left/in.js",
        "src/.gitignore",
        "src/keep.log",
    ]


def test_a_walk_in_a_part_of_a_repository_heeds_what_stands_above(tmp_path: Path) -> None:
    """gitignore(5): rules count for everything below their folder."""
    _write(tmp_path, "part/a.o", "part/a.c", "part/deep/b.o", "part/local")
    (tmp_path / ".git" / "info").mkdir(parents=True)
    (tmp_path / ".git" / "info" / "exclude").write_text("/part/local\n")
    (tmp_path / ".gitignore").write_text("*.o\n")
    assert list(walk(str(tmp_path / "part"))) == ["a.c"]
    (tmp_path / ".git" / "info" / "exclude").unlink()
    shutil.rmtree(tmp_path / ".git")
    assert "a.o" in list(walk(str(tmp_path / "part")))


def test_a_walk_has_bounds_and_follows_no_link_to_a_folder(tmp_path: Path) -> None:
    """Ours: everything has a bound; what is near the top stays."""
    _write(tmp_path, "z", "a/deep/x", "a/y")
    (tmp_path / "loop").symlink_to(tmp_path)
    assert list(walk(str(tmp_path), 3)) == ["loop", "z", "a/y"]
    assert list(walk(str(tmp_path / "no such folder"))) == []


@needs_git
def test_git_says_what_is_there_and_not_ignored(tmp_path: Path) -> None:
    """Issue 6: where git is there it is asked; what is deleted is not offered."""
    _git(tmp_path, "init", "-q")
    _write(tmp_path, "kept.py", "gone.py", "new file.txt", "x.o", "日本.md", "inner/deep/y.py")
    (tmp_path / ".gitignore").write_text("*.o\n")
    _git(tmp_path, "add", "kept.py", "gone.py")
    _git(tmp_path / "inner", "init", "-q")
    (tmp_path / "gone.py").unlink()
    found = [".gitignore", "inner/deep/y.py", "kept.py", "new file.txt", "日本.md"]
    assert sorted(files_beneath(str(tmp_path))) == found
    few = files_beneath(str(tmp_path), 4)
    assert len(few) == 4
    assert "inner/deep/y.py" not in few


@needs_git
def test_git_starts_no_program_of_the_project(tmp_path: Path) -> None:
    """Ours: looking for file names must not run what came with a folder."""
    _git(tmp_path, "init", "-q")
    witness = tmp_path / "witness"
    hook = tmp_path / "hook.sh"
    hook.write_text(f"#!/bin/sh\ntouch {witness}\n")
    hook.chmod(0o755)
    _git(tmp_path, "config", "core.fsmonitor", str(hook))
    assert "hook.sh" in files_beneath(str(tmp_path))
    assert not witness.exists()


@needs_git
@given(
    st.lists(st.sampled_from(["a", "b", "a/x", "a/b/y", "b/x", "c.o", "a/c.o"]), unique=True),
    st.lists(st.sampled_from(["a", "/b", "x", "*.o", "!a/c.o", "a/*", "!a/b", "b/", "**/y"])),
    st.lists(st.sampled_from(["x", "!c.o", "/b", "*"])),
)
@settings(
    max_examples=25,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
)
def test_a_walk_finds_what_git_finds(
    tmp_path: Path, names: list[str], above: list[str], below: list[str]
) -> None:
    """Issue 6: the same with git and without."""
    shutil.rmtree(tmp_path)
    tmp_path.mkdir()
    _git(tmp_path, "init", "-q")
    for name in names:
        if not any(other.startswith(name + "/") for other in names):
            _write(tmp_path, name)
    (tmp_path / ".gitignore").write_text("\n".join(above))
    if (tmp_path / "a").is_dir():
        (tmp_path / "a" / ".gitignore").write_text("\n".join(below))
    assert sorted(walk(str(tmp_path))) == sorted(files_beneath(str(tmp_path)))


async def test_the_disk_is_looked_at_again_when_it_is_time(tmp_path: Path) -> None:
    """Ours: a search never waits; what is new is found after the next look."""
    now = [0.0]
    _write(tmp_path, "one.py")
    index = FilesIndex([str(tmp_path)], clock=lambda: now[0])
    assert index.find("one", 5) == []
    assert (index.is_stale, index.was_read) == (True, False)
    assert await index.refresh()
    assert (index.is_stale, index.was_read) == (False, True)
    assert index.find("one", 5) == ["one.py"]
    assert len(index) == 1
    _write(tmp_path, "ones.py")
    assert not await index.refresh()
    now[0] += FRESH_SECONDS + 1
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(index.refresh)
        tasks.start_soon(index.refresh)
    assert index.find("one", 5) == ["one.py", "ones.py"]
    index.use("ones.py")
    assert index.find("one", 5)[0] == "one.py"
    assert index.find("", 5)[0] == "ones.py"
    assert index.path_of("ones.py") == tmp_path / "ones.py"


async def test_names_of_other_folders_are_absolute(tmp_path: Path) -> None:
    """Issue 6: a session may have several folders."""
    _write(tmp_path, "main/a.py", "other/b.py")
    index = FilesIndex([str(tmp_path / "main"), str(tmp_path / "other")])
    await index.refresh()
    assert index.find("", 5) == ["a.py", str(tmp_path / "other" / "b.py")]
    name = index.find("b.py", 1)[0]
    assert index.path_of(name) == tmp_path / "other" / "b.py"


def test_only_so_many_are_remembered_as_used(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ours: everything has a bound."""
    monkeypatch.setattr(files_index, "RECENT_MAX", 2)
    index = FilesIndex([os.sep])
    for name in ("a", "b", "c", "b"):
        index.use(name)
    assert list(index._recent) == ["c", "b"]  # pyright: ignore[reportPrivateUsage]
