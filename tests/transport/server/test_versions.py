"""Versions 1 and 2 and the 2026-02 draft over HTTP and WebSocket, alike."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

import pytest
from websockets.asyncio.client import ClientConnection, connect

from accord import MemoryStore, bearer_tokens
from tests.agent.draft.draft_client import hello
from tests.hang_limit import HANG_SECONDS
from tests.transport.server.raw_http import Json, RawClient
from tests.transport.server.served_agent import Served, echo_agent, serving

pytestmark = pytest.mark.anyio

TEXT = [{"type": "text", "text": "hi there"}]


@dataclass(frozen=True)
class Words:
    """How a version says what is said here."""

    initialize: Mapping[str, Any]
    new: Mapping[str, Any]
    prompt_key: str
    load: str
    # What opens a session again, beside its id.
    loaded: Mapping[str, Any]


VERSIONS = {
    "v1": Words(
        {"protocolVersion": 1, "clientCapabilities": {}},
        {"cwd": "/tmp", "mcpServers": []},
        "prompt",
        "session/load",
        {"cwd": "/tmp", "mcpServers": []},
    ),
    "v2": Words(
        {"protocolVersion": 2, "info": {"name": "test", "version": "1"}, "capabilities": {}},
        {"cwd": "/tmp", "mcpServers": []},
        "prompt",
        "session/resume",
        {"cwd": "/tmp", "mcpServers": []},
    ),
    "draft": Words(hello(), {"workingDirectory": "/tmp"}, "content", "session/load", {}),
}


def message(number: int, method: str, params: Mapping[str, Any]) -> Json:
    return {"jsonrpc": "2.0", "id": number, "method": method, "params": dict(params)}


@pytest.mark.parametrize("words", VERSIONS.values(), ids=VERSIONS)
async def test_a_prompt_over_http(words: Words) -> None:
    async with serving() as served, asyncio.timeout(HANG_SECONDS):
        client = RawClient(served.port)
        first = await client.post(message(0, "initialize", words.initialize))
        client.headers["acp-connection-id"] = first.headers["acp-connection-id"]
        assert first.json["result"]["protocolVersion"] == words.initialize["protocolVersion"]
        async with client.stream() as connection:
            await client.post(message(1, "session/new", words.new))
            session_id = (await connection.until(1))[-1]["result"]["sessionId"]
            header = {"acp-session-id": session_id}
            async with client.stream(header) as session:
                params = {"sessionId": session_id, words.prompt_key: TEXT}
                assert (
                    await client.post(message(2, "session/prompt", params), header)
                ).status == 202
                seen = json.dumps(await session.until(2))
                while "hi there" not in seen:
                    seen += json.dumps(await session.message())


class Conversation:
    """A client over a WebSocket, and what it has seen beside its answers."""

    def __init__(self, socket: ClientConnection) -> None:
        self.socket = socket
        self.seen: list[Json] = []

    async def answer(self, asked: Json) -> Json:
        await self.socket.send(json.dumps(asked))
        while (answer := json.loads(await self.socket.recv())).get("id") != asked["id"]:
            self.seen.append(answer)
        found: Json = answer
        return found

    async def ask(self, asked: Json) -> Json:
        found: Json = (await self.answer(asked))["result"]
        return found

    async def told(self, text: str) -> None:
        while text not in json.dumps(self.seen):
            self.seen.append(json.loads(await self.socket.recv()))


@asynccontextmanager
async def talking(served: Served, token: str = "") -> AsyncIterator[Conversation]:
    headers = {"authorization": f"Bearer {token}"} if token else {}
    url = f"ws://127.0.0.1:{served.port}/acp"
    async with connect(url, compression=None, additional_headers=headers) as socket:
        yield Conversation(socket)


async def opened_session(client: Conversation, words: Words) -> str:
    """Make a session that has a turn."""
    await client.ask(message(0, "initialize", words.initialize))
    session_id: str = (await client.ask(message(1, "session/new", words.new)))["sessionId"]
    params = {"sessionId": session_id, words.prompt_key: TEXT}
    await client.ask(message(2, "session/prompt", params))
    await client.told("hi there")
    return session_id


@pytest.mark.parametrize("words", VERSIONS.values(), ids=VERSIONS)
async def test_a_prompt_over_websocket(words: Words) -> None:
    async with (
        serving() as served,
        asyncio.timeout(HANG_SECONDS),
        talking(served) as client,
    ):
        await opened_session(client, words)


@pytest.mark.rule("TR-HTTP-20")
@pytest.mark.parametrize("strangers", VERSIONS.values(), ids=VERSIONS)
@pytest.mark.parametrize("owners", VERSIONS.values(), ids=VERSIONS)
async def test_nobody_loads_a_session_of_another_user(owners: Words, strangers: Words) -> None:
    """Issue 16: whatever version either of them speaks."""
    agent = echo_agent(store=MemoryStore())
    auth = bearer_tokens({"token-of-ann": "ann", "token-of-bob": "bob"})
    async with serving(agent, auth=auth) as served, asyncio.timeout(HANG_SECONDS):
        async with talking(served, "token-of-ann") as ann:
            session_id = await opened_session(ann, owners)
            async with talking(served, "token-of-bob") as bob:
                await bob.ask(message(0, "initialize", strangers.initialize))
                params = {"sessionId": session_id, **strangers.loaded}
                refused = await bob.answer(message(1, strangers.load, params))
                assert refused["error"]["code"] in (-32000, -32002), refused
        async with talking(served, "token-of-ann") as again:
            await again.ask(message(0, "initialize", owners.initialize))
            params = {"sessionId": session_id, **owners.loaded}
            await again.ask(message(1, owners.load, params))
