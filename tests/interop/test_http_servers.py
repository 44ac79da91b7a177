"""Our HTTP client on the official SDKs' servers, over HTTP/2 and HTTP/1.1, all of the tour."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.hang_limit import HANG_SECONDS
from tests.interop.harness import HERE, PEERS, PROGRAMS, Run
from tests.interop.scenarios import whole_protocol as tour
from tests.interop.test_remote_servers import ENV

SERVERS = {
    "ts-v1 h2c": ["server_ts.mjs", "1", "h2c"],
    "ts-v1 http/1.1": ["server_ts.mjs", "1", "http/1.1"],
    "ts-v2 h2c": ["server_ts.mjs", "2", "h2c"],
    "ts-v2 http/1.1": ["server_ts.mjs", "2", "http/1.1"],
    # Served by granian, over HTTP/2.
    "py-v1 h2c": ["server_py.py", "1"],
}


def runtime_of(name: str) -> str:
    """The program that runs a server; skips the test if something is not installed."""
    runtime = PEERS[name].agent[0]
    if name.startswith("py"):
        found = subprocess.run([runtime, "-c", "import granian"], capture_output=True, check=False)
        if found.returncode != 0:
            pytest.skip("granian is not installed beside the SDK; `make peers` installs it")
    return runtime


@pytest.mark.parametrize("kind", SERVERS)
def test_our_client_takes_the_tour_of_an_official_http_server(kind: str, tmp_path: Path) -> None:
    """Users: an agent at a URL, whoever serves it."""
    name = kind.split()[0]
    program, *words = SERVERS[kind]
    tour.prepare(tmp_path)
    client = [sys.executable, str(HERE / "ours" / "client.py")]
    with subprocess.Popen(
        [runtime_of(name), str(PROGRAMS / program), *words],
        env=ENV,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as server:
        assert server.stdin is not None
        assert server.stdout is not None
        url = f"http://127.0.0.1:{int(server.stdout.readline())}/acp"
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
        server.stdin.close()
    assert done.returncode == 0, done.stderr
    tour.check(Run(json.loads(done.stdout), []), tmp_path, PEERS[name].version)
