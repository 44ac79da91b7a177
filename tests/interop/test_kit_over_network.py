"""The kit's checks of HTTP and WebSocket over the official SDKs' servers."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.hang_limit import HANG_SECONDS
from tests.interop.harness import PEERS
from tests.interop.test_remote_servers import ENV, SERVERS, serving

# What these servers do not do: neither checks the Origin, which is advice.  The Python one also
# takes the header of another session, lets a connection begin twice and a stream have two readers,
# and says nothing of bad frames.  Its version 2 refuses a second beginning on a WebSocket.
ADVICE = {"TR-SERVER-01", "TR-SERVER-02"}
LENIENT = {"TR-HTTP-09", "TR-HTTP-14", "TR-SERVER-04"}
KNOWN = {
    ("py-v1", "ws"): {"TR-HTTP-15", "TR-SERVER-04", "TR-SERVER-05"},
    ("py-v2", "ws"): {"TR-HTTP-15", "TR-SERVER-05"},
    ("py-v1", "h2c"): LENIENT,
    ("py-v2", "h2c"): LENIENT,
}


@pytest.mark.parametrize(("name", "wire"), SERVERS)
def test_an_official_server_fails_only_what_is_known(name: str, wire: str, tmp_path: Path) -> None:
    """Issue 4: right programs have no findings; theirs are looked at one by one."""
    report = tmp_path / "report.json"
    version = str(PEERS[name].version)
    options = ["--only", "TR-*", "--scenario", "none", "--report-json", str(report)]
    with serving(name, wire) as url:
        subprocess.run(
            [sys.executable, "-m", "accord", "check", url, "--protocol", version, *options],
            env=ENV,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=HANG_SECONDS,
            check=False,
        )
    results = json.loads(report.read_text())["results"]
    failed = {one["id"] for one in results if one["verdict"] == "fail"}
    assert failed == ADVICE | KNOWN.get((name, wire), set())
    assert sum(one["verdict"] == "pass" for one in results) >= 1
