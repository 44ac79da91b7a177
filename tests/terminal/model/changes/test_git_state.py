"""Git is asked what it knew before the agent came, and nothing is changed by that."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from accord.terminal.model.changes import git_state
from accord.terminal.model.changes.git_state import read_git_state, state_of
from accord.terminal.model.changes.journal import Journal
from accord.terminal.model.chat import Chat

NAMES = {
    "GIT_AUTHOR_NAME": "a",
    "GIT_AUTHOR_EMAIL": "a@example.com",
    "GIT_COMMITTER_NAME": "a",
    "GIT_COMMITTER_EMAIL": "a@example.com",
}


def git(folder: Path, *words: str) -> None:
    """Run git in a folder of its own, without the user's settings."""
    nowhere = {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_SYSTEM": os.devnull}
    environment = {**os.environ, **NAMES, **nowhere}
    subprocess.run(["git", *words], cwd=folder, env=environment, check=True, capture_output=True)


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """Clean, dirty, untracked and ignored files, on a branch."""
    top = tmp_path / "repo"
    (top / "sub").mkdir(parents=True)
    git(top, "init", "-b", "trunk")
    for name in ("clean", "dirty", "sub/staged", "moved", "gone"):
        (top / name).write_text(f"{name}\n" * 5)
    (top / ".gitignore").write_text("build/\n")
    git(top, "add", ".")
    git(top, "commit", "-m", "first")
    (top / "dirty").write_text("changed\n")
    (top / "sub" / "staged").write_text("changed\n")
    git(top, "add", "sub/staged")
    git(top, "mv", "moved", "sub/a b ü")
    (top / "gone").unlink()
    (top / "new dir").mkdir()
    (top / "new dir" / "new").write_text("x")
    (top / "build").mkdir()
    (top / "build" / "out").write_text("x")
    return top


def test_what_git_knows_of_each_file(repository: Path) -> None:
    """Issue 6: git-aware."""
    index = (repository / ".git" / "index").read_bytes()
    state = read_git_state(str(repository / "sub"))
    assert state is not None
    assert (state.top, state.branch, state.label) == (str(repository), "trunk", "trunk")
    assert not state.is_cut
    marks = {
        name: state.mark(str(repository / name))
        for name in (
            "clean",
            "dirty",
            "sub/staged",
            "sub/a b ü",
            "gone",
            "new dir/new",
            "build/out",
        )
    }
    assert marks == {
        "clean": "clean",
        "dirty": "dirty",
        "sub/staged": "dirty",
        "sub/a b ü": "dirty",
        "gone": "dirty",
        "new dir/new": "untracked",
        "build/out": "ignored",
    }
    assert state.mark("/elsewhere") == "outside"
    assert (repository / ".git" / "index").read_bytes() == index, "nothing was changed"


def test_a_project_cannot_have_git_start_its_programs(repository: Path, tmp_path: Path) -> None:
    """Ours: a configuration in the project may be anybody's."""
    git(repository, "config", "core.fsmonitor", f"touch {tmp_path}/ran; false")
    assert read_git_state(str(repository)) is not None
    assert not (tmp_path / "ran").exists()


def test_variables_of_another_repository_do_not_mislead(
    repository: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Ours: a chat may be started from a hook of git."""
    monkeypatch.setenv("GIT_DIR", "/nowhere/.git")
    state = read_git_state(str(repository))
    assert state is not None
    assert state.top == str(repository)


def test_a_detached_head_has_its_commit(repository: Path) -> None:
    """Ours."""
    git(repository, "checkout", "--detach")
    state = read_git_state(str(repository))
    assert state is not None
    assert state.branch is None
    assert state.label.startswith("detached at ")


def test_no_repository_no_git_and_no_folder_are_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Ours: a chat works without git."""
    assert read_git_state(str(tmp_path)) is None
    assert read_git_state(str(tmp_path / "nowhere")) is None
    monkeypatch.setenv("PATH", str(tmp_path))
    assert read_git_state(str(tmp_path)) is None


def test_what_is_read_is_bounded(repository: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Rule 6 of the house."""
    monkeypatch.setattr(git_state, "BYTES_MAX", 200)
    state = read_git_state(str(repository))
    assert state is not None
    assert state.is_cut
    assert state.branch == "trunk"


def test_conflicts_are_dirty() -> None:
    """Ours."""
    told = b"u UU N... 100644 100644 100644 100644 a b c my file\0"
    assert state_of("/r", told).mark("/r/my file") == "dirty"


async def test_a_journal_knows_git_as_it_was(repository: Path) -> None:
    """Issue 6: dirty before the agent came."""
    chat = Chat(str(repository))
    journal = Journal(chat)
    for name in ("clean", "dirty", "new"):
        async with journal.writing(str(repository / name)):
            (repository / name).write_text("agent\n")
        await journal.settle()
    marks = [journal.git_mark(change) for change in journal.changes]
    assert marks == ["clean", "dirty", None]
    assert journal.git is not None
    assert journal.git.label == "trunk"
