"""The check of lengths sees what is too long."""

from pathlib import Path

import pytest

from scripts import check_lengths


def complaints(
    text: str, folder: Path, monkeypatch: pytest.MonkeyPatch, *, functions: bool = True
) -> list[str]:
    monkeypatch.setattr(check_lengths, "ROOT", folder)
    (folder / "module.py").write_text(text)
    return list(check_lengths.too_long(folder / "module.py", functions=functions))


def test_a_file_of_600_lines_passes_and_one_more_does_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Ours: one reason to open a file."""
    assert complaints("x = 1\n" * 600, tmp_path, monkeypatch) == []
    assert complaints("x = 1\n" * 601, tmp_path, monkeypatch) == [
        "module.py: 601 lines, at most 600"
    ]


def test_a_function_of_60_lines_passes_and_one_more_does_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Ours: a function fits on a screen."""
    short, long = ("async def f():\n" + "    x = 1\n" * lines for lines in (59, 60))
    assert complaints(short, tmp_path, monkeypatch) == []
    assert complaints(long, tmp_path, monkeypatch) == ["module.py:1: 61 lines, at most 60"]
    assert complaints(long, tmp_path, monkeypatch, functions=False) == []
