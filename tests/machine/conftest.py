"""Tests of this computer run on both event loops: the code must not care."""

from collections.abc import Iterator

import pytest

from accord.machine.processes.process_groups import live_groups


@pytest.fixture(params=["asyncio", "trio"])
def anyio_backend(request: pytest.FixtureRequest) -> str:
    """Both loops."""
    assert isinstance(request.param, str)
    return request.param


@pytest.fixture(autouse=True)
def no_group_is_left_behind() -> Iterator[None]:
    """Whatever a test does, every process group that it tracked must be forgotten again."""
    before = live_groups()
    yield
    assert live_groups() == before
