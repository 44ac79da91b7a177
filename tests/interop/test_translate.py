"""Official peers of different versions, brought together by `accord translate`.

The client and the agent are both somebody else's; what passes on either side of the translator is
recorded and held against the official schema of that side's version.
"""

import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from tests.interop.harness import HERE, PEERS, Run, judge, run_pair
from tests.interop.scenarios import whole_protocol
from tests.interop.tap import Frame, read_log
from tests.interop.test_official_pairs import OLDER_PROBLEM

PAIRS = [
    (client, agent)
    for client in PEERS
    for agent in PEERS
    if PEERS[client].version != PEERS[agent].version
]


def translated(
    client: Sequence[str], agent: Sequence[str], to: str, folder: Path, *options: str
) -> tuple[Run, list[Frame]]:
    """Run a client on a translated agent: its report, what it saw, and what the agent saw."""
    inner = folder / "inner.log"
    tap = [sys.executable, str(HERE / "tap.py"), str(inner), "--", *agent]
    command = [sys.executable, "-m", "accord", "translate", "--to", to, *options, "--", *tap]
    run = run_pair(client, command, folder / "log")
    return run, read_log(inner)


def wrong(frames: Sequence[Frame], side: str, version: int) -> list[str]:
    found = judge(frames, side, version)  # type: ignore[arg-type]
    # The older Python SDK for v2 sends commands without a type; that is its own fault.
    return [problem for problem in found if not problem.startswith(OLDER_PROBLEM)]


@pytest.mark.parametrize(("client", "agent"), PAIRS)
def test_official_peers_of_different_versions_take_the_tour(
    client: str, agent: str, tmp_path: Path
) -> None:
    """Issue 5: a whole turn with streaming, tool call, permission, plan, cancel, load, and more."""
    outside, inside = PEERS[client].version, PEERS[agent].version
    whole_protocol.prepare(tmp_path)
    steps = [*PEERS[client].client, *whole_protocol.STEPS.values()]
    run, inner = translated(steps, PEERS[agent].agent, str(outside), tmp_path)
    without = ("commands",) if agent == "py-v2" else ()
    whole_protocol.check(run, tmp_path, outside, without, agent_version=inside)
    assert wrong(run.frames, "agent", outside) == []
    assert wrong(inner, "client", inside) == []
