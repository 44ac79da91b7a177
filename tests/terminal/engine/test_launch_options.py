"""How a chat begins, and what its agent is called before it has told its name."""

from __future__ import annotations

from pathlib import Path

import pytest

from accord.terminal.engine.launch_options import Order


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
    assert Order(command=tuple(command.split())).label == label
    assert Order(command=("python", "x.py"), name="mine").label == "mine"


def test_folders_that_are_gone_are_left_out_for_ones_that_are_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Ours: where the person was, else where the program is, else their home."""
    was, here, gone = tmp_path / "was", tmp_path / "here", str(tmp_path / "gone")
    for folder in (was, here):
        folder.mkdir()
    monkeypatch.chdir(here)
    order = Order(command=("a",), folder=gone, begun_in=str(was), add_dirs=(gone + "2", str(here)))
    assert order.missing == (gone, gone + "2")
    assert order.standing().roots == (str(was), str(here))
    was.rmdir()
    assert order.standing().folder == str(here)
    here.rmdir()
    monkeypatch.setenv("HOME", str(tmp_path))
    assert order.standing().roots == (str(tmp_path),)
    monkeypatch.setenv("HOME", gone)
    assert order.standing().folder == gone
