"""A client that does not read: it costs little, others notice nothing, and nothing is lost."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest
from websockets.asyncio.client import ClientConnection, connect

from accord import RemoteLimits
from tests.hang_limit import HANG_SECONDS
from tests.transport.server.raw_http import INITIALIZE, NEW_SESSION, RawClient, prompt
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


async def test_a_websocket_that_is_not_read_holds_little() -> None:
    with serve_process() as server:
        url = f"ws://127.0.0.1:{server.port}/acp"
        # The client takes a few messages and then nothing more, until it is asked to.
        async with connect(url, compression=None, max_queue=4, ping_interval=None) as socket:
            session_id = await new_session(socket)
            before = server.memory_bytes
            await socket.send(json.dumps(prompt(session_id, f"flood {CHUNKS}")))
            await others_are_served(server)
            assert server.memory_bytes - before < GROWTH_BYTES_MAX
            said = 0
            async with asyncio.timeout(HANG_SECONDS):
                for message in await receive(socket, 2):
                    update = message.get("params", {}).get("update", {})
                    if update.get("sessionUpdate") == "agent_message_chunk":
                        said += update["content"]["text"].count(":")
            assert said == CHUNKS


async def test_a_stream_that_is_not_read_holds_little() -> None:
    with serve_process() as server:
        client = RawClient(server.port)
        await client.initialize()
        async with client.stream() as connection:
            await client.post(NEW_SESSION)
            session_id = (await connection.until(1))[-1]["result"]["sessionId"]
        header = {"acp-session-id": session_id}
        async with client.stream(header) as session:
            before = server.memory_bytes
            await client.post(prompt(session_id, f"flood {CHUNKS}"), header)
            await others_are_served(server)
            assert server.memory_bytes - before < GROWTH_BYTES_MAX
            said = 0
            async with asyncio.timeout(HANG_SECONDS):
                for message in await session.until(2):
                    update = message.get("params", {}).get("update", {})
                    if update.get("sessionUpdate") == "agent_message_chunk":
                        said += update["content"]["text"].count(":")
            assert said == CHUNKS


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
