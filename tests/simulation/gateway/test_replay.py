"""A seed is a world with a gateway: the same log and the same steps, here and elsewhere."""

import subprocess
import sys
from pathlib import Path

from tests.simulation.gateway.world import run_gateway_world

ROOT = Path(__file__).resolve().parents[3]
SEEDS = (1, 2, 5, 14, 18, 23, 45, 106)
_PRINT = (
    "from tests.simulation.gateway.world import run_gateway_world as run;"
    "print([run(seed).digest for seed in {}])"
)


def test_a_seed_gives_the_same_world_with_a_gateway_twice() -> None:
    """Issue 17: what ran before does not matter."""
    forwards = [run_gateway_world(seed).digest for seed in SEEDS]
    backwards = [run_gateway_world(seed).digest for seed in reversed(SEEDS)]
    assert forwards == backwards[::-1]
    assert len(set(forwards)) == len(SEEDS)


def test_a_seed_gives_the_same_world_with_a_gateway_in_another_process() -> None:
    """Issue 17: neither the hashes of strings nor the addresses of objects decide anything."""
    ended = subprocess.run(
        [sys.executable, "-c", _PRINT.format(SEEDS)],
        cwd=ROOT,
        env={"PYTHONHASHSEED": "77"},
        capture_output=True,
        text=True,
        check=True,
    )
    assert ended.stdout.strip() == str([run_gateway_world(seed).digest for seed in SEEDS])
