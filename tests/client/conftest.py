"""Tests of the client run on both event loops: over a memory transport the code must not care."""

from __future__ import annotations

import pytest


@pytest.fixture(params=["asyncio", "trio"])
def anyio_backend(request: pytest.FixtureRequest) -> str:
    """Both loops."""
    assert isinstance(request.param, str)
    return request.param
