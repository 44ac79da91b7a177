"""Git is asked about a repository, and runs nothing that the repository names."""

import os
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import anyio
import pytest

from accord.builtin.tools.search.project_files import project_files
from accord.machine.file_search.file_index import FilesIndex
from accord.machine.git import filters_named, git_command, git_environment
from accord.terminal.model.changes.git_state import read_git_state
from tests.cli.security.hostile_project import HostileProject

pytestmark = pytest.mark.skipif(shutil.which("git") is None, reason="git is not installed")


def _state(folder: str) -> None:
    state = read_git_state(folder)
    assert state is None or state.mark(f"{state.top}/notes.txt") == "dirty"


def _listed(folder: str) -> None:
    assert "notes.txt" in anyio.run(project_files, folder).paths


def _indexed(folder: str) -> None:
    index = FilesIndex([folder])
    anyio.run(index.refresh)
    assert "notes.txt" in index.find("notes", 5)


CALLS: dict[str, Callable[[str], None]] = {"state": _state, "list": _listed, "index": _indexed}


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> HostileProject:
    """A repository whose configuration names a program in every place that git has for one."""
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("GIT_CONFIG_NOSYSTEM", "1")
    one = HostileProject(tmp_path / "project", tmp_path / "marks")
    one.write_repository()
    return one


@pytest.mark.parametrize("call", CALLS)
def test_a_repository_runs_no_program_when_it_is_looked_at(
    project: HostileProject, call: str
) -> None:
    """Issue 12: the same question is asked of `GIT_*` and of what git starts."""
    CALLS[call](str(project.folder))
    assert project.marks == {}


@pytest.mark.parametrize("call", CALLS)
def test_missing_objects_are_not_fetched(project: HostileProject, call: str) -> None:
    """Issue 12: the other end of a fetch is a program that the repository names."""
    project.lose_a_tree()
    CALLS[call](str(project.folder))
    assert project.marks == {}
    subprocess.run(["git", "log", "--stat"], cwd=project.folder, capture_output=True, check=False)
    assert "program-git-remote.origin.uploadpack" in project.marks


@pytest.mark.parametrize("call", CALLS)
def test_variables_of_git_do_not_reach_it(
    project: HostileProject, call: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Issue 12: `GIT_*` neither names programs nor another repository."""
    run = project.program(project.folder / "from-variable")
    for name in ("GIT_EXTERNAL_DIFF", "GIT_PAGER", "GIT_SSH_COMMAND", "GIT_EDITOR", "GIT_ASKPASS"):
        monkeypatch.setenv(name, run)
    monkeypatch.setenv("GIT_CONFIG_COUNT", "1")
    monkeypatch.setenv("GIT_CONFIG_KEY_0", "core.fsmonitor")
    monkeypatch.setenv("GIT_CONFIG_VALUE_0", run)
    monkeypatch.setenv("GIT_DIR", os.devnull)
    monkeypatch.setenv("GIT_EXEC_PATH", str(project.folder))
    CALLS[call](str(project.folder))
    assert project.marks == {}


def test_a_submodule_runs_no_filter(project: HostileProject, tmp_path: Path) -> None:
    """Issue 12: a repository within the repository has a configuration of its own."""
    inner = HostileProject(tmp_path / "inner", tmp_path / "inner-marks")
    inner.write_repository()
    place = project.folder / "sub"
    shutil.move(inner.folder, place)
    head = subprocess.run(
        ["git", "-c", "core.fsmonitor=false", "rev-parse", "HEAD"],
        cwd=place,
        capture_output=True,
        text=True,
        check=True,
    ).stdout.strip()
    (project.folder / ".gitmodules").write_text('[submodule "sub"]\n\tpath = sub\n\turl = ./x\n')
    quiet = ("git", "-c", "core.fsmonitor=false", "-c", "core.hooksPath=/dev/null")
    added = ("update-index", "--add", "--cacheinfo", f"160000,{head},sub")
    subprocess.run([*quiet, *added], cwd=project.folder, check=True)
    for call in CALLS.values():
        call(str(project.folder))
    assert {**project.marks, **inner.marks} == {}


def test_a_bare_repository_among_the_files_is_no_repository(tmp_path: Path) -> None:
    """Issue 12: it comes with a clone, as files, and has a configuration that git would obey."""
    one = HostileProject(tmp_path / "project", tmp_path / "marks")
    subprocess.run(["git", "init", "-q", "--bare", one.folder], check=True)
    trap = one.program(tmp_path / "trap")
    with (one.folder / "config").open("a") as config:
        config.write(f'[core]\n\tfsmonitor = {trap}\n\tbare = false\n\tworktree = "."\n')
    assert read_git_state(str(one.folder)) is None
    assert one.marks == {}


def test_a_filter_that_cannot_be_switched_off_leaves_the_state_unknown(
    project: HostileProject,
) -> None:
    """Ours: no option of git can say a name with an equals sign."""
    assert filters_named(b"filter.a.b.clean\0filter.a.b.required\0filter.lfs.process\0") == [
        *("a.b", "lfs")
    ]
    assert filters_named(b"") == []
    assert filters_named(b"filter.a=b.clean\0") is None
    trap = project.program(project.folder / "trap")
    with (project.folder / ".git" / "config").open("a") as config:
        config.write(f'[filter "a=b"]\n\tclean = {trap}\n')
    assert read_git_state(str(project.folder)) is None


def test_git_is_not_looked_up_in_the_project(
    project: HostileProject, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Issue 12: `PATH=.:$PATH` does not let a project in."""
    project.program(project.folder / "git")
    monkeypatch.chdir(project.folder)
    monkeypatch.setenv("PATH", f".:{os.environ['PATH']}")
    for call in CALLS.values():
        call(str(project.folder))
    assert project.marks == {}
    assert not git_environment()["PATH"].startswith(".")
    monkeypatch.setenv("PATH", ".")
    assert git_command("status") is None
    assert read_git_state(str(project.folder)) is None
