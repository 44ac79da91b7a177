"""The built-in agent leaves nothing running."""

from collections.abc import Iterator

import pytest

from accord.machine.processes.process_groups import live_groups


@pytest.fixture(autouse=True)
def no_process_is_left_behind() -> Iterator[None]:
    """Every process group that a tool or a turn started is gone after it."""
    before = live_groups()
    yield
    assert live_groups() == before
