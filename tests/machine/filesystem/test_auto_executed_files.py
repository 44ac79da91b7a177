"""The files that something executes on its own."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from accord.machine.filesystem.auto_executed_files import executed_place, is_executed

EXECUTED = [
    ".git",
    ".git/hooks/pre-commit",
    ".git/config",
    "sub/.git/objects/x",
    "sub/HEAD",
    ".gitmodules",
    ".gitconfig",
    "tools/hooks/pre-push",
    ".husky/commit-msg",
    ".githooks/x",
    ".pre-commit-config.yaml",
    "lefthook.yml",
    ".vscode/tasks.json",
    "project.code-workspace",
    ".idea/workspace.xml",
    ".devcontainer/devcontainer.json",
    ".zed/tasks.json",
    ".cursor/mcp.json",
    ".claude/settings.json",
    ".mcp.json",
    ".accord/config.toml",
    ".envrc",
    ".env",
    "mise.toml",
    ".mise.local.toml",
    ".tool-versions",
    ".bashrc",
    ".profile",
    ".zshenv",
    ".config/fish/config.fish",
    ".config/autostart/x.desktop",
    ".config/systemd/user/x.service",
    ".ssh/authorized_keys",
    ".ssh/rc",
    "/etc/profile",
    "/var/spool/cron/me",
    ".local/bin/ls",
    ".github/workflows/ci.yml",
    ".github/actions/x/action.yml",
    ".gitlab-ci.yml",
    ".circleci/config.yml",
    "Jenkinsfile",
    "azure-pipelines.yml",
    "azure-pipelines-nightly.yaml",
    ".drone.yml",
    "bitbucket-pipelines.yml",
    "src/sitecustomize.py",
    ".venv/bin/python",
    "venv/pyvenv.cfg",
    "rust-toolchain.toml",
    ".bundle/config",
    ".direnvrc",
    ".mkshrc",
    "usercustomize.py",
    "lib/x.pth",
    ".npmrc",
    ".yarnrc.yml",
    ".pnpmfile.cjs",
    "pip.conf",
    # A folder may be put in place whole.
    ".github",
]
ORDINARY = [
    "src/head/index.ts",
    "src/head.c",
    "a.py",
    "src/hooks/useState.ts",
    "src/git/x.py",
    ".gitignore",
    ".gitattributes",
    ".github/ISSUE_TEMPLATE/bug.md",
    ".env.example",
    "Makefile",
    "package.json",
    "conftest.py",
    "docs/env.md",
    "etc/settings.ini",
    "x/vscode/tasks.json",
    "/home/me/.cursor/worktrees/project/src/a.py",
]


@pytest.mark.parametrize("path", EXECUTED)
def test_these_are_executed(path: str) -> None:
    """Issue 12: `.git/`, hooks, `.vscode/`, `.envrc`, shell start-up files, CI definitions."""
    assert executed_place(path) is not None
    assert executed_place(f"/home/me/project/{path.lstrip('/')}") is not None or path[0] == "/"


@pytest.mark.parametrize("path", ORDINARY)
def test_these_are_not(path: str) -> None:
    """Issue 12: what the project's own build and tests run is ordinary source code."""
    assert executed_place(path) is None


@given(
    path=st.sampled_from(EXECUTED),
    flips=st.lists(st.booleans(), min_size=64, max_size=64),
    hidden=st.sampled_from(["", "\u200b", "\u200d", "\ufeff"]),
    at=st.integers(0, 40),
)
def test_the_spelling_makes_no_difference(
    path: str, flips: list[bool], hidden: str, at: int
) -> None:
    """Issue 12: file systems that know no case, and those that drop invisible characters."""
    flipped = "".join(
        char.swapcase() if flip else char for char, flip in zip(path, flips, strict=False)
    )
    if path.startswith("/"):
        flipped = f"/{flipped[1:]}"
        at = max(at, 1)
    odd = f"{flipped[:at]}{hidden}{flipped[at:]}"
    assert executed_place(odd) is not None


@given(st.text(max_size=40), st.text(max_size=40))
def test_all_that_lies_in_an_executed_folder_is_executed(before: str, behind: str) -> None:
    """Issue 12: anything inside."""
    assert executed_place(f"{before}/.git/{behind}") is not None


def test_links_are_followed(tmp_path: Path) -> None:
    """Issue 12: the real path as well as the spelling."""
    (tmp_path / ".git" / "hooks").mkdir(parents=True)
    (tmp_path / "innocent").symlink_to(".git/hooks")
    (tmp_path / "notes.txt").symlink_to(".envrc")
    (tmp_path / ".vscode").symlink_to("plain")
    assert is_executed(str(tmp_path / "innocent" / "x"))
    assert is_executed(str(tmp_path / "notes.txt"))
    assert is_executed(str(tmp_path / ".vscode" / "tasks.json"))
    assert not is_executed(str(tmp_path / "new" / "a.py"))
