"""The kit judges itself over a network: every broken server fails its rule, and nothing else."""

from __future__ import annotations

import ssl
from pathlib import Path
from typing import Any

import pytest

from accord.conformance.agent.check_environment import agent_stages
from accord.conformance.agent.scenario import Scenario
from accord.conformance.checks import TRANSPORT_MODULES, gather
from accord.conformance.network.address import RemoteServer, Transport, read_address
from accord.conformance.run.check_runner import CheckRun, run_checks
from accord.conformance.run.verdicts import covered
from tests.defects.judge import PATIENCE_SECONDS, verdicts
from tests.defects.servers.broken import HTTP, WEBSOCKET
from tests.defects.servers.server import SmallServer, served
from tests.machine.certificates import make_certificate

USERS = {"token-one": "one", "token-two": "two"}
BROKEN: dict[Transport, Any] = {"http": HTTP, "websocket": WEBSOCKET}
SCHEMES: dict[Transport, str] = {"http": "http", "websocket": "ws"}
CASES = [(transport, rule) for transport, broken in BROKEN.items() for rule in broken]
# Judged without a small server: by TLS, and by the address alone.
ELSEWHERE = {"TR-HTTP-02", "TR-HTTP-18"}


@pytest.fixture
def anyio_backend() -> str:
    """Sockets take long enough on one backend; the kit has its own tests on both."""
    return "asyncio"


def bearer(token: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {token}"}


async def judged(
    transport: Transport,
    port: int,
    *,
    host: str = "127.0.0.1",
    scheme: str = "",
    only: str | None = None,
) -> list[CheckRun]:
    """Run the checks of a transport, and of nothing else, over a server with two users."""
    address = read_address(f"{scheme or SCHEMES[transport]}://{host}:{port}/acp")
    remote = RemoteServer(address, bearer("token-one"), bearer("token-two"))
    stages = agent_stages((), Scenario(), patience=PATIENCE_SECONDS, remote=remote)
    checks, _ = gather("agent", "1", transport)
    checks = [one for one in checks if one.name.startswith("agent.network.")]
    if only is not None:
        checks = [one for one in checks if only in one.rules]
    return await run_checks(checks, (), stages, at_once=1)


@pytest.mark.parametrize(("transport", "rule"), CASES)
async def test_each_broken_server_fails_exactly_its_rule(transport: Transport, rule: str) -> None:
    """Issue 4: a rule without a peer that proves that its check can fail is not covered."""
    async with served(BROKEN[transport][rule](print, users=USERS)) as port:
        found = verdicts(await judged(transport, port), "fail")
    assert set(found) == {rule}, found


@pytest.mark.parametrize("transport", BROKEN)
async def test_a_right_server_fails_nothing(transport: Transport) -> None:
    """A server that keeps the rules shows that the checks can be passed."""
    async with served(SmallServer(print, users=USERS)) as port:
        runs = await judged(transport, port)
    assert verdicts(runs, "fail", "not_exercised") == {}
    assert {"TR-HTTP-20", "TR-HTTP-21"} <= verdicts(runs, "pass").keys()


@pytest.mark.parametrize("transport", BROKEN)
def test_each_rule_of_a_transport_has_a_server_that_fails_it(transport: Transport) -> None:
    """Ours: so that no check is one that cannot fail."""
    checks, _ = gather("agent", "1", transport)
    own = [one for one in checks if one.name.startswith("agent.network.")]
    assert len(own) > 5
    assert covered(own, []) - ELSEWHERE == set(BROKEN[transport])
    assert ("agent", transport) in TRANSPORT_MODULES


@pytest.mark.parametrize(("protocols", "verdict"), [(("h2", "http/1.1"), "pass"), ((), "fail")])
async def test_http2_is_judged_by_what_tls_agrees_on(
    protocols: tuple[str, ...], verdict: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """TR-HTTP-02."""
    certificate = make_certificate(tmp_path)
    monkeypatch.setenv("SSL_CERT_FILE", str(certificate.certificate))
    context: ssl.SSLContext = certificate.server_context()
    if protocols:
        context.set_alpn_protocols(list(protocols))
    async with served(SmallServer(print, users=USERS), context) as port:
        runs = await judged("http", port, host="localhost", scheme="https", only="TR-HTTP-02")
    assert verdicts(runs, verdict).keys() == {"TR-HTTP-02"}
