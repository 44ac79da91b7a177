"""Connecting: what is sent with the upgrade, and what is said when it fails."""

from __future__ import annotations

import asyncio
import logging
import socket
import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import anyio
import pytest
from websockets.asyncio.server import ServerConnection
from websockets.datastructures import Headers
from websockets.http11 import Request, Response
from websockets.server import ServerProtocol

from accord.errors import ConnectFailed
from accord.transport.remote_address import parse_address
from accord.transport.remote_limits import RemoteLimits
from accord.transport.websocket.client import tls_context
from accord.transport.websocket.client_socket import ClientSocket, SocketLost
from tests.machine.certificates import Certificate
from tests.transport.websocket.scripted_server import connected, cut, serving

TOKEN = "tokentokentoken"


async def wait(server: ServerConnection) -> None:
    """Do nothing."""
    await server.wait_closed()


async def fails(url: str, **options: Any) -> ConnectFailed:
    """Try to connect, and return the error."""
    with pytest.raises(BaseExceptionGroup) as caught:
        async with connected(url, token=TOKEN, **options):
            pytest.fail("it connected")
    (error,) = caught.value.exceptions
    assert isinstance(error, ConnectFailed)
    assert TOKEN not in str(error)
    return error


@asynccontextmanager
async def answering(data: bytes) -> AsyncIterator[str]:
    """A server that answers everybody with these bytes, and closes."""

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read(100)
        writer.write(data)
        await writer.drain()
        writer.close()

    server = await asyncio.start_server(answer, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    async with server:
        yield f"ws://127.0.0.1:{port}/acp"


async def test_the_token_the_headers_and_the_query_are_sent() -> None:
    """Ours: and the server is asked to resume, beside the caller's own query."""
    requests: list[Request] = []

    def see(_: ServerConnection, request: Request) -> None:
        requests.append(request)

    async with (
        serving(wait, process_request=see) as url,
        connected(f"{url}?team=blue", token=TOKEN, headers={"X-A": "b"}),
    ):
        pass
    [request] = requests
    assert request.path == "/acp?team=blue&accord-resume=new"
    assert request.headers["Authorization"] == f"Bearer {TOKEN}"
    assert request.headers["X-A"] == "b"
    assert request.headers["User-Agent"].startswith("accord/")
    assert "Origin" not in request.headers
    assert "Sec-WebSocket-Extensions" not in request.headers


async def test_the_token_is_in_no_log(caplog: pytest.LogCaptureFixture) -> None:
    """Ours: not even where a program logs everything, of every package."""
    caplog.set_level(logging.DEBUG)
    silent = logging.Logger("server", level=logging.CRITICAL)
    async with serving(wait, logger=silent) as url, connected(url, token=TOKEN):
        pass
    assert TOKEN not in caplog.text


@pytest.mark.rule("TR-HTTP-03")
async def test_cookies_come_back_with_the_next_upgrade() -> None:
    """RFD: sticky routing needs them."""
    cookies: list[list[str]] = []

    def see(_: ServerConnection, request: Request) -> None:
        cookies.append(request.headers.get_all("Cookie"))

    def give(_: ServerConnection, _request: Request, response: Response) -> None:
        response.headers["Set-Cookie"] = "node=7; Path=/"

    async def script(server: ServerConnection) -> None:
        if len(cookies) == 1:
            cut(server)
        else:
            await server.send("there")
            await server.wait_closed()

    async with (
        serving(script, process_request=see, process_response=give) as url,
        connected(url, headers={"cookie": "own=1"}) as (_, receiver),
    ):
        await receiver.until(lambda: receiver.data)
    assert cookies == [["own=1"], ["node=7; own=1"]]


@pytest.mark.parametrize(
    ("status", "words"),
    [(401, "token"), (403, "refuses"), (404, "/acp"), (302, "redirects"), (200, "not an ACP")],
)
async def test_a_refused_upgrade_says_why(status: int, words: str) -> None:
    """Ours: and it is not tried again."""
    seen = 0

    def refuse(_: ServerConnection, _request: Request) -> Response:
        nonlocal seen
        seen += 1
        return Response(status, "no", Headers({"Content-Length": "6"}), b"sorry\n")

    async with serving(wait, process_request=refuse) as url:
        error = await fails(url)
    assert error.status == status
    assert words in str(error)
    assert "it said: sorry" in str(error)
    assert seen == 1


async def test_nothing_listens() -> None:
    """Ours: refused."""
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        port = unused.getsockname()[1]
        assert "connection refused" in str(await fails(f"ws://127.0.0.1:{port}/acp"))


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"", "closed the connection before it answered"),
        (b"SSH-2.0-server\r\n", "not a WebSocket endpoint"),
        (b"HTTP/1.1 101 OK\r\n\r\n", "not a WebSocket endpoint"),
        (b"HTTP/1.1 101 OK\r\n" + b"a" * 100_000, "not a WebSocket endpoint"),
        (b"HTTP/1.1 200 OK\r\n\r\n<html>", "not an ACP endpoint (status 200)"),
    ],
)
async def test_the_server_is_something_else(data: bytes, words: str) -> None:
    """Ours: not ACP, not WebSocket, not HTTP."""
    async with answering(data) as url:
        assert words in str(await fails(url))


