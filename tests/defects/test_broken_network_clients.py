"""The kit judges itself: every client that breaks a rule of HTTP or WebSocket fails that rule."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any, cast

import pytest

from accord.conformance.checks import gather
from accord.conformance.client.check_environment import client_stages
from accord.conformance.client.launch import Way
from accord.conformance.client.scenario import ClientScenario, Purpose
from accord.conformance.network.address import Transport
from accord.conformance.run.check_runner import CheckRun, OpenStage, run_checks
from accord.conformance.run.verdicts import covered
from tests.defects.judge import SILENT_SECONDS, verdicts
from tests.defects.network_clients import HTTP, WEBSOCKET

PROGRAM = str(Path(__file__).with_name("network_clients.py"))
BROKEN: dict[Transport, Any] = {"http": HTTP, "websocket": WEBSOCKET}
CASES = [(transport, rule) for transport, broken in BROKEN.items() for rule in broken]


@pytest.fixture
def anyio_backend() -> str:
    """Processes take long enough on one backend; the kit has its own tests on both."""
    return "asyncio"


async def judged(transport: Transport, rule: str) -> list[CheckRun]:
    """Run the checks of a transport, and of nothing else, over the client that breaks a rule."""
    command = (sys.executable, PROGRAM, transport, rule)
    scenario = ClientScenario({"prompt": Purpose(command)})
    stages = client_stages(scenario, way=cast("Way", transport), patience=SILENT_SECONDS)
    checks, _ = gather("client", "1", transport)
    checks = [one for one in checks if one.name.startswith("client.network.")]
    return await run_checks(checks, (), cast("OpenStage", stages), at_once=2)


@pytest.mark.parametrize(("transport", "rule"), CASES)
async def test_each_broken_client_fails_exactly_its_rule(transport: Transport, rule: str) -> None:
    """Issue 4: a rule without a peer that proves that its check can fail is not covered."""
    found = verdicts(await judged(transport, rule), "fail")
    assert set(found) == {rule}, found


@pytest.mark.parametrize("transport", BROKEN)
async def test_a_right_client_fails_nothing(transport: Transport) -> None:
    """A client that keeps the rules shows that the checks can be passed."""
    runs = await judged(transport, "none")
    assert verdicts(runs, "fail", "not_exercised", "skipped") == {}


@pytest.mark.parametrize("transport", BROKEN)
def test_each_rule_of_a_transport_has_a_client_that_fails_it(transport: Transport) -> None:
    """Ours: so that no check is one that cannot fail."""
    checks, _ = gather("client", "1", transport)
    own = [one for one in checks if one.name.startswith("client.network.")]
    assert covered(own, []) == set(BROKEN[transport])
