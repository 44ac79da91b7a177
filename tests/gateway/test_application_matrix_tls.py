"""The matrix of Host, Origin, token, verb and body once more: `accord serve` with TLS.

Over HTTP/1.1, HTTP/2 and WebSocket, with every class of mistakes instead of every mistake, which
`test_application_matrix.py` has.  After each refusal the same request comes right, over HTTP/2 on
the connection that was just refused.
"""

from __future__ import annotations

import asyncio
import json
import ssl
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product
from pathlib import Path

import pytest

from tests.gateway.gateway_process import TOKEN, GatewayProcess, gateway_process
from tests.gateway.test_application_matrix import OK, expected
from tests.hang_limit import HANG_SECONDS
from tests.machine.certificates import Certificate, make_certificate
from tests.transport.server.raw_http import INITIALIZE, UPGRADE, RawClient, Response
from tests.transport.server.raw_http2 import Http2Exchange, RawHttp2Client

pytestmark = pytest.mark.anyio

# None leaves the header out; PORT is the gateway's, and HOST the row's.
HOSTS = {
    "localhost:PORT": OK,
    "127.0.0.1:PORT": OK,
    "evil.example": 421,
    "localhost.evil:PORT": 421,
}
ORIGINS = {
    None: OK,
    "https://HOST": OK,
    # A page that was not encrypted may be anybody's.
    "http://HOST": 403,
    "https://evil.example": 403,
    "null": 403,
}
TOKENS = {f"Bearer {TOKEN}": OK, None: 401, f"Bearer {TOKEN}x": 401}
VERBS = {"POST": OK, "PUT": 405, "PATCH": 405}
# The declared length; None is the real one.
BODIES = {None: OK, str(80 << 20): 413}

BODY = json.dumps(INITIALIZE).encode()
CLOSE_FRAME = 0x88


@dataclass(frozen=True)
class Row:
    """One request, and what it must be answered with."""

    host: str
    origin: str | None
    token: str | None
    verb: str = "POST"
    length: str | None = None

    @property
    def status(self) -> int:
        """The first reason to refuse counts."""
        of_page = HOSTS[self.host], ORIGINS[self.origin], TOKENS[self.token]
        return expected(*of_page, VERBS[self.verb], BODIES[self.length])

    def headers(self, port: int) -> dict[str, str | None]:
        """The headers but the one for the host."""
        origin = self.origin
        if origin is not None:
            origin = origin.replace("HOST", self.named(port))
        return {"origin": origin, "authorization": self.token}

    def named(self, port: int) -> str:
        """The host by the name of the row."""
        return self.host.replace("PORT", str(port))


RIGHT = Row("localhost:PORT", None, f"Bearer {TOKEN}")
ROWS = [Row(*row) for row in product(HOSTS, ORIGINS, TOKENS, VERBS, BODIES)]
UPGRADES = [Row(*row) for row in product(HOSTS, ORIGINS, TOKENS)]


@pytest.fixture(params=["asyncio"])
def anyio_backend(request: pytest.FixtureRequest) -> str:
    assert isinstance(request.param, str)
    return request.param


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Certificate:
    return make_certificate(tmp_path_factory.mktemp("certificate"))


@pytest.fixture(scope="module")
def gateway(
    tmp_path_factory: pytest.TempPathFactory, certificate: Certificate
) -> Iterator[GatewayProcess]:
    """One gateway for all rows."""
    folder: Path = tmp_path_factory.mktemp("matrix")
    files = ("--tls-cert", str(certificate.certificate), "--tls-key", str(certificate.key))
    with gateway_process(folder, *files) as served:
        assert served.url.startswith("https://")
        yield served


def context(certificate: Certificate, protocol: str) -> ssl.SSLContext:
    """What a client needs that trusts the gateway and speaks one protocol."""
    made = certificate.client_context()
    made.set_alpn_protocols([protocol])
    return made


