"""A client that does not read: it costs little, others notice nothing, and nothing is lost."""

from __future__ import annotations

import asyncio
import json
from contextlib import AsyncExitStack
from typing import Any

import pytest
from websockets.asyncio.client import ClientConnection, connect

from accord import RemoteLimits
from accord.transport.server.websocket.socket_transport import WebSocketServerTransport
from tests.hang_limit import HANG_SECONDS
from tests.transport.server.raw_http import INITIALIZE, NEW_SESSION, RawClient, prompt
from tests.transport.server.raw_http2 import RawHttp2Client
from tests.transport.server.serve_process import ServeProcess, serve_process
from tests.transport.server.served_agent import serving

pytestmark = [pytest.mark.anyio, pytest.mark.slow]

MIB = 1024 * 1024
# Many times as much as everything that may be held.
CHUNKS = 100_000
GROWTH_BYTES_MAX = 64 * MIB
OTHER_PROMPTS = 20


async def receive(socket: ClientConnection, request_id: int) -> list[Any]:
    """Messages up to the answer with this id."""
    found = [json.loads(await socket.recv())]
    while found[-1].get("id") != request_id:
        found.append(json.loads(await socket.recv()))
    return found


async def new_session(socket: ClientConnection) -> str:
    await socket.send(json.dumps(INITIALIZE))
    await receive(socket, 0)
    await socket.send(json.dumps(NEW_SESSION))
    session_id: str = (await receive(socket, 1))[-1]["result"]["sessionId"]
    return session_id


async def others_are_served(server: ServeProcess) -> None:
    """Another client has its prompts answered, each while the first one does not read."""
    url = f"ws://127.0.0.1:{server.port}/acp"
    async with asyncio.timeout(HANG_SECONDS), connect(url, compression=None) as socket:
        session_id = await new_session(socket)
        for number in range(10, 10 + OTHER_PROMPTS):
            await socket.send(json.dumps(prompt(session_id, "hi", number)))
            answer = (await receive(socket, number))[-1]
            assert answer["result"] == {"stopReason": "end_turn"}


async def agent_waits(server: ServeProcess) -> None:
    """Wait until the process grows no more, while others are served."""
    async with asyncio.timeout(HANG_SECONDS):
        grew = True
        while grew:
            before = server.memory_bytes
            await others_are_served(server)
            grew = server.memory_bytes > before + MIB


async def test_a_websocket_that_is_not_read_holds_little() -> None:
    with serve_process() as server:
        url = f"ws://127.0.0.1:{server.port}/acp"
        # The client takes a few messages and then nothing more, until it is asked to.
        async with connect(url, compression=None, max_queue=4, ping_interval=None) as socket:
            session_id = await new_session(socket)
            before = server.memory_bytes
            await socket.send(json.dumps(prompt(session_id, f"flood {CHUNKS}")))
            await agent_waits(server)
            assert server.memory_bytes - before < GROWTH_BYTES_MAX
            async with asyncio.timeout(HANG_SECONDS):
                assert chunks_in(await receive(socket, 2)) == CHUNKS


def chunks_in(messages: list[Any]) -> int:
    """How many chunks were said, though several may have come as one."""
    updates = (message.get("params", {}).get("update", {}) for message in messages)
    return sum(
        update["content"]["text"].count(":")
        for update in updates
        if update.get("sessionUpdate") == "agent_message_chunk"
    )


