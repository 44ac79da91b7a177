"""How the words of a client's command are read."""

from pathlib import Path

import pytest

from accord.conformance.client.launch import from_here


@pytest.mark.parametrize(
    ("command", "absolute"),
    [
        (["python", "-m", "accord", "hello"], []),
        (["accord", "run", "hello"], []),
        (["python", "client.py", "hello"], ["client.py"]),
        (["./accord", "run"], ["./accord"]),
        (["python", "inner/hello"], ["inner/hello"]),
        (["python", "missing.py", "inner/missing"], []),
    ],
)
def test_only_words_that_look_like_files_are_made_absolute(
    command: list[str], absolute: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Ours: a module or a prompt may have the name of a file in the current folder."""
    (tmp_path / "inner").mkdir()
    for name in ("accord", "hello", "client.py", "inner/hello"):
        (tmp_path / name).touch()
    monkeypatch.chdir(tmp_path)
    made = [str(tmp_path / word) if word in absolute else word for word in command]
    assert from_here(command) == made