class Wire(asyncio.Transport):
    """A transport that keeps what is written."""

    def __init__(self) -> None:
        super().__init__()
        self.written = b""

    def write(self, data: Any) -> None:
        self.written += bytes(data)

    def is_closing(self) -> bool:
        return False

    def set_write_buffer_limits(self, high: int | None = None, low: int | None = None) -> None: ...
    def pause_reading(self) -> None: ...
    def resume_reading(self) -> None: ...
    def abort(self) -> None: ...
    def get_write_buffer_size(self) -> int:
        return 0


@pytest.mark.parametrize("size", [1, 5, 11, 12, 13, 1000])
async def test_the_response_and_the_first_frame_come_in_any_pieces(size: int) -> None:
    """Ours: also if the first piece is shorter than what tells an upgrade from a refusal."""
    told: list[bytes] = []

    class Owner:
        def messages_received(self, messages: list[bytes]) -> None:
            told.extend(messages)

        def socket_drained(self) -> None: ...
        def socket_lost(self, socket: ClientSocket, lost: SocketLost) -> None: ...

    client = ClientSocket(parse_address("ws://127.0.0.1/acp"), (), RemoteLimits(), Owner())
    wire, server = Wire(), ServerProtocol()
    client.connection_made(wire)
    server.receive_data(wire.written)
    (request,) = server.events_received()
    assert isinstance(request, Request)
    server.send_response(server.accept(request))
    server.send_text(b"first")
    answer = b"".join(server.data_to_send())
    client.start()
    await anyio.lowlevel.checkpoint()
    for at in range(0, len(answer), size):
        client.data_received(answer[at : at + size])
    assert (await client.upgraded).status_code == 101
    assert told == [b"first"]
    client.abort("over")


async def test_the_server_does_not_answer() -> None:
    """Ours: an attempt has a bound."""
    never = anyio.Event()

    async def hang(_: ServerConnection, _request: Request) -> None:
        await never.wait()

    limits = RemoteLimits(connect_seconds=0.05)
    async with serving(wait, process_request=hang) as url:
        assert "did not answer in time" in str(await fails(url, limits=limits))
        never.set()


async def test_a_certificate_that_nobody_vouches_for_is_refused(certificate: Certificate) -> None:
    """Ours: and one that is trusted is not."""
    async with serving(wait, ssl=certificate.server_context()) as url:
        secure = url.replace("ws://127.0.0.1", "wss://localhost")
        assert "the certificate is not valid" in str(await fails(secure))
        async with connected(secure, tls=certificate.client_context()):
            pass
        # The name counts too.
        other = secure.replace("localhost", "127.0.0.1")
        error = await fails(other, tls=certificate.client_context())
        assert "the certificate is not valid" in str(error)


async def test_tls_at_a_port_without_it() -> None:
    """Ours: the usual mistake with wss."""
    async with answering(b"HTTP/1.1 400 Bad Request\r\n\r\n") as url:
        assert "speak TLS" in str(await fails(url.replace("ws://", "wss://")))


def test_our_own_tls_checks_certificates() -> None:
    """Ours: by default, and TLS 1.2 at least."""
    context = tls_context()
    assert context.verify_mode is ssl.CERT_REQUIRED
    assert context.check_hostname
    assert context.minimum_version >= ssl.TLSVersion.TLSv1_2