@pytest.mark.parametrize("version", ["HTTP/1.1", "HTTP/2"])
async def test_a_stream_that_is_not_read_holds_little(version: str) -> None:
    with serve_process() as server:
        client = RawHttp2Client(server.port)
        await client.initialize()
        async with client.stream() as connection:
            await client.post(NEW_SESSION)
            session_id = (await connection.until(1))[-1]["result"]["sessionId"]
        header = {"acp-session-id": session_id}
        async with AsyncExitStack() as stack:
            if version == "HTTP/1.1":
                read_until = (await stack.enter_async_context(client.stream(header))).until
            else:
                unread = await stack.enter_async_context(client.unread_stream(header))
                read_until = unread.messages_until
            before = server.memory_bytes
            await client.post(prompt(session_id, f"flood {CHUNKS}"), header)
            await agent_waits(server)
            assert server.memory_bytes - before < GROWTH_BYTES_MAX
            async with asyncio.timeout(HANG_SECONDS):
                assert chunks_in(await read_until(2)) == CHUNKS


async def test_a_client_that_is_away_holds_little_and_misses_nothing() -> None:
    """Issue 16: a half-open connection; what waits for its client has a bound."""
    with serve_process() as server:
        url = f"ws://127.0.0.1:{server.port}/acp"
        async with connect(f"{url}?accord-resume=new", compression=None) as socket:
            said = json.loads(await socket.recv())["params"]
            session_id = await new_session(socket)
            before = server.memory_bytes
            await socket.send(json.dumps(prompt(session_id, f"flood {CHUNKS}")))
            await socket.recv()
            socket.transport.abort()
        await agent_waits(server)
        assert server.memory_bytes - before < GROWTH_BYTES_MAX
        back = f"{url}?accord-resume={said['connectionId']}&accord-received=2"
        async with connect(back, compression=None, max_queue=4) as socket:
            said = taken = 0
            count = 2
            async with asyncio.timeout(HANG_SECONDS):
                async for text in socket:
                    message = json.loads(text)
                    if message.get("method", "").startswith("_accord/"):
                        continue
                    count += 1
                    taken += len(text)
                    if count % 100 == 0 or taken > MIB:
                        taken = 0
                        told = {"jsonrpc": "2.0", "method": "_accord/received"}
                        await socket.send(json.dumps({**told, "params": {"count": count}}))
                    said += chunks_in([message])
                    if message.get("id") == 2:
                        break
            assert said == CHUNKS


async def test_a_client_that_acknowledges_nothing_makes_the_server_wait() -> None:
    """Issue 16: what may be asked for again is not dropped while its client is there."""
    async with serving() as served:
        url = f"ws://127.0.0.1:{served.port}/acp"
        async with connect(f"{url}?accord-resume=new", compression=None, max_size=None) as socket:
            said = json.loads(await socket.recv())["params"]
            session_id = await new_session(socket)
            await socket.send(json.dumps(prompt(session_id, "flood 20000")))
            taken = 0
            # All that is kept was sent, and is held by this client; then nothing comes.
            while taken < 7 * MIB:
                taken += len(await socket.recv())
            (transport,) = served.application.connections._open.values()
            assert isinstance(transport, WebSocketServerTransport)
            assert transport._resume is not None
            assert transport._resume.sent.gone_count == 0
            socket.transport.abort()
        back = f"{url}?accord-resume={said['connectionId']}&accord-received=2"
        async with connect(back, compression=None, max_size=None) as socket:
            assert json.loads(await socket.recv())["method"] == "_accord/connection"


@pytest.mark.parametrize("opens_stream", [False, True])
async def test_a_client_that_never_reads_is_given_up(opens_stream: bool) -> None:
    # Comments that keep an idle stream alive are not taken for reading.
    limits = RemoteLimits(stall_seconds=0.05, keep_alive_seconds=0.01)
    async with serving(limits=limits) as served:
        client = RawClient(served.port)
        await client.initialize()
        async with client.stream() as connection:
            await client.post(NEW_SESSION)
            session_id = (await connection.until(1))[-1]["result"]["sessionId"]
            header = {"acp-session-id": session_id}
            async with client.stream(header if opens_stream else None):
                await client.post(prompt(session_id, f"flood {CHUNKS}"), header)
                async with asyncio.timeout(HANG_SECONDS):
                    while served.open_connections:
                        await asyncio.sleep(0)
