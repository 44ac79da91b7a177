"""A store does not care which event loop it runs on."""

import pytest


@pytest.fixture(params=["asyncio", "trio"])
def anyio_backend(request: pytest.FixtureRequest) -> str:
    """Both loops."""
    assert isinstance(request.param, str)
    return request.param
