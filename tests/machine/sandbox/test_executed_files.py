"""Which files of a project other programs execute on their own."""

from __future__ import annotations

from pathlib import Path

import pytest

from accord.machine.sandbox.executed_files import executed_files


def found(folder: Path, *names: str) -> list[str]:
    """What is found among these files, relative to the folder."""
    for name in names:
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("")
    real = str(folder.resolve())
    return sorted(path.removeprefix(f"{real}/") for path in executed_files(real))


@pytest.mark.parametrize(
    ("name", "place"),
    [
        (".envrc", ".envrc"),
        (".vscode/tasks.json", ".vscode"),
        (".venv/bin/python", ".venv"),
        (".github/workflows/ci.yml", ".github/workflows"),
        (".github/actions/x/action.yml", ".github/actions"),
        (".git/hooks/pre-commit", ".git/hooks"),
        (".git/config", ".git/config"),
        (".git/worktrees/x/config.worktree", ".git/worktrees/x/config.worktree"),
        (".local/share/applications/x.desktop", ".local/share/applications"),
        ("pre-commit", "pre-commit"),
    ],
)
def test_what_is_executed_is_found_as_a_whole(tmp_path: Path, name: str, place: str) -> None:
    """Issue 17: the one list of machine/filesystem/auto_executed_files.py."""
    assert found(tmp_path, name) == [place]


@pytest.mark.parametrize(
    "name",
    ["src/main.py", ".git/index", ".git/objects/ab/cd", ".github/ISSUE_TEMPLATE.md", "Makefile"],
)
def test_ordinary_files_are_not_found(tmp_path: Path, name: str) -> None:
    """Ours: a repository stays usable, and source is source."""
    assert found(tmp_path, name) == []


def test_the_hooks_folder_of_the_settings_is_found(tmp_path: Path) -> None:
    """Ours: `core.hooksPath` may name any folder."""
    (tmp_path / ".git").mkdir()
    (tmp_path / ".git/config").write_text("[core]\n\thooksPath = tools/hooks\n")
    found(tmp_path, "tools/hooks/x")
    real = str(tmp_path.resolve())
    assert f"{real}/tools/hooks" in executed_files(real)


def test_a_link_out_of_the_folder_is_left_out(tmp_path: Path) -> None:
    """Ours: what is outside is not writable anyway."""
    project = tmp_path / "project"
    project.mkdir()
    (tmp_path / "envrc").write_text("")
    (project / ".envrc").symlink_to(tmp_path / "envrc")
    assert found(project) == []


def test_a_bare_repository_is_recognised(tmp_path: Path) -> None:
    """Ours: its hooks are beside its HEAD."""
    assert found(tmp_path, "HEAD", "config", "hooks/update", "objects/x") == [
        "HEAD",
        "config",
        "hooks",
    ]
