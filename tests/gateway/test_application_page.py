"""The page of the web client in front of a gateway: for everybody, to be read only."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator

import pytest

from tests.gateway.gateway_process import GatewayProcess, gateway_process
from tests.hang_limit import HANG_SECONDS
from tests.transport.server.raw_http import UPGRADE, RawClient, Response

pytestmark = pytest.mark.anyio


@pytest.fixture(params=["asyncio"])
def anyio_backend(request: pytest.FixtureRequest) -> str:
    assert isinstance(request.param, str)
    return request.param


@pytest.fixture(scope="module")
def gateway(tmp_path_factory: pytest.TempPathFactory) -> Iterator[GatewayProcess]:
    with gateway_process(tmp_path_factory.mktemp("page")) as served:
        yield served


async def ask(gateway: GatewayProcess, method: str, **headers: str) -> Response:
    async with asyncio.timeout(HANG_SECONDS):
        return await RawClient(gateway.port, path="/").request(method, headers)


async def test_everybody_gets_the_page(gateway: GatewayProcess) -> None:
    """It has the login: whoever reads it has no credentials yet."""
    answer = await ask(gateway, "GET")
    assert answer.status == 200
    assert answer.headers["content-type"] == "text/html; charset=utf-8"
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert answer.headers["referrer-policy"] == "no-referrer"
    assert "script-src 'self';" in answer.headers["content-security-policy"]
    assert b"<!doctype html>" in answer.body.lower()


async def test_head_has_the_headers_alone(gateway: GatewayProcess) -> None:
    page, head = await ask(gateway, "GET"), await ask(gateway, "HEAD")
    assert (head.status, head.body) == (200, b"")
    assert head.headers["content-length"] == page.headers["content-length"]


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "OPTIONS", "PATCH"])
async def test_the_page_is_read_only(gateway: GatewayProcess, method: str) -> None:
    answer = await ask(gateway, method)
    assert answer.status == 405
    assert answer.headers["allow"] == "GET, HEAD"


async def test_the_guard_is_in_front_of_it(gateway: GatewayProcess) -> None:
    """A name that somebody else's page controls does not reach it."""
    assert (await ask(gateway, "GET", host="evil.example")).status == 421
    assert (await ask(gateway, "GET", origin="https://evil.example")).status == 403


async def test_it_is_no_websocket_and_opens_no_other_path(gateway: GatewayProcess) -> None:
    assert (await ask(gateway, "GET", **UPGRADE)).status == 401
    for path in ("/assets", "/index", "/.well-known/acp-agents.json", "/metrics"):
        answer = await RawClient(gateway.port, path=path).request("GET")
        assert answer.status == 401, path


async def test_its_agents_are_those_of_the_well_known_list(gateway: GatewayProcess) -> None:
    client = RawClient(gateway.port, dict(gateway.headers), "/.well-known/acp-agents.json")
    listed = json.loads((await client.request("GET")).body)
    assert [one["available"] for one in listed["agents"]] == [True]
    assert "folder" not in listed
