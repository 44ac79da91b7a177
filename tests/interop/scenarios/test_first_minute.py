"""The first minute with the built-in agent, through the official TypeScript SDK and our client."""

import sys
from pathlib import Path

import pytest

from tests.interop.harness import HERE, PEERS, judge, run_pair
from tests.interop.messages import conversation_rules
from tests.interop.scenarios import first_minute

OURS = [sys.executable, str(HERE / "ours" / "client.py")]


def play(client: list[str], version: int, tmp_path: Path) -> None:
    """Say the sentences and judge everything that came back."""
    folder = first_minute.project(tmp_path)
    settings = ["mode:read-only", "mode:ask", "config:model=offline", "permission:allow_once"]
    steps = [*settings, *(f"prompt:{text}" for text in first_minute.SENTENCES)]
    run = run_pair(
        [*client, *steps],
        first_minute.AGENT,
        tmp_path / "log",
        folder=folder,
        env=first_minute.home(tmp_path),
    )
    assert run.report["exit"] == 0
    assert judge(run.frames, "agent", version, unstable=True) == []
    # Beyond the stable schema there is nothing but the offer of what is unstable.
    beyond = judge(run.frames, "agent", version)
    assert all("apabilities" in one and "unknown key" in one for one in beyond)
    conversation_rules.check_agent(run.frames, version)
    first_minute.check(run.report["steps"][2 + len(settings) :], folder)


@pytest.mark.parametrize("name", ["ts-v1", "ts-v2", "py-v1", "py-v2"])
def test_the_first_minute_with_the_official_sdk(name: str, tmp_path: Path) -> None:
    """Issue 3: it works word for word on the demo project, over stdio, in both versions."""
    peer = PEERS[name]
    play(peer.client, peer.version, tmp_path)


@pytest.mark.parametrize("version", [1, 2])
def test_the_first_minute_with_our_client(version: int, tmp_path: Path) -> None:
    """Issue 3: the same with our own client."""
    play([*OURS, f"--version={version}"], version, tmp_path)
