"""An editor that is asked for, and not there."""

from __future__ import annotations

from pathlib import Path

import pytest


@pytest.fixture
def opened(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, int | None]]:
    """The files and lines that an editor was to open."""
    asked: list[tuple[str, int | None]] = []

    def open_in_editor(app: object, path: str, line: int | None, *more: object) -> str:
        asked.append((Path(path).name, line))
        return "no editor"

    monkeypatch.setattr("accord.terminal.screen.external_editor.open_in_editor", open_in_editor)
    return asked
