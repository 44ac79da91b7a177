"""From a choice to a model: what is said where the packages are missing."""

from __future__ import annotations

import sys

import pytest

from accord.builtin.models.choice import ModelChoice
from accord.builtin.models.loading import load_model
from accord.errors import ConfigError


@pytest.fixture
def anyio_backend() -> str:
    """The libraries know one loop only."""
    return "asyncio"


async def test_missing_packages_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ours: models are an extra; who chooses one without it is told how to get it."""
    monkeypatch.setitem(sys.modules, "pydantic_ai", None)
    with pytest.raises(ConfigError, match=r"install accord\[models\]"):
        await load_model(ModelChoice("ollama", "a-model-that-was-never-loaded"))
