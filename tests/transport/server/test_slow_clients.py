"""Clients that begin something and never finish it: none of them stays, and others are served."""

from __future__ import annotations

import asyncio
import json
from asyncio import FIRST_COMPLETED
from dataclasses import dataclass
from pathlib import Path

import pytest
from websockets.asyncio.client import connect
from websockets.frames import Frame, Opcode

from accord import RemoteLimits, RemoteServer
from accord.transport.server.websocket import native_socket
from accord.transport.transport import BACKLOG_BYTES_MAX
from tests.hang_limit import HANG_SECONDS
from tests.machine.certificates import make_certificate
from tests.transport.server.raw_http import (
    INITIALIZE,
    NEW_SESSION,
    RawClient,
    Response,
    closed,
    prompt,
)
from tests.transport.server.raw_http2 import RawHttp2Client
from tests.transport.server.served_agent import Served, echo_agent, serving

pytestmark = pytest.mark.anyio

PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
SETTINGS = b"\0\0\0\4\0\0\0\0\0"
HOST = b"Host: localhost\r\n"
JSON_POST = b"POST /acp HTTP/1.1\r\n" + HOST + b"content-type: application/json\r\n"
UPGRADE = (
    b"GET /acp HTTP/1.1\r\n" + HOST + b"Upgrade: websocket\r\nConnection: Upgrade\r\n"
    b"Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\nSec-WebSocket-Version: 13\r\n"
)


@dataclass(frozen=True)
class Unfinished:
    """What a client sends before it falls silent, and how the answer begins."""

    data: bytes
    answer: bytes = b""


UNFINISHED = {
    "nothing at all": Unfinished(b""),
    "one letter of a GET": Unfinished(b"G"),
    "one letter of a POST": Unfinished(b"P"),
    "half of the preface of HTTP/2": Unfinished(PREFACE[:10]),
    "the preface of HTTP/2 alone": Unfinished(PREFACE),
    "half of the headers of HTTP/2": Unfinished(PREFACE + SETTINGS + b"\0\0\1\1\1\0\0\0\1\x82"),
    "half of the head of a GET": Unfinished(b"GET /acp HTTP/1.1\r\n" + HOST),
    "half of the head of a POST": Unfinished(JSON_POST),
    "half of the head of a DELETE": Unfinished(b"DELETE /acp HTTP/1.1\r\nHo"),
    "half of an upgrade": Unfinished(UPGRADE),
    "half of a body": Unfinished(
        JSON_POST + b"content-length: 100\r\n\r\n{", b"HTTP/1.1 408 Request Timeout"
    ),
    "half of a chunked body": Unfinished(
        JSON_POST + b"transfer-encoding: chunked\r\n\r\n5\r\n{", b"HTTP/1.1 408 Request Timeout"
    ),
    "a body that is not wanted": Unfinished(
        b"PUT /acp HTTP/1.1\r\n" + HOST + b"content-length: 100\r\n\r\n{", b"HTTP/1.1 405 "
    ),
    "a body of the wrong type": Unfinished(
        b"POST /acp HTTP/1.1\r\n" + HOST + b"content-length: 100\r\n\r\n{", b"HTTP/1.1 415 "
    ),
    "a second request that does not come": Unfinished(
        b"DELETE /acp HTTP/1.1\r\n" + HOST + b"\r\n", b"HTTP/1.1 400 "
    ),
    "a second request that is not finished": Unfinished(
        b"DELETE /acp HTTP/1.1\r\n" + HOST + b"\r\nDELETE /a", b"HTTP/1.1 400 "
    ),
    "a WebSocket without initialize": Unfinished(UPGRADE + b"\r\n", b"HTTP/1.1 101 "),
}


async def answered_until_the_end(served: Served, data: bytes) -> bytes:
    """What the server sends before it ends the connection."""
    reader, writer = await asyncio.open_connection("127.0.0.1", served.port)
    writer.write(data)
    answer = bytearray()
    async with asyncio.timeout(HANG_SECONDS):
        try:
            while piece := await reader.read(65536):
                answer += piece
        except ConnectionError:
            pass
    await closed(writer)
    return bytes(answer)


@pytest.mark.parametrize("wrong", UNFINISHED.values(), ids=UNFINISHED)
async def test_what_is_never_finished_is_ended(wrong: Unfinished) -> None:
    """Issue 16: slow bodies, and everything else that a client may leave half done."""
    limits = RemoteLimits(
        head_seconds=0.05,
        body_seconds=0.05,
        initialize_seconds=0.05,
        keep_alive_seconds=1.0,
        silence_seconds=2.0,
    )
    async with serving(limits=limits) as served:
        answer = await answered_until_the_end(served, wrong.data)
        assert answer.startswith(wrong.answer)
        assert (await RawClient(served.port).initialize()).status == 200


