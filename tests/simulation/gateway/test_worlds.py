"""A thousand worlds with a gateway in them: whoever dies, comes or goes, all holds."""

import pytest

from tests.simulation.gateway.world import run_gateway_world

WORLDS = 1000
# In blocks, so that they share the cores and a failure is seen early.
BLOCK = 50


@pytest.mark.parametrize("first", range(1, WORLDS + 1, BLOCK))
def test_every_invariant_holds_in_every_world_with_a_gateway(first: int) -> None:
    """Issue 17: nothing lost, one answer, no prompt twice, interruptions told, no orphans."""
    for seed in range(first, first + BLOCK):
        verdict = run_gateway_world(seed)
        told = "\n".join(verdict.violations)
        assert not verdict.violations, f"{told}\nsee it again: {verdict.command}"


def test_worlds_with_a_gateway_are_full_of_life() -> None:
    """Ours: worlds in which nothing happens would prove nothing."""
    verdicts = [run_gateway_world(seed) for seed in range(1, 41)]
    assert sum(verdict.prompts for verdict in verdicts) > 80
    assert sum(verdict.frames for verdict in verdicts) > 1000
