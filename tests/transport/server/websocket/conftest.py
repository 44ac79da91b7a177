"""WebSockets sit on asyncio."""

from __future__ import annotations

import pytest

from tests.machine.certificates import Certificate, make_certificate


@pytest.fixture(params=["asyncio"])
def anyio_backend(request: pytest.FixtureRequest) -> str:
    """asyncio only."""
    assert isinstance(request.param, str)
    return request.param


@pytest.fixture(scope="session")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Certificate:
    """A certificate of our own."""
    return make_certificate(tmp_path_factory.mktemp("tls"))
