"""The agent runs on both event loops: its code must not care."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from accord.machine.processes.process_groups import live_groups


@pytest.fixture(params=["asyncio", "trio"])
def anyio_backend(request: pytest.FixtureRequest) -> str:
    """Both loops."""
    assert isinstance(request.param, str)
    return request.param


@pytest.fixture(autouse=True)
def no_process_is_left_behind() -> Iterator[None]:
    """Whatever a test does, every process group that the agent started must be gone."""
    before = live_groups()
    yield
    assert live_groups() == before
