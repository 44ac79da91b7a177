"""A served agent over WebSocket: on our own listener, and on other ASGI servers."""

from __future__ import annotations

import asyncio
import contextlib
import json
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed

from accord import RemoteApplication, RemoteLimits, bearer_tokens
from tests.hang_limit import HANG_SECONDS
from tests.transport.server.asgi_servers import SERVERS, AsgiServer
from tests.transport.server.raw_http import (
    INITIALIZE,
    NEW_SESSION,
    UPGRADE,
    Json,
    RawClient,
    closed,
    prompt,
)
from tests.transport.server.served_agent import echo_agent

pytestmark = pytest.mark.anyio

MIB = 1024 * 1024


@pytest.fixture(params=["asyncio"])
def anyio_backend(request: pytest.FixtureRequest) -> str:
    assert isinstance(request.param, str)
    return request.param


@pytest.fixture(params=["listener", "uvicorn"])
def server(request: pytest.FixtureRequest) -> AsgiServer:
    """Not granian alone: decision 0030 says what it lacks."""
    return SERVERS[request.param]


@pytest.fixture
def listener() -> AsgiServer:
    return SERVERS["listener"]


@asynccontextmanager
async def opened(port: int, query: str = "", **options: Any) -> AsyncIterator[ClientConnection]:
    url = f"ws://127.0.0.1:{port}/acp{query}"
    async with (
        asyncio.timeout(HANG_SECONDS),
        connect(url, compression=None, max_size=None, **options) as socket,
    ):
        yield socket


async def ask(socket: ClientConnection, message: Any) -> Json:
    """Send a message, and return the next answer; updates are skipped."""
    text = message if isinstance(message, str) else json.dumps(message)
    await socket.send(text, text=True)
    while True:
        answer: Json = json.loads(await socket.recv())
        if "method" not in answer:
            return answer


async def say(socket: ClientConnection, text: str) -> list[str]:
    """A session and a prompt; returns what the agent said."""
    made = await ask(socket, NEW_SESSION)
    await socket.send(json.dumps(prompt(made["result"]["sessionId"], text)))
    said: list[str] = []
    while True:
        message = json.loads(await socket.recv())
        if message.get("id") == 2:
            return said
        update = message.get("params", {}).get("update", {})
        if update.get("sessionUpdate") == "agent_message_chunk":
            said.append(update["content"]["text"])


@pytest.mark.rule("TR-HTTP-15")
async def test_the_upgrade_names_the_connection_and_messages_are_text(server: AsgiServer) -> None:
    async with server(echo_agent().asgi()) as port, opened(port) as socket:
        assert socket.response is not None
        assert len(socket.response.headers["Acp-Connection-Id"]) == 32
        assert (await ask(socket, INITIALIZE))["result"]["protocolVersion"] == 1
        assert await say(socket, "hi") == ["hi"]


REFUSED = {
    "no credentials": ("/acp", {}, 401),
    "wrong credentials": ("/acp", {"authorization": "Bearer x"}, 401),
    "another path": ("/elsewhere", {"authorization": "Bearer token"}, 404),
    "another site": ("/acp", {"origin": "https://evil.example"}, 403),
    "another name": ("/acp", {"host": "evil.example"}, 421),
    "too many": ("/acp", {"authorization": "Bearer token"}, 503),
}


@pytest.mark.parametrize(("path", "headers", "status"), REFUSED.values(), ids=REFUSED)
async def test_an_upgrade_is_refused_with_the_status_of_a_request(
    path: str, headers: dict[str, str], status: int, server: AsgiServer
) -> None:
    """Issue 16: in one's own application too, where the ASGI server can do it."""
    limits = RemoteLimits(connections=1)
    application = echo_agent().asgi(auth=bearer_tokens({"token": "ann"}), limits=limits)
    async with server(application) as port:
        async with contextlib.AsyncExitStack() as stack:
            if status == 503:
                await stack.enter_async_context(opened(port, additional_headers=headers))
            async with asyncio.timeout(HANG_SECONDS):
                answer = await RawClient(port, {}, path).request("GET", {**UPGRADE, **headers})
        assert answer.status == status


