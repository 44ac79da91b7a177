"""The offline brain runs on the loop of `accord agent`, and leaves nothing running."""

from collections.abc import Iterator

import pytest

from accord.machine.processes.process_groups import live_groups


@pytest.fixture
def anyio_backend() -> str:
    """The loop of `accord agent`."""
    return "asyncio"


@pytest.fixture(autouse=True)
def no_process_is_left_behind() -> Iterator[None]:
    """Every process that a turn started is gone after it."""
    before = live_groups()
    yield
    assert live_groups() == before
