"""kill -9 of the gateway and of agents, in mid-turn; `make soak` has ten times as many."""

from __future__ import annotations

import pytest

from tests.gateway.durability.kills import kill_in_mid_turn

KILLS = 20


@pytest.fixture
def anyio_backend() -> str:
    """Clients over the network run on asyncio."""
    return "asyncio"


@pytest.mark.slow
async def test_nothing_acknowledged_is_lost_by_twenty_kills() -> None:
    """Issue 17: nothing lost, no orphan, each open request answered, no prompt run twice."""
    kills = await kill_in_mid_turn(KILLS, seed=1)
    assert kills.gateways > 0
    assert kills.agents > 0
    assert kills.failed > 0
