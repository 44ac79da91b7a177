"""The official SDKs' HTTP and WebSocket clients on our server, all of the tour.

The server is `accord serve` in a process of its own; every client takes the steps that it takes on
stdio (scenarios/whole_protocol.py), and must see the same.
"""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import pytest

from tests.hang_limit import HANG_SECONDS
from tests.interop.harness import HERE, PEERS, Peer, Run
from tests.interop.messages.validator import PROJECT
from tests.interop.scenarios import whole_protocol as tour
from tests.transport.server.serve_process import serve_process

AGENT = f"{HERE / 'ours' / 'agent.py'}:agent"
REMOTE = pytest.mark.rule("TR-HTTP-07", "TR-HTTP-11", "TR-HTTP-15")


def run_remote(peer: Peer, url: str, folder: Path) -> Run:
    """Let an official client take the tour of the agent at a URL."""
    runtime, program = peer.client
    # Node 20 has a WebSocket, but does not show it by itself.
    flags = ["--experimental-websocket"] if program.endswith(".mjs") else []
    done = subprocess.run(
        [runtime, *flags, program, *tour.STEPS.values(), "--", url],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(PROJECT)},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=HANG_SECONDS,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    report = json.loads(done.stdout)
    # What a client that starts its agent reports of its end.
    return Run({**report, "exit": 0}, [])


@REMOTE
@pytest.mark.parametrize("scheme", ["http", "ws"])
@pytest.mark.parametrize("name", PEERS)
def test_an_official_client_takes_the_tour_of_a_served_agent(
    name: str, scheme: str, tmp_path: Path
) -> None:
    """Users: an agent at a URL works for every client that takes URLs."""
    tour.prepare(tmp_path)
    with serve_process(agent=AGENT) as server:
        url = server.url.replace("http", scheme, 1)
        run = run_remote(PEERS[name], url, tmp_path)
        tour.check(run, tmp_path, PEERS[name].version)
        assert server.stop() == 0