async def left(client: RawClient, answer: Response) -> None:
    """End a connection that was opened: a user has only so many."""
    opened = {
        "authorization": f"Bearer {TOKEN}",
        "acp-connection-id": answer.headers["acp-connection-id"],
    }
    assert (await client.request("DELETE", opened)).status == 202


async def test_every_wrong_request_over_http_1_is_refused_and_the_next_right_one_served(
    gateway: GatewayProcess, certificate: Certificate
) -> None:
    """Issue 17: the table of the matrix, with TLS."""
    client = RawClient(gateway.port, tls=context(certificate, "http/1.1"))

    async def asked(row: Row) -> Response:
        headers = {
            "host": row.named(gateway.port),
            "content-type": "application/json",
            "content-length": row.length or str(len(BODY)),
            **row.headers(gateway.port),
        }
        return await client.request(row.verb, headers, BODY)

    for row in ROWS:
        async with asyncio.timeout(HANG_SECONDS):
            answer = await asked(row)
            assert answer.status == row.status, (row, answer)
            if row.status != OK:
                answer = await asked(RIGHT)
                assert answer.status == OK, (row, answer)
            await left(client, answer)


async def test_every_wrong_request_over_http_2_is_refused_and_its_connection_goes_on(
    gateway: GatewayProcess, certificate: Certificate
) -> None:
    """Issue 17: a refusal ends a stream, and not the connection with the streams of others."""
    client = RawHttp2Client(gateway.port, tls=context(certificate, "h2"))

    async def asked(exchange: Http2Exchange, row: Row) -> Response:
        headers = {
            ":method": row.verb,
            ":scheme": "https",
            ":authority": row.named(gateway.port),
            ":path": "/acp",
            "content-type": "application/json",
            "content-length": row.length or str(len(BODY)),
            **row.headers(gateway.port),
        }
        given = [(name, value) for name, value in headers.items() if value is not None]
        # What ends before its declared length is malformed, whatever else is wrong with it.
        await exchange.send(given, BODY, is_whole=row.length is None)
        return await exchange.response()

    for row in ROWS:
        async with asyncio.timeout(HANG_SECONDS), client.exchange() as exchange:
            answer = await asked(exchange, row)
            assert answer.status == row.status, (row, answer)
            if row.status != OK:
                answer = await asked(exchange, RIGHT)
                assert answer.status == OK, (row, answer)
            await left(client, answer)


async def test_every_wrong_upgrade_is_refused_and_the_next_right_one_served(
    gateway: GatewayProcess, certificate: Certificate
) -> None:
    """Issue 17: the same over WebSocket."""
    client = RawClient(gateway.port, tls=context(certificate, "http/1.1"))

    async def asked(row: Row) -> Response:
        host = row.named(gateway.port)
        return await client.request("GET", {"host": host, **row.headers(gateway.port), **UPGRADE})

    for row in UPGRADES:
        async with asyncio.timeout(HANG_SECONDS):
            answer = await asked(row)
            assert answer.status == (101 if row.status == OK else row.status), (row, answer)
            assert (await asked(RIGHT)).status == 101, row


async def test_a_message_that_is_too_long_ends_its_socket_and_no_other(
    gateway: GatewayProcess, certificate: Certificate
) -> None:
    """Issue 17: the body size over WebSocket; the announced length is enough."""
    client = RawClient(gateway.port, tls=context(certificate, "http/1.1"))
    host = f"localhost:{gateway.port}"
    headers = {"host": host, "authorization": f"Bearer {TOKEN}", **UPGRADE}
    async with asyncio.timeout(HANG_SECONDS), client.sent("GET", headers) as (reader, writer):
        await reader.readuntil(b"\r\n\r\n")
        # The head of a masked text frame.
        writer.write(b"\x81\xff" + (80 << 20).to_bytes(8, "big") + bytes(4))
        head = await reader.readexactly(2)
        assert head[0] == CLOSE_FRAME
        closed = await reader.readexactly(head[1])
        assert closed[2:].startswith(b"a message is longer than message_bytes")
    assert (await client.request("GET", headers)).status == 101
