"""The scripted peers on the official SDKs, against each other: they and the harness work.

These pairs contain none of our code, so `make interop` runs them and `make test` does not.
They show that a failure against our library is not the fault of the programs, and that the
validator passes what the official SDKs send.
"""

from pathlib import Path

import pytest

from tests.interop.harness import PEERS, judge, run_pair
from tests.interop.scenarios import optional_features, whole_protocol
from tests.interop.scenarios.test_optional_features import WITHOUT

PAIRS = [
    (client, agent)
    for client in PEERS
    for agent in PEERS
    if PEERS[client].version == PEERS[agent].version
]

# 1.0.0rc3 has the types of an older draft, in which a command had no `type`.
OLDER = {"py-v2": ("commands",)}
OLDER_PROBLEM = "$.params.update.availableCommands[0]: missing 'type'"


@pytest.mark.parametrize(("client", "agent"), PAIRS)
def test_official_client_takes_the_tour_of_an_official_agent(
    client: str, agent: str, tmp_path: Path
) -> None:
    version = PEERS[client].version
    whole_protocol.prepare(tmp_path)
    command = [*PEERS[client].client, *whole_protocol.STEPS.values()]
    run = run_pair(command, PEERS[agent].agent, tmp_path / "log")
    whole_protocol.check(run, tmp_path, version, without=OLDER.get(agent, ()))
    assert judge(run.frames, "client", version) == []
    problems = [problem.partition(" in {")[0] for problem in judge(run.frames, "agent", version)]
    assert problems == [OLDER_PROBLEM] * len(OLDER.get(agent, ()))


@pytest.mark.parametrize("name", PEERS)
def test_an_official_pair_takes_the_detour(name: str, tmp_path: Path) -> None:
    """Ours: the programs themselves work."""
    client = [*PEERS[name].client, *optional_features.steps(WITHOUT[name])]
    optional_features.check(run_pair(client, PEERS[name].agent, tmp_path / "log"), WITHOUT[name])
