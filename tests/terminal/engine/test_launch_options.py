"""How a chat begins, and what its agent is called before it has told its name."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from accord.machine.sandbox.options import SandboxOptions
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


def test_a_remote_agent_is_called_by_its_address() -> None:
    """And not by the program of ours that connects to it; a query may be a secret."""
    launch = LaunchOptions(command=("accord", "connect"), url="https://example.com/acp?key=1")
    assert launch.label == "https://example.com/acp"


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


def test_a_sandboxed_agent_serves_only_sessions_of_its_folders(tmp_path: Path) -> None:
    """Security: a session in another folder could not be written to, and must not be."""
    launch = LaunchOptions(command=("a",), folder=str(tmp_path))
    other = replace(launch, folder="/other", session="one")
    assert launch.can_share(other)
    assert not launch.can_share(replace(other, command=("b",)))
    sandboxed = replace(launch, sandbox=SandboxOptions())
    assert not sandboxed.can_share(launch)
    assert not sandboxed.can_share(replace(other, sandbox=SandboxOptions()))
    assert sandboxed.can_share(replace(sandboxed, session="one"))


def test_folders_that_are_wished_for_are_writable_if_they_exist(tmp_path: Path) -> None:
    """Ours: a folder of the configuration may be on a disk that is not there."""
    wished = (str(tmp_path), str(tmp_path / "missing"))
    launch = LaunchOptions(command=("a",), folder="/f", add_dirs=("/g",), wished_dirs=wished)
    assert launch.writable_folders == ("/f", "/g", str(tmp_path))
