"""What the tour leaves out, with the peers that have it; and an agent that wants a login.

What our side sends is judged as on the tour.
"""

import sys
from pathlib import Path

import pytest

from tests.interop.harness import HERE, PEERS, judge, run_pair
from tests.interop.scenarios import optional_features

AGENT = [sys.executable, str(HERE / "ours" / "agent.py")]
CLIENT = [sys.executable, str(HERE / "ours" / "client.py")]

# v1 cannot stop one tool call; 0.12 has no session/delete, 1.0.0rc3 no tool_call/cancel.
WITHOUT = {"py-v1": ("stop", "delete"), "ts-v1": ("stop",), "py-v2": ("stop",), "ts-v2": ()}
AUTHENTICATION_REQUIRED = -32000


@pytest.mark.rule("V1-PROMPT-03", "V1-CLOSE-15", "V1-EXT-04", "V2-AUTH-03", "V2-CANCEL-17")
@pytest.mark.parametrize("name", PEERS)
def test_an_official_client_takes_the_detour_of_our_agent(name: str, tmp_path: Path) -> None:
    """Users: an agent may log its user in, take pictures, ask by a form and be extended."""
    client = [*PEERS[name].client, *optional_features.steps(WITHOUT[name])]
    run = run_pair(client, AGENT, tmp_path / "log")
    optional_features.check(run, WITHOUT[name])
    assert judge(run.frames, "agent", PEERS[name].version) == []


@pytest.mark.rule("V1-AUTH-01", "V1-EXT-04", "V2-CANCEL-16", "V2-PROMPT-01")
@pytest.mark.parametrize("name", PEERS)
def test_our_client_takes_the_detour_of_an_official_agent(name: str, tmp_path: Path) -> None:
    """Users: a client has all of this too, in the words of the version that is spoken."""
    client = [*CLIENT, *optional_features.steps(WITHOUT[name])]
    run = run_pair(client, PEERS[name].agent, tmp_path / "log")
    optional_features.check(run, WITHOUT[name])
    assert judge(run.frames, "client", PEERS[name].version) == []


@pytest.mark.parametrize("version", [1, 2])
def test_our_client_takes_the_detour_of_our_agent(version: int, tmp_path: Path) -> None:
    """Ours: both ends by the same schema."""
    without = WITHOUT[f"ts-v{version}"]
    client = [*CLIENT, *optional_features.steps(without)]
    run = run_pair(client, [*AGENT, str(version)], tmp_path / "log")
    optional_features.check(run, without)
    assert judge(run.frames, "agent", version) == []
    assert judge(run.frames, "client", version) == []


@pytest.mark.rule("V1-AUTH-11")
@pytest.mark.parametrize("name", PEERS)
def test_our_agent_wants_a_login_from_an_official_client(name: str, tmp_path: Path) -> None:
    """Users: strangers are told how to log in, and may do so on the same connection."""
    client = [*PEERS[name].client, "login:key", "new", "prompt:say hello"]
    run = run_pair(client, [*AGENT, "--login"], tmp_path / "log")
    assert run.step("new")["error"]["code"] == AUTHENTICATION_REQUIRED
    assert run.step("prompt:say hello")["messages"] == ["hello"]
    assert judge(run.frames, "agent", PEERS[name].version) == []
    [refused] = [frame.message["error"] for frame in run.frames if '"error"' in frame.line]
    assert refused["data"]["reason"] == "auth_required"
    assert [method["name"] for method in refused["data"]["authMethods"]] == ["Key"]


@pytest.mark.parametrize("version", [1, 2])
def test_our_client_logs_in_by_itself_when_it_was_told_how(version: int, tmp_path: Path) -> None:
    """Users: the login is asked for, done, and the request tried again."""
    client = [*CLIENT, "--login=key", "prompt:say hello"]
    run = run_pair(client, [*AGENT, "--login", str(version)], tmp_path / "log")
    assert "error" not in run.step("new")
    assert run.step("prompt:say hello")["messages"] == ["hello"]
    assert judge(run.frames, "client", version) == []
