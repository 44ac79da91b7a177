"""How a chat begins, and what its agent is called before it has told its name."""

from __future__ import annotations

from pathlib import Path

import pytest

from accord.terminal.engine.launch_options import LaunchOptions


@pytest.mark.parametrize(
    ("command", "label"),
    [
        ("/usr/bin/goose acp", "goose"),
        ("python3.12 agents/mine.py --fast", "mine.py"),
        ("python -m accord agent", "accord"),
        ("npx -y @zed-industries/claude-code-acp", "claude-code-acp"),
        ("uv run my-agent", "my-agent"),
        ("node", "node"),
    ],
)
def test_an_agent_is_called_by_its_own_program(command: str, label: str) -> None:
    """Ours: "Starting python" says nothing."""
    assert LaunchOptions(command=tuple(command.split())).label == label
    assert LaunchOptions(command=("python", "x.py"), name="mine").label == "mine"


def test_folders_that_are_gone_are_left_out_for_ones_that_are_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Ours: where the user was, else where the program is, else their home."""
    was, here, gone = tmp_path / "was", tmp_path / "here", str(tmp_path / "gone")
    for folder in (was, here):
        folder.mkdir()
    monkeypatch.chdir(here)
    launch = LaunchOptions(
        command=("a",), folder=gone, begun_in=str(was), add_dirs=(gone + "2", str(here))
    )
    assert launch.missing == (gone, gone + "2")
    assert launch.standing().roots == (str(was), str(here))
    was.rmdir()
    assert launch.standing().folder == str(here)
    here.rmdir()
    monkeypatch.setenv("HOME", str(tmp_path))
    assert launch.standing().roots == (str(tmp_path),)
    monkeypatch.setenv("HOME", gone)
    assert launch.standing().folder == gone
