"""The built-in agent in a home of its own."""

from pathlib import Path

import pytest

from tests.agent import raw_client


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Fresh folders for configuration and state; whatever the user has set up is not there."""
    folder = tmp_path / "home"
    monkeypatch.setenv("ACCORD_CONFIG_DIR", str(folder / "config"))
    monkeypatch.setenv("ACCORD_STATE_DIR", str(folder / "state"))
    monkeypatch.setenv("ACCORD_PROBE", "off")
    for name in ("OPENAI", "ANTHROPIC", "GEMINI", "GOOGLE", "OLLAMA"):
        monkeypatch.delenv(f"{name}_API_KEY", raising=False)
    monkeypatch.delenv("ACCORD_MODEL", raising=False)
    return folder


@pytest.fixture(autouse=True)
def patience(monkeypatch: pytest.MonkeyPatch) -> None:
    """The first prompt to a model loads its library, which takes long where others work too."""
    monkeypatch.setattr(raw_client, "SECONDS", 60.0)
