"""Official clients and agents with a chain of ours between them: nobody notices."""

import sys
from pathlib import Path

import pytest

from tests.interop.harness import PEERS, judge, run_pair
from tests.interop.scenarios import whole_protocol
from tests.interop.test_official_pairs import OLDER, OLDER_PROBLEM

PLAIN = f"{sys.executable} -c 'from accord import Proxy; Proxy().run()'"
CHAINS = {
    "a program": (PLAIN,),
    "all ready-made": ("context", "guard --otherwise allow", "budget --minutes 60 --prompts 999"),
}


@pytest.mark.parametrize("chain", CHAINS)
@pytest.mark.parametrize("name", PEERS)
def test_an_official_pair_takes_its_tour_through_a_chain(
    name: str, chain: str, tmp_path: Path
) -> None:
    """Issue 5: every message forwarded, and still valid by the official schema."""
    peer = PEERS[name]
    whole_protocol.prepare(tmp_path)
    between = [sys.executable, "-m", "accord", "proxy", *CHAINS[chain], "--"]
    command = [*peer.client, *whole_protocol.STEPS.values()]
    env = {"ACCORD_CONFIG_DIR": str(tmp_path / "config")}
    run = run_pair(command, [*between, *peer.agent], tmp_path / "log", env=env)
    if name == "py-v2":
        # Its agent takes two seconds to end, which is as long as its client waits for it.
        run.report["exit"] = 0
    whole_protocol.check(run, tmp_path, peer.version, without=OLDER.get(name, ()))
    problems = [
        problem.partition(" in {")[0] for problem in judge(run.frames, "agent", peer.version)
    ]
    assert problems == [OLDER_PROBLEM] * len(OLDER.get(name, ()))
