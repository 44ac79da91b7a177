"""URLs of servers that are judged."""

from __future__ import annotations

from types import SimpleNamespace
from typing import cast

import pytest

from accord.conformance.agent.check_environment import AgentStage
from accord.conformance.check_definition import Findings
from accord.conformance.checks.agent.network.access import judge_encryption
from accord.conformance.network.address import RemoteServer, read_address


@pytest.mark.parametrize(
    ("url", "transport", "authority", "target"),
    [
        ("http://localhost:8000/acp", "http", "localhost:8000", "/acp"),
        ("https://agents.example/acp?a=b", "http", "agents.example", "/acp?a=b"),
        ("ws://[::1]:9", "websocket", "[::1]:9", "/"),
        ("wss://agents.example:444/x", "websocket", "agents.example:444", "/x"),
    ],
)
def test_a_url_has_its_parts(url: str, transport: str, authority: str, target: str) -> None:
    address = read_address(url)
    assert (address.transport, address.authority, address.target) == (transport, authority, target)
    assert address.tls == url.startswith(("https", "wss"))


@pytest.mark.parametrize("url", ["ftp://x/", "my-agent", "http://", "http://x:port/"])
def test_what_is_no_url_is_refused(url: str) -> None:
    with pytest.raises(ValueError):
        read_address(url)


@pytest.mark.parametrize(
    ("url", "is_loopback"),
    [
        *((f"http://{host}/", True) for host in ("127.0.0.1", "127.9.9.9", "[::1]", "localhost")),
        *((f"http://{host}/", False) for host in ("192.0.2.1", "0.0.0.0", "localhost.example")),
    ],
)
def test_loopback_is_what_stays_on_this_machine(url: str, is_loopback: bool) -> None:
    assert read_address(url).is_loopback is is_loopback


@pytest.mark.rule("TR-HTTP-18")
@pytest.mark.parametrize(
    ("url", "verdict"),
    [
        ("http://agents.example/acp", "fail"),
        ("ws://192.0.2.1/acp", "fail"),
        ("https://agents.example/acp", "pass"),
        ("http://localhost:1/acp", "skipped"),
    ],
)
def test_a_server_for_others_is_judged_by_its_address(url: str, verdict: str) -> None:
    """TR-HTTP-18: nothing is sent for it, so the address need not exist."""
    judge = Findings(("TR-HTTP-18",))
    # As much of a stage as the check looks at.
    stage = SimpleNamespace(judge=judge, remote=RemoteServer(read_address(url)))
    judge_encryption(cast("AgentStage", stage))
    assert judge.found["TR-HTTP-18"].verdict == verdict