@pytest.mark.parametrize("name", SERVERS)
async def test_a_long_answer_arrives_whole(name: str) -> None:
    async with SERVERS[name](echo_agent().asgi()) as port, opened(port) as socket:
        await ask(socket, INITIALIZE)
        said = "".join(await say(socket, "flood 3000"))
        assert len(said) == sum(1001 + len(str(number)) for number in range(3000))


# What is sent after `initialize`, and the code of the answer.
ANSWERED = {
    "not JSON": ("{", -32700),
    "nothing": ("", -32700),
    "a number": ("7", -32600),
    "an array": (json.dumps([NEW_SESSION]), -32600),
    "an empty array": ("[]", -32600),
    "not a message": ("{}", -32600),
    "initialize again": (json.dumps({**INITIALIZE, "id": 5}), -32600),
    "too deep": (
        '{"jsonrpc":"2.0","id":5,"method":"session/list","params":' + "[" * 9000 + "]" * 9000 + "}",
        -32600,
    ),
}


@pytest.mark.parametrize(("text", "code"), ANSWERED.values(), ids=ANSWERED)
async def test_a_bad_frame_is_answered_each_time_and_the_next_one_works(
    text: str, code: int, listener: AsgiServer
) -> None:
    async with listener(echo_agent().asgi()) as port, opened(port) as socket:
        await ask(socket, INITIALIZE)
        for _ in range(3):
            assert (await ask(socket, text))["error"]["code"] == code
        assert (await ask(socket, NEW_SESSION))["result"]


async def test_a_connection_that_has_served_http_can_still_be_upgraded(
    listener: AsgiServer,
) -> None:
    """Ours: reverse proxies keep connections, and use them for whatever comes next."""
    loop = asyncio.get_running_loop()
    async with listener(echo_agent().asgi()) as port, asyncio.timeout(HANG_SECONDS):
        with socket.socket() as used:
            used.setblocking(False)
            await loop.sock_connect(used, ("127.0.0.1", port))
            # No such connection: what matters is that it is answered in full.
            head = b"DELETE /acp HTTP/1.1\r\nhost: localhost\r\nacp-connection-id: x\r\n\r\n"
            await loop.sock_sendall(used, head)
            assert (await loop.sock_recv(used, MIB)).endswith(b"Unknown Acp-Connection-Id")
            url = f"ws://127.0.0.1:{port}/acp"
            async with connect(url, sock=used, compression=None) as upgraded:
                assert (await ask(upgraded, INITIALIZE))["result"]
                assert await say(upgraded, "hi") == ["hi"]


@pytest.mark.rule("TR-HTTP-16")
async def test_binary_frames_are_ignored(server: AsgiServer) -> None:
    async with server(echo_agent().asgi()) as port, opened(port) as socket:
        await socket.send(b"\0\1\2")
        await ask(socket, INITIALIZE)
        await socket.send(json.dumps(NEW_SESSION).encode())
        await socket.send([b"\0", b"\1"])
        assert (await ask(socket, {**NEW_SESSION, "id": 9}))["id"] == 9


async def test_a_message_in_fragments_is_one_message(server: AsgiServer) -> None:
    async with server(echo_agent().asgi()) as port, opened(port) as socket:
        text = json.dumps(INITIALIZE)
        await socket.send([text[:10], text[10:20], text[20:]])
        assert json.loads(await socket.recv())["result"]


@pytest.mark.parametrize(
    "first",
    [NEW_SESSION, {"jsonrpc": "2.0", "method": "session/cancel"}, {**INITIALIZE, "id": None}],
)
async def test_the_first_message_must_be_initialize(first: Json, server: AsgiServer) -> None:
    async with server(echo_agent().asgi()) as port:
        async with opened(port) as socket:
            await socket.send(json.dumps(first))
            await socket.wait_closed()
            assert socket.close_code == 1002
        async with opened(port) as socket:
            assert (await ask(socket, INITIALIZE))["result"]


