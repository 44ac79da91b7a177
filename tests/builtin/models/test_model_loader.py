"""From a choice to a model: what is said where the packages are missing."""

import sys
from pathlib import Path

import pytest

from accord.builtin.models import packages
from accord.builtin.models.model_loader import load_model
from accord.builtin.models.providers import ModelChoice
from accord.errors import ConfigError


@pytest.fixture
def anyio_backend() -> str:
    """The libraries know one loop only."""
    return "asyncio"


async def test_missing_packages_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ours: models are an extra; who chooses one without it is told how to get it."""
    monkeypatch.setitem(sys.modules, "pydantic_ai", None)
    with pytest.raises(ConfigError, match=r"not installed. Run `.*models.*`"):
        await load_model(ModelChoice("ollama", "a-model-that-was-never-loaded"))


@pytest.mark.parametrize(
    ("mark", "command"),
    [
        ("uv-receipt.toml", "uv tool install 'accord[models]'"),
        ("pipx_metadata.json", "pipx install --force 'accord[models]'"),
        (None, f"{sys.executable} -m pip install 'accord[models]'"),
    ],
)
def test_the_command_fits_the_way_of_the_installation(
    mark: str | None, command: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Issue 14: one command that mends it."""
    monkeypatch.setattr(packages, "__file__", str(tmp_path / "a/b/c/d/packages.py"))
    monkeypatch.setattr(sys, "prefix", str(tmp_path))
    monkeypatch.setattr(packages, "find_spec", lambda name: object())
    if mark is not None:
        (tmp_path / mark).touch()
    assert packages.install_command() == command
