"""A thousand cuts of connections to a gateway: nothing is lost, doubled or reordered."""

from __future__ import annotations

import pytest

from tests.gateway.durability.cuts import served_by_gateway
from tests.gateway.durability.gateway_program import TOKEN
from tests.transport.random_cuts import BYTES_MAX, count_through_cuts

CUTS = 1000


@pytest.fixture
def anyio_backend() -> str:
    """Servers run on asyncio."""
    return "asyncio"


@pytest.mark.slow
@pytest.mark.parametrize("scheme", BYTES_MAX)
async def test_random_cuts_change_nothing_behind_a_gateway(scheme: str) -> None:
    """Issue 17: in both directions; `make soak` has a hundred times as many."""
    counted = await count_through_cuts(scheme, CUTS, seed=1, serve=served_by_gateway, token=TOKEN)
    assert counted.cuts >= CUTS
    assert counted.resume_seconds
