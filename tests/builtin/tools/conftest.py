"""The built-in agent is a program of its own and runs on one event loop."""

from collections.abc import Iterator

import pytest

from accord.machine.processes.process_groups import live_groups


@pytest.fixture
def anyio_backend() -> str:
    """The loop of `accord agent`."""
    return "asyncio"


@pytest.fixture(autouse=True)
def no_process_is_left_behind() -> Iterator[None]:
    """Whatever a tool does, every process group that it started must be gone."""
    before = live_groups()
    yield
    assert live_groups() == before