MALFORMED_UPGRADES = {
    "a header without a colon": UPGRADE + b"no colon\r\n\r\n",
    "a control character": UPGRADE + b"x: a\x01b\r\n\r\n",
    "a folded header": UPGRADE + b"x: a\r\n b\r\n\r\n",
    "a header of 9 kB": UPGRADE + b"x: " + b"a" * 9000 + b"\r\n\r\n",
    "200 headers": UPGRADE + b"x: a\r\n" * 200 + b"\r\n",
    "a body": UPGRADE + b"content-length: 5\r\n\r\nhello",
    "a chunked body": UPGRADE + b"transfer-encoding: chunked\r\n\r\n0\r\n\r\n",
    "three words too many": UPGRADE.replace(b"/acp", b"/acp a b c") + b"\r\n",
    "a path beyond ASCII": UPGRADE.replace(b"/acp", b"/acp\xff") + b"\r\n",
    "another version of HTTP": UPGRADE.replace(b"HTTP/1.1", b"HTTP/1.0") + b"\r\n",
    "a key that is none": UPGRADE.replace(b"AAAAAAAAAAAAAAAAAAAAAA==", b"x") + b"\r\n",
    "two keys": UPGRADE + b"Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n",
    "an old version of WebSocket": UPGRADE.replace(b"13", b"8") + b"\r\n",
    "no header Connection": UPGRADE.replace(b"Connection: Upgrade\r\n", b"") + b"\r\n",
}


@pytest.mark.parametrize("data", MALFORMED_UPGRADES.values(), ids=MALFORMED_UPGRADES)
async def test_a_malformed_upgrade_is_answered_and_its_connection_ends(data: bytes) -> None:
    async with serving() as served:
        answer = await answered_until_the_end(served, data)
        assert answer.startswith((b"HTTP/1.1 400 ", b"HTTP/1.1 426 ", b"HTTP/1.1 505 ")), answer
        assert served.open_connections == 0
        assert (await RawClient(served.port).initialize()).status == 200


