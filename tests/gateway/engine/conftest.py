"""Every engine, on both event loops."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.gateway.engine.worlds import MemoryWorld, SqliteWorld, World


@pytest.fixture(params=["asyncio", "trio"])
def anyio_backend(request: pytest.FixtureRequest) -> str:
    """Both loops: an engine does not care."""
    assert isinstance(request.param, str)
    return request.param


@pytest.fixture(params=["memory", "sqlite"])
async def world(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[World]:
    """An engine of each kind, open, with clocks that the test moves."""
    made: World = MemoryWorld() if request.param == "memory" else SqliteWorld(tmp_path)
    async with made:
        yield made
