"""Our client on the official SDKs' servers, over WebSocket, HTTP/2 and HTTP/1.1, all of the tour.

Each server is a process of its own, with the agent that is scripted on that SDK; the client takes
the steps that it takes on stdio (scenarios/whole_protocol.py), and must see the same.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.hang_limit import HANG_SECONDS
from tests.interop.harness import HERE, PEERS, PROGRAMS, Run
from tests.interop.messages.validator import PROJECT
from tests.interop.scenarios import whole_protocol as tour

ENV = {**os.environ, "PYTHONPATH": str(PROJECT)}
# The SDK of each server, and what its connection carries.  granian serves those of Python, and
# leaves the version of HTTP to the client.
SERVERS = [
    ("py-v1", "ws"),
    ("py-v1", "h2c"),
    ("py-v2", "ws"),
    ("py-v2", "h2c"),
    ("ts-v1", "ws"),
    ("ts-v1", "h2c"),
    ("ts-v1", "http/1.1"),
    ("ts-v2", "ws"),
    ("ts-v2", "h2c"),
    ("ts-v2", "http/1.1"),
]


@contextmanager
def serving(name: str, wire: str) -> Iterator[str]:
    """A server of an official SDK; its URL."""
    peer = PEERS[name]
    runtime, _ = peer.agent
    program = f"server_{name[:2]}.{peer.suffix}"
    process = subprocess.Popen(
        [runtime, str(PROGRAMS / program), str(peer.version), wire],
        env=ENV,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdin is not None
    assert process.stdout is not None
    try:
        scheme = "ws" if wire == "ws" else "http"
        yield f"{scheme}://127.0.0.1:{int(process.stdout.readline())}/acp"
    finally:
        process.stdin.close()
        process.wait(timeout=HANG_SECONDS)
        process.stdout.close()


@pytest.mark.rule("TR-HTTP-01")
@pytest.mark.parametrize(("name", "wire"), SERVERS)
def test_our_client_takes_the_tour_of_an_official_server(
    name: str, wire: str, tmp_path: Path
) -> None:
    """Users: an agent at a URL, whoever serves it."""
    tour.prepare(tmp_path)
    client = [sys.executable, str(HERE / "ours" / "client.py")]
    with serving(name, wire) as url:
        done = subprocess.run(
            [*client, *tour.STEPS.values(), "--", url],
            cwd=tmp_path,
            env=ENV,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=HANG_SECONDS,
            check=False,
        )
    assert done.returncode == 0, done.stderr
    tour.check(Run(json.loads(done.stdout), []), tmp_path, PEERS[name].version)
