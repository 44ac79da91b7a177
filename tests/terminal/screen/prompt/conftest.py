"""What the prompt finds: no history and no drafts, and a project with some files."""

from __future__ import annotations

from pathlib import Path

import pytest

from accord.terminal.screen.prompt import saved_prompts
from tests.terminal.screen.harness.prompt_stage import PNG


@pytest.fixture(autouse=True)
def fresh_state(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """History and drafts of nobody."""
    monkeypatch.setenv("ACCORD_STATE_DIR", str(tmp_path / "state"))
    monkeypatch.setattr(saved_prompts, "_MEMORIES", {})


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """Some files."""
    folder = tmp_path / "project"
    for name in ("src/main.py", "src/view.py", "docs/日本.md", "README.md"):
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("x = 1\n")
    (folder / "pic.png").write_bytes(PNG)
    (folder / "out.log").write_text("ignored")
    (folder / ".gitignore").write_text("*.log\n")
    return folder
