"""The servers of these tests run on asyncio."""

from __future__ import annotations

import pytest


@pytest.fixture(params=["asyncio"])
def anyio_backend(request: pytest.FixtureRequest) -> str:
    """asyncio only."""
    assert isinstance(request.param, str)
    return request.param
