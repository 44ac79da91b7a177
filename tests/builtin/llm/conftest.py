"""The model brain against a fake model; one server and one import of the library for all tests."""

from collections.abc import Iterator
from importlib import import_module
from pathlib import Path

import pytest

from tests.fake_llm import FakeLLM, serve


@pytest.fixture(scope="session")
def server() -> Iterator[FakeLLM]:
    """The fake model, for all tests; the libraries for it are loaded here, not within a test."""
    for name in ("anthropic", "google", "ollama", "openai"):
        import_module(f"pydantic_ai.models.{name}")
    with serve() as server:
        yield server


@pytest.fixture
def llm(server: FakeLLM) -> FakeLLM:
    """The fake model, with nothing asked yet."""
    server.requests.clear()
    return server


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Fresh folders for what the user has set up."""
    folder = tmp_path / "home"
    monkeypatch.setenv("ACCORD_CONFIG_DIR", str(folder / "config"))
    monkeypatch.setenv("ACCORD_STATE_DIR", str(folder / "state"))
    return folder


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A folder to work in."""
    folder = tmp_path / "project"
    folder.mkdir()
    (folder / "calc.py").write_text("def mean(values):\n    return sum(values) / len(value)\n")
    return folder