async def test_a_message_of_33_mib_closes_the_connection(listener: AsgiServer) -> None:
    async with listener(echo_agent().asgi()) as port:
        for message in ("x" * (33 * MIB), ["x" * (17 * MIB)] * 2):
            async with opened(port) as socket:
                await ask(socket, INITIALIZE)
                # Whether sending fails depends on how much was sent when the close came.
                with contextlib.suppress(ConnectionClosed):
                    await socket.send(message)
                await socket.wait_closed()
                assert socket.close_code == 1008
        async with opened(port) as socket:
            assert (await ask(socket, INITIALIZE))["result"]


RAW_FRAMES = {
    "a frame without a mask": (b"\x81\x02{}", 1002),
    "reserved bits": (b"\xf1\x82\0\0\0\0{}", 1002),
    "an unknown kind of frame": (b"\x83\x80\0\0\0\0", 1002),
    "a long ping": (b"\x89\xfe\x00\x80" + b"\0" * 132, 1002),
    "a part without a beginning": (b"\x80\x81\0\0\0\0x", 1002),
    "text inside of fragments": (b"\x01\x81\0\0\0\0{\x81\x81\0\0\0\0}", 1002),
    "text that is not UTF-8": (b"\x81\x81\0\0\0\0\xff", 1007),
}


@pytest.mark.parametrize(("data", "code"), RAW_FRAMES.values(), ids=RAW_FRAMES)
async def test_a_broken_frame_closes_the_connection(
    data: bytes, code: int, listener: AsgiServer
) -> None:
    async with listener(echo_agent().asgi()) as port:
        async with opened(port) as socket:
            await ask(socket, INITIALIZE)
            socket.transport.write(data)
            await socket.wait_closed()
            assert socket.close_code == code
        async with opened(port) as socket:
            assert (await ask(socket, INITIALIZE))["result"]


async def test_pings_are_answered_and_asked(listener: AsgiServer) -> None:
    limits = RemoteLimits(keep_alive_seconds=0.01, silence_seconds=HANG_SECONDS)
    async with listener(echo_agent().asgi(limits=limits)) as port, opened(port) as socket:
        waiter = await socket.ping()
        await waiter
        await ask(socket, INITIALIZE)
        # The client answers the server's pings by itself; it lives on.
        assert await say(socket, "still here") == ["still here"]


async def test_a_silent_client_is_found(listener: AsgiServer) -> None:
    """A half-open connection: nothing comes, not even an answer to a ping."""
    limits = RemoteLimits(keep_alive_seconds=0.01, silence_seconds=0.02)
    application = echo_agent().asgi(limits=limits)
    async with listener(application) as port:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        head = (
            f"GET /acp HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nUpgrade: websocket\r\n"
            "Connection: Upgrade\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n"
            "Sec-WebSocket-Version: 13\r\n\r\n"
        )
        writer.write(head.encode())
        async with asyncio.timeout(HANG_SECONDS):
            await reader.readuntil(b"\r\n\r\n")
            await reader.read()
            await empty(application)
        await closed(writer)


async def empty(application: RemoteApplication) -> None:
    """Wait until no connection is left."""
    while len(application.connections):
        await asyncio.sleep(0)


async def test_a_client_that_never_initializes_is_closed(server: AsgiServer) -> None:
    limits = RemoteLimits(initialize_seconds=0.01)
    async with server(echo_agent().asgi(limits=limits)) as port, opened(port) as socket:
        await socket.wait_closed()
        assert socket.close_code == 1008


async def test_the_connection_ends_with_its_socket(server: AsgiServer) -> None:
    application = echo_agent().asgi()
    async with server(application) as port:
        async with opened(port) as socket:
            await ask(socket, INITIALIZE)
            assert len(application.connections) == 1
        async with asyncio.timeout(HANG_SECONDS):
            await empty(application)


async def test_a_server_that_shuts_down_says_so(listener: AsgiServer) -> None:
    application = echo_agent().asgi()
    async with listener(application) as port, opened(port) as socket:
        await ask(socket, INITIALIZE)
        await application.aclose()
        await socket.wait_closed()
        assert socket.close_code == 1001


# ---- resume


