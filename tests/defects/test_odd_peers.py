"""The kit's word about peers that are broken in another way, or odd and right."""

import anyio
import pytest

from accord.conformance.check_definition import Role, worst
from accord.conformance.run.check_runner import CheckRun
from tests.defects.judge import (
    PATIENCE_SECONDS,
    PEERS_AT_ONCE,
    SILENT_SECONDS,
    judge,
    verdicts,
)
from tests.defects.odd_peers import agents as odd_agents
from tests.defects.odd_peers import clients as odd_clients
from tests.defects.odd_peers.registry import Odd

PEERS: dict[Role, dict[str, Odd]] = {"agent": odd_agents.ODD, "client": odd_clients.ODD}
NAMES = [(side, name) for side, peers in PEERS.items() for name in peers]


@pytest.fixture
def anyio_backend() -> str:
    """Processes take long enough on one backend; the kit has its own tests on both."""
    return "asyncio"


def surprise(odd: Odd, runs: list[CheckRun]) -> str:
    """What was found that was not expected."""
    failed = verdicts(runs, "fail")
    found = [finding for run in runs for finding in run.findings]
    wrong = [f"does not fail {one}" for one in odd.fails - failed.keys()]
    wrong += [f"fails {one}: {failed[one][:1]}" for one in failed.keys() - odd.fails]
    for rule in odd.judged:
        verdict = worst([one.verdict for one in found if one.rule == rule])
        if rule in odd.opens and verdict not in ("not_exercised", "skipped"):
            wrong.append(f"{rule} is {verdict}, and nothing shows it")
        if rule not in odd.opens | odd.fails and verdict != "pass":
            wrong.append(f"{rule} is {verdict}")
    return "; ".join(wrong)


@pytest.mark.parametrize("side", ["agent", "client"])
async def test_each_odd_peer_is_judged_as_it_deserves(side: Role) -> None:
    """Issue 13: no false pass, and no false alarm."""
    wrong: dict[str, str] = {}
    limiter = anyio.CapacityLimiter(PEERS_AT_ONCE)

    async def one(name: str, odd: Odd) -> None:
        async with limiter:
            patience = SILENT_SECONDS if odd.silent else PATIENCE_SECONDS
            runs = await judge(
                side, odd.version, name, only=odd.judged, faults=False, patience=patience,
                tries=odd.tries,
            )  # fmt: skip
        if said := surprise(odd, runs):
            wrong[name] = said

    async with anyio.create_task_group() as tasks:
        for name, odd in PEERS[side].items():
            tasks.start_soon(one, name, odd)
    assert not wrong, "\n".join(f"{name}: {said}" for name, said in wrong.items())


async def test_what_is_said_of_a_server_tells_whether_the_agent_was_asked_to_use_it() -> None:
    """A prompt that was sent is not one that would tell."""
    peer = "odd-HasNoUseForServers"
    runs = await judge("agent", "1", peer, only=["V1-MCP-01"], patience=SILENT_SECONDS, tries=True)
    said = " ".join(verdicts(runs, "not_exercised")["V1-MCP-01"])
    assert "no server was connected after the prompt for 'mcp'" in said
