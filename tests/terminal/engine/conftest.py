"""Folders of their own for desks."""

from __future__ import annotations

from pathlib import Path

import pytest


@pytest.fixture
def own_places(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing of the user's is read or written."""
    monkeypatch.setenv("ACCORD_CONFIG_DIR", str(tmp_path / "config"))
    monkeypatch.setenv("ACCORD_STATE_DIR", str(tmp_path / "state"))


@pytest.fixture
def work(tmp_path: Path) -> Path:
    """The folder that agents work in."""
    folder = tmp_path / "work"
    folder.mkdir()
    (folder / "file.txt").write_text("old\n")
    return folder