async def test_a_client_that_comes_back_gets_what_it_has_not_seen(server: AsgiServer) -> None:
    async with server(echo_agent().asgi()) as port:
        async with opened(port, "?accord-resume=new") as socket:
            said = json.loads(await socket.recv())
            assert said["method"] == "_accord/connection"
            assert said["params"]["received"] == 0
            connection_id = said["params"]["connectionId"]
            await ask(socket, INITIALIZE)
            made = await ask(socket, NEW_SESSION)
            await socket.send(json.dumps(prompt(made["result"]["sessionId"], "flood 50")))
            seen = [json.loads(await socket.recv()) for _ in range(7)]
            # Cut, without a word.
            socket.transport.abort()
        count = 2 + len([one for one in seen if not one.get("method", "").startswith("_accord/")])
        query = f"?accord-resume={connection_id}&accord-received={count}"
        async with opened(port, query) as socket:
            back = json.loads(await socket.recv())
            assert back["params"]["connectionId"] == connection_id
            assert back["params"]["received"] == 3
            while seen[-1].get("id") != 2:
                seen.append(json.loads(await socket.recv()))
        texts = [
            one["params"]["update"]["content"]["text"]
            for one in seen
            if one.get("params", {}).get("update", {}).get("sessionUpdate") == "agent_message_chunk"
        ]
        numbers = [int(text.partition(":")[0]) for text in "".join(texts).split("x") if ":" in text]
        assert numbers == list(range(50))


@pytest.mark.parametrize(
    ("query", "reason"),
    [
        ("?accord-resume=0123456789abcdef&accord-received=0", "unknown connection"),
        ("?accord-resume=", "unknown connection"),
    ],
)
async def test_a_connection_that_is_not_there_is_refused(
    query: str, reason: str, listener: AsgiServer
) -> None:
    async with listener(echo_agent().asgi()) as port, opened(port, query) as socket:
        await socket.wait_closed()
        assert (socket.close_code, socket.close_reason) == (1008, reason)


async def test_frames_that_were_acknowledged_are_a_gap(server: AsgiServer) -> None:
    async with server(echo_agent().asgi()) as port:
        async with opened(port, "?accord-resume=new") as socket:
            connection_id = json.loads(await socket.recv())["params"]["connectionId"]
            await ask(socket, INITIALIZE)
            told = {"jsonrpc": "2.0", "method": "_accord/received", "params": {"count": 1}}
            await socket.send(json.dumps(told))
            await ask(socket, NEW_SESSION)
            socket.transport.abort()
        async with opened(port, f"?accord-resume={connection_id}&accord-received=0") as socket:
            await socket.wait_closed()
            assert (socket.close_code, socket.close_reason) == (1008, "gap")


async def test_a_client_that_closed_its_socket_is_not_waited_for(server: AsgiServer) -> None:
    """Ours: whoever closes with code 1000 does not come back; a socket that was cut may."""
    application = echo_agent().asgi()
    async with server(application) as port:
        async with opened(port, "?accord-resume=new") as socket:
            await ask(socket, INITIALIZE)
            assert len(application.connections) == 1
        async with asyncio.timeout(HANG_SECONDS):
            while len(application.connections):
                await asyncio.sleep(0)


async def test_a_server_acknowledges_in_time(listener: AsgiServer) -> None:
    limits = RemoteLimits(acknowledge_seconds=0.01)
    async with (
        listener(echo_agent().asgi(limits=limits)) as port,
        opened(port, "?accord-resume=new") as socket,
    ):
        await socket.recv()
        await socket.send(json.dumps(INITIALIZE))
        methods = [json.loads(await socket.recv()).get("method") for _ in range(2)]
        assert sorted(methods, key=str) == [None, "_accord/received"]


async def test_a_resumed_connection_is_forgotten_after_the_grace_time(listener: AsgiServer) -> None:
    application = echo_agent().asgi(limits=RemoteLimits(grace_seconds=0.01))
    async with listener(application) as port:
        async with opened(port, "?accord-resume=new") as socket:
            await socket.recv()
        async with asyncio.timeout(HANG_SECONDS):
            await empty(application)
