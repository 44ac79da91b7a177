"""What agents spoke, remembered from one start to the next."""

from __future__ import annotations

import stat
from pathlib import Path

import pytest

import accord.configuration.dialects_file as dialects_file
from accord.configuration.dialects_file import DialectsFile

AGENT = ("npx", "agent", "--api-key", "sk-very-secret")


def test_what_was_learned_is_there_for_the_next_process(tmp_path: Path) -> None:
    """Issue 5: the dialect is remembered per agent, with the version that it reported."""
    path = tmp_path / "state" / "dialects.json"
    DialectsFile(path).remember(AGENT, "draft", "1.2")
    DialectsFile(path).remember(["other"], "v1", "")
    assert DialectsFile(path).recall(AGENT) == ("draft", "1.2")
    assert DialectsFile(path).recall(["npx", "agent"]) is None
    DialectsFile(path).remember(AGENT, "draft", "1.3")
    assert DialectsFile(path).recall(AGENT) == ("draft", "1.3")
    DialectsFile(path).forget(AGENT)
    DialectsFile(path).forget(AGENT)
    assert DialectsFile(path).recall(AGENT) is None
    assert DialectsFile(path).recall(["other"]) == ("v1", "")


def test_a_command_with_a_secret_is_not_written_down(tmp_path: Path) -> None:
    """Issue 5: secrets go nowhere."""
    path = tmp_path / "dialects.json"
    DialectsFile(path).remember(AGENT, "draft", "1")
    assert "secret" not in path.read_text()
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


@pytest.mark.parametrize(
    "text",
    ["", "{", "[]", "5", '{"x": 5}', '{"KEY": {"dialect": 5, "version": "1"}}', '{"KEY": 5}'],
)
def test_a_damaged_file_knows_nothing_and_is_replaced(tmp_path: Path, text: str) -> None:
    """Ours: it costs a start, and no more."""
    path = tmp_path / "dialects.json"
    file = DialectsFile(path)
    file.remember(["a"], "draft", "1")
    (key,) = (line.split('"')[1] for line in path.read_text().splitlines() if line[:2] == ' "')
    path.write_text(text.replace("KEY", key))
    assert file.recall(["a"]) is None
    file.remember(["a"], "draft", "1")
    assert file.recall(["a"]) == ("draft", "1")


def test_a_place_that_cannot_be_written_is_no_error(tmp_path: Path) -> None:
    """Ours."""
    (tmp_path / "file").write_text("")
    file = DialectsFile(tmp_path / "file" / "dialects.json")
    file.remember(["a"], "draft", "1")
    assert file.recall(["a"]) is None


def test_the_oldest_is_forgotten_over_the_bound(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Style: everything has a bound."""
    monkeypatch.setattr(dialects_file, "AGENTS_MAX", 2)
    file = DialectsFile(tmp_path / "dialects.json")
    for name in "abc":
        file.remember([name], "draft", "1")
    assert [file.recall([name]) is not None for name in "abc"] == [False, True, True]
