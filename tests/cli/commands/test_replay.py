"""`accord replay` against the built-in agent, and against a client of the library."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from tests.cli.home import Home


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return Home(tmp_path)


def record(home: Home, folder: Path, said: str = "what is this?") -> Path:
    """A real talk with the built-in agent, recorded."""
    path = folder / "talk.jsonl"
    accord = (sys.executable, "-m", "accord")
    ended = home.accord(
        "run", said, "--", *accord, "record", "-o", str(path), "--", *accord, "agent"
    )
    assert ended.code == 0, ended
    return path


def agent() -> tuple[str, ...]:
    return (sys.executable, "-m", "accord", "agent")


def test_the_same_agent_does_the_same(home: Home, tmp_path: Path) -> None:
    """Issue 4: one side is tested without a model."""
    path = record(home, tmp_path)
    ended = home.accord("replay", str(path), "--as", "client", "--", *agent())
    assert (ended.code, ended.out) == (0, ""), ended


def test_another_prompt_is_shown_as_a_diff(home: Home, tmp_path: Path) -> None:
    """Issue 4: differences are shown as a diff."""
    path = record(home, tmp_path)
    lines = path.read_text().splitlines()
    for at, line in enumerate(lines):
        entry = json.loads(line)
        if entry.get("method") == "session/prompt" and entry["kind"] == "request":
            frame = json.loads(entry["frame"])
            frame["params"]["prompt"][0]["text"] = "/help"
            entry["frame"] = json.dumps(frame)
            lines[at] = json.dumps(entry)
    path.write_text("\n".join(lines) + "\n")
    ended = home.accord("replay", str(path), "--as", "client", "--", *agent())
    assert ended.code == 1
    assert ended.out.startswith("--- recorded\n+++ now\n")
    assert "/help" in ended.out


def test_a_recorded_agent_answers_a_client(home: Home, tmp_path: Path) -> None:
    """Issue 4: --as agent."""
    path, diff = record(home, tmp_path), tmp_path / "diff"
    replay = (sys.executable, "-m", "accord", "replay", str(path), "--as", "agent")
    first = home.accord("run", "what is this?", "--", *agent())
    again = home.accord("run", "what is this?", "--", *replay, "--diff", str(diff))
    assert (again.code, again.out) == (0, first.out)
    assert diff.read_text() == ""
    other = home.accord("run", "something else", "--", *replay, "--diff", str(diff))
    assert other.out == first.out
    assert '-          "text": "what is this?",' in diff.read_text()


def test_an_agent_that_is_silent_is_not_waited_for_for_ever(home: Home, tmp_path: Path) -> None:
    """Ours: a replay never hangs."""
    path = record(home, tmp_path)
    silent = (sys.executable, "-c", "import sys; sys.stdin.read()")
    ended = home.accord("replay", str(path), "--as", "client", "--patience", "0.2", "--", *silent)
    assert ended.code == 1
    assert "timed out waiting for the answer to initialize" in ended.out


@pytest.mark.parametrize(
    "words",
    [
        ("replay", "x.jsonl", "--as", "client"),
        ("replay", "x.jsonl", "--as", "agent", "--", "something"),
        ("replay", "x.jsonl", "--as", "agent"),
        ("replay", "x.jsonl"),
    ],
)
def test_wrong_usage_is_2(home: Home, words: tuple[str, ...]) -> None:
    """Design: exit codes."""
    assert home.accord(*words).code == 2
