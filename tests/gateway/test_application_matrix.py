"""Every combination of Host, Origin, token, verb and body: only the right ones come in."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from itertools import product

import pytest

from tests.gateway.gateway_process import TOKEN, GatewayProcess, gateway_process
from tests.hang_limit import HANG_SECONDS
from tests.transport.server.raw_http import INITIALIZE, RawClient

pytestmark = pytest.mark.anyio

OK = 200
# None leaves the header out; PORT is the gateway's.
HOSTS = {
    "127.0.0.1:PORT": OK,
    "localhost:PORT": OK,
    "LOCALHOST": OK,
    "evil.example": 421,
    "127.0.0.1.evil.example:PORT": 421,
    "evil.example, localhost": 421,
    "localhost@evil.example": 421,
    "": 421,
}
ORIGINS = {
    None: OK,
    "http://HOST": OK,
    "https://friend.example": OK,
    "https://evil.example": 403,
    "https://friend.example.evil.example": 403,
    "http://friend.example": 403,
    "http://HOST.evil.example": 403,
    "null": 403,
}
TOKENS = {
    f"Bearer {TOKEN}": OK,
    f"bearer {TOKEN}": OK,
    None: 401,
    "": 401,
    f"Bearer {TOKEN}x": 401,
    f"Bearer {TOKEN[:-1]}": 401,
    f"Basic {TOKEN}": 401,
    TOKEN: 401,
    f"Bearer {TOKEN}, Bearer {TOKEN}": 401,
}
VERBS = {"POST": OK, "PUT": 405, "PATCH": 405}
# The declared length; None is the real one.
BODIES = {None: OK, str(80 << 20): 413, str(1 << 40): 413}


@pytest.fixture(params=["asyncio"])
def anyio_backend(request: pytest.FixtureRequest) -> str:
    assert isinstance(request.param, str)
    return request.param


@pytest.fixture(scope="module")
def gateway(tmp_path_factory: pytest.TempPathFactory) -> Iterator[GatewayProcess]:
    """One gateway for all rows."""
    folder = tmp_path_factory.mktemp("matrix")
    with gateway_process(folder, "--allow-origin", "https://friend.example") as served:
        yield served


def row(gateway: GatewayProcess, host: str, origin: str | None) -> tuple[str, str | None]:
    """Put the real names into a row."""
    named = host.replace("PORT", str(gateway.port))
    return named, None if origin is None else origin.replace("HOST", named.lower())


def expected(*statuses: int) -> int:
    """The first reason to refuse counts; what is not well is refused by something before it."""
    return next((status for status in statuses if status != OK), OK)


@pytest.mark.parametrize("host", HOSTS)
async def test_every_wrong_request_is_refused(host: str, gateway: GatewayProcess) -> None:
    """Issue 17: the table of the matrix, over HTTP."""
    client = RawClient(gateway.port)
    body = json.dumps(INITIALIZE).encode()
    rows = product(ORIGINS.items(), TOKENS.items(), VERBS.items(), BODIES.items())
    for (origin, by_origin), (token, by_token), (verb, by_verb), (length, by_body) in rows:
        named, from_page = row(gateway, host, origin)
        asked = {"host": named, "origin": from_page, "authorization": token}
        asked |= {"content-type": "application/json", "content-length": length or str(len(body))}
        async with asyncio.timeout(HANG_SECONDS):
            answer = await client.request(verb, asked, body)
        should_be = expected(HOSTS[host], by_origin, by_token, by_verb, by_body)
        assert answer.status == should_be, (host, origin, token, verb, length, answer)


@pytest.mark.parametrize("host", HOSTS)
async def test_every_wrong_upgrade_is_refused(host: str, gateway: GatewayProcess) -> None:
    """Issue 17: the same over WebSocket."""
    client = RawClient(gateway.port)
    upgrade = {
        "connection": "Upgrade",
        "upgrade": "websocket",
        "sec-websocket-version": "13",
        "sec-websocket-key": "dGhlIHNhbXBsZSBub25jZQ==",
    }
    for (origin, by_origin), (token, by_token) in product(ORIGINS.items(), TOKENS.items()):
        named, from_page = row(gateway, host, origin)
        asked = {"host": named, "origin": from_page, "authorization": token, **upgrade}
        async with asyncio.timeout(HANG_SECONDS):
            answer = await client.request("GET", asked)
        should_be = expected(HOSTS[host], by_origin, by_token)
        found = OK if answer.status == 101 else answer.status
        assert found == should_be, (host, origin, token, answer)
