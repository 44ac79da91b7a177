"""Our agent and our client against the official SDKs and each other, all of the tour.

Every message that our side sends in these runs is held against the official schema of the version
that was agreed on, strictly (validator.py), and the whole recording against the rules that no
single message shows (messages/conversation_rules.py).
"""

import sys
from pathlib import Path

import pytest

from tests.interop.harness import HERE, PEERS, Run, judge, run_pair
from tests.interop.messages import conversation_rules
from tests.interop.scenarios import whole_protocol

AGENT = [sys.executable, str(HERE / "ours" / "agent.py")]
CLIENT = [sys.executable, str(HERE / "ours" / "client.py")]

V1_BOTH = pytest.mark.rule("V1-GEN-01", "V1-GEN-03", "V1-GEN-05", "V1-GEN-08", "V1-GEN-09")
V2_BOTH = pytest.mark.rule("V2-GEN-02", "V2-GEN-04", "V2-GEN-08", "V2-INIT-01")
STDIO = pytest.mark.rule("TR-STDIO-01", "TR-STDIO-02", "TR-STDIO-03", "TR-STDIO-04")

V1_AGENT = [
    V1_BOTH,
    pytest.mark.rule("V1-INIT-04", "V1-INIT-05", "V1-INIT-06", "V1-INIT-09", "V1-CAP-04"),
    pytest.mark.rule("V1-CAP-05", "V1-LOAD-03", "V1-LOAD-04", "V1-LOAD-08", "V1-PROMPT-06"),
    pytest.mark.rule("V1-PROMPT-08", "V1-PROMPT-09", "V1-PROMPT-17", "V1-CANCEL-05"),
    pytest.mark.rule("V1-TOOL-02", "V1-TOOL-09"),
    pytest.mark.rule("V1-TOOL-10", "V1-TOOL-13", "V1-MODE-03", "V1-CFG-05", "V1-CFG-06"),
    pytest.mark.rule("V1-TERM-07", "V1-USAGE-04"),
]
V2_AGENT = [
    V2_BOTH,
    pytest.mark.rule("V2-INIT-10", "V2-SESS-09", "V2-SESS-10", "V2-SESS-11"),
    pytest.mark.rule("V2-PROMPT-04", "V2-PROMPT-05", "V2-PROMPT-09", "V2-PROMPT-10"),
    pytest.mark.rule("V2-PROMPT-11", "V2-PROMPT-12", "V2-CANCEL-03", "V2-UPS-01", "V2-UPS-18"),
    pytest.mark.rule("V2-PERM-02", "V2-CFG-01", "V2-CFG-04"),
]
V1_CLIENT = [
    V1_BOTH,
    pytest.mark.rule("V1-INIT-01", "V1-INIT-02", "V1-INIT-03", "V1-INIT-09", "V1-CAP-03"),
    pytest.mark.rule("V1-SESS-01", "V1-SESS-07", "V1-LOAD-02", "V1-PROMPT-01"),
    pytest.mark.rule("V1-PERM-02", "V1-PERM-03"),
]
V2_CLIENT = [V2_BOTH, pytest.mark.rule("V2-SESS-01", "V2-PROMPT-01")]

OFFICIAL_AGENTS = [
    pytest.param("py-v1", marks=V1_CLIENT),
    pytest.param("ts-v1", marks=V1_CLIENT),
    pytest.param("py-v2", marks=V2_CLIENT),
    pytest.param("ts-v2", marks=V2_CLIENT),
]
OFFICIAL_CLIENTS = [
    pytest.param("py-v1", marks=V1_AGENT),
    pytest.param("ts-v1", marks=V1_AGENT),
    pytest.param("py-v2", marks=V2_AGENT),
    pytest.param("ts-v2", marks=V2_AGENT),
]


def take_the_tour(client: list[str], agent: list[str], folder: Path, version: int) -> Run:
    whole_protocol.prepare(folder)
    run = run_pair([*client, *whole_protocol.STEPS.values()], agent, folder / "log")
    whole_protocol.check(run, folder, version)
    return run


@STDIO
@pytest.mark.parametrize("name", OFFICIAL_CLIENTS)
def test_an_official_client_takes_the_tour_of_our_agent(name: str, tmp_path: Path) -> None:
    """Users: an agent written on this library works in every editor."""
    peer = PEERS[name]
    run = take_the_tour(peer.client, AGENT, tmp_path, peer.version)
    assert judge(run.frames, "agent", peer.version) == []
    conversation_rules.check_agent(run.frames, peer.version)


@STDIO
@pytest.mark.parametrize("name", OFFICIAL_AGENTS)
def test_our_client_takes_the_tour_of_an_official_agent(name: str, tmp_path: Path) -> None:
    """Users: a client written on this library drives every agent, whatever version it speaks."""
    peer = PEERS[name]
    run = take_the_tour(CLIENT, peer.agent, tmp_path, peer.version)
    assert judge(run.frames, "client", peer.version) == []
    conversation_rules.check_client(run.frames, peer.version)


@pytest.mark.rule("V2-GEN-05")
@pytest.mark.parametrize("version", [1, 2])
@pytest.mark.parametrize("limited", ["agent", "client"])
def test_our_client_takes_the_tour_of_our_agent(version: int, limited: str, tmp_path: Path) -> None:
    """Ours: either side may be held to one version, and the other follows."""
    agent = [*AGENT, str(version)] if limited == "agent" else AGENT
    client = [*CLIENT, f"--version={version}"] if limited == "client" else CLIENT
    run = take_the_tour(client, agent, tmp_path, version)
    assert judge(run.frames, "agent", version) == []
    assert judge(run.frames, "client", version) == []
    conversation_rules.check_agent(run.frames, version)
    conversation_rules.check_client(run.frames, version)