async def test_an_upgrade_that_fails_inside_ends_its_connection(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """Ours: whatever goes wrong, a client does not wait for ever."""
    async with serving() as served:

        async def fails(request: object) -> None:
            raise RuntimeError("a secret")

        monkeypatch.setattr(served.application, "admit", fails)
        assert await answered_until_the_end(served, UPGRADE + b"\r\n") == b""
    assert "RuntimeError at test_slow_clients.py" in caplog.text
    assert "a secret" not in caplog.text


SLOW_FRAMES = {
    "half of a message": Frame(Opcode.TEXT, b"{" * 100).serialize(mask=True)[:50],
    "a message without its last fragment": Frame(Opcode.TEXT, b"{", fin=False).serialize(mask=True),
    "half of a fragment": Frame(Opcode.TEXT, b"{" * 9, fin=False).serialize(mask=True)[:5],
}


@pytest.mark.parametrize("data", SLOW_FRAMES.values(), ids=SLOW_FRAMES)
async def test_a_websocket_message_that_is_never_finished_is_ended(data: bytes) -> None:
    """Ours: a byte now and then is a sign of life, but not a message."""
    # The client's half of the closing handshake would be inside of its message.
    limits = RemoteLimits(body_seconds=0.01, close_seconds=0.01)
    async with serving(limits=limits) as served, asyncio.timeout(HANG_SECONDS):
        url = f"ws://127.0.0.1:{served.port}/acp"
        async with connect(url, compression=None) as socket:
            await socket.send(json.dumps(INITIALIZE))
            await socket.recv()
            socket.transport.write(data)
            await socket.wait_closed()
            assert (socket.close_code, "body_seconds" in (socket.close_reason or "")) == (
                1008,
                True,
            )
        assert (await RawClient(served.port).initialize()).status == 200


async def test_a_slow_body_is_taken_as_long_as_it_comes() -> None:
    """Ours: a large message over a slow network is not a slow body."""
    limits = RemoteLimits(body_seconds=HANG_SECONDS, body_bytes_per_second=1)
    body = json.dumps(INITIALIZE).encode()
    async with serving(limits=limits) as served, asyncio.timeout(HANG_SECONDS):
        reader, writer = await asyncio.open_connection("127.0.0.1", served.port)
        head = JSON_POST + b"content-length: %d\r\n\r\n" % len(body)
        # The second half may come a minute after the first.
        writer.write(head + body[:60])
        assert limits.body_seconds_for(60) - limits.body_seconds >= 60
        await writer.drain()
        writer.write(body[60:])
        assert (await reader.readline()).startswith(b"HTTP/1.1 200")
        await closed(writer)


async def test_a_client_that_is_not_read_is_not_called_silent(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Ours: while the server stops reading, the client cannot show that it lives."""
    limits = RemoteLimits(keep_alive_seconds=0.01, silence_seconds=0.02)
    made: list[native_socket.NativeSocket] = []
    usual = native_socket.NativeSocket.__init__

    def remembered(self: native_socket.NativeSocket, *arguments: object) -> None:
        usual(self, *arguments)  # type: ignore[arg-type]
        made.append(self)

    monkeypatch.setattr(native_socket.NativeSocket, "__init__", remembered)
    async with serving(limits=limits) as served:
        url = f"ws://127.0.0.1:{served.port}/acp"
        async with connect(url, compression=None):
            (socket,) = made
            now = asyncio.get_running_loop().time()
            socket._is_paused = True
            socket.check_alive(now + 1000, 0.0)
            assert not socket._transport.is_closing()
            socket._is_paused = False
            socket.check_alive(now + 2001, 0.0)
            assert socket._transport.is_closing()


@pytest.mark.parametrize("heard_at", [0.0, 0.1, 1.4, 2.9])
async def test_a_silent_client_is_asked_and_left_before_the_bounds(
    heard_at: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Issue 16: a half-open connection is found within 30 s, not some seconds later."""
    made: list[native_socket.NativeSocket] = []
    usual = native_socket.NativeSocket.__init__

    def remembered(self: native_socket.NativeSocket, *arguments: object) -> None:
        usual(self, *arguments)  # type: ignore[arg-type]
        made.append(self)

    monkeypatch.setattr(native_socket.NativeSocket, "__init__", remembered)
    async with serving() as served:
        url = f"ws://127.0.0.1:{served.port}/acp"
        async with connect(url, compression=None):
            (socket,) = made
            written: list[bytes] = []
            monkeypatch.setattr(socket._transport, "write", written.append)
            # The clock is this test's: looked at every three seconds, heard once.
            socket._heard_at = heard_at
            asked_at = left_at = 0.0
            for now in range(0, 60, 3):
                socket.check_alive(float(now), 3.0)
                asked_at = asked_at or (now if written else 0.0)
                if socket._transport.is_closing():
                    left_at = float(now)
                    break
            assert heard_at < asked_at <= heard_at + 15
            assert heard_at + 24 < left_at <= heard_at + 30


async def test_a_client_that_ends_its_tls_connection_is_not_reported(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """Ours: asyncio warns about half of a TLS connection that stays open."""
    made = make_certificate(tmp_path)
    application = echo_agent().asgi()
    async with (
        asyncio.timeout(HANG_SECONDS),
        RemoteServer(application, tls=made.server_context()) as server,
    ):
        reader, writer = await asyncio.open_connection(
            "localhost", server.port, ssl=made.client_context()
        )
        writer.write(b"DELETE /acp HTTP/1.1\r\n" + HOST + b"\r\n")
        assert (await reader.readline()).startswith(b"HTTP/1.1 400")
        await closed(writer)
        while server._incoming:
            await asyncio.sleep(0)
    assert caplog.text == ""


@pytest.mark.parametrize("make_client", [RawClient, RawHttp2Client])
async def test_a_flood_of_requests_without_a_reader_has_a_bound_and_ends(
    make_client: type[RawClient],
) -> None:
    """Ours: a message waits while its client reads nothing; too many are told to come again."""
    waiting_max, size = 10, 100 * 1024
    limits = RemoteLimits(backlog_bytes=waiting_max * (size + 10_000))
    async with serving(limits=limits) as served, asyncio.timeout(HANG_SECONDS):
        client = make_client(served.port)
        await client.initialize()
        async with client.stream() as own:
            await client.post(NEW_SESSION)
            session_id = (await own.until(1))[-1]["result"]["sessionId"]
            header = {"acp-session-id": session_id}
            # Nobody reads the stream of the session.
            await client.post(prompt(session_id, "flood 100000"), header)
            (transport,) = served.application.connections._open.values()
            while transport.backlog < BACKLOG_BYTES_MAX:
                await asyncio.sleep(0)
            posts = {
                asyncio.create_task(client.post(prompt(session_id, "x" * size, number), header))
                for number in range(10, 50)
            }
            refused: set[asyncio.Task[Response]] = set()
            while len(posts) > waiting_max:
                done, posts = await asyncio.wait(posts, return_when=FIRST_COMPLETED)
                refused |= done
            assert {one.result().status for one in refused} == {429}
            assert {one.result().headers["retry-after"] for one in refused} == {"1"}
            # The others wait until the client reads, or its connection is over.
            await client.request("DELETE")
            assert {one.status for one in await asyncio.gather(*posts)} == {404}


async def test_bodies_that_come_at_once_have_a_bound_together() -> None:
    """Ours: each is within its limit, and so are all of them."""
    body = json.dumps(INITIALIZE).encode()
    limits = RemoteLimits(bodies_bytes=len(body) + 100)
    async with serving(limits=limits) as served, asyncio.timeout(HANG_SECONDS):
        head = JSON_POST + b"content-length: 5000\r\n\r\n"
        first = await asyncio.open_connection("127.0.0.1", served.port)
        first[1].write(head + b" " * (len(body) + 50))
        bodies = served.application._endpoint._bodies
        while not bodies.held_bytes:
            await asyncio.sleep(0)
        assert (await RawClient(served.port).post(INITIALIZE)).status == 503
        first[1].transport.abort()
        while bodies.held_bytes:
            await asyncio.sleep(0)
        assert (await RawClient(served.port).post(INITIALIZE)).status == 200
        await closed(first[1])
