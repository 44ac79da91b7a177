"""Versions 1 and 2 and the 2026-02 draft over HTTP and WebSocket, alike."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import pytest
from websockets.asyncio.client import connect

from tests.agent.draft.draft_client import hello
from tests.hang_limit import HANG_SECONDS
from tests.transport.server.raw_http import Json, RawClient
from tests.transport.server.served_agent import serving

pytestmark = pytest.mark.anyio

TEXT = [{"type": "text", "text": "hi there"}]


@dataclass(frozen=True)
class Words:
    """How a version says what is said here."""

    initialize: Mapping[str, Any]
    new: Mapping[str, Any]
    prompt_key: str


VERSIONS = {
    "v1": Words(
        {"protocolVersion": 1, "clientCapabilities": {}},
        {"cwd": "/tmp", "mcpServers": []},
        "prompt",
    ),
    "v2": Words(
        {"protocolVersion": 2, "info": {"name": "test", "version": "1"}, "capabilities": {}},
        {"cwd": "/tmp", "mcpServers": []},
        "prompt",
    ),
    "draft": Words(hello(), {"workingDirectory": "/tmp"}, "content"),
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


@pytest.mark.parametrize("words", VERSIONS.values(), ids=VERSIONS)
async def test_a_prompt_over_websocket(words: Words) -> None:
    async with serving() as served, asyncio.timeout(HANG_SECONDS):
        url = f"ws://127.0.0.1:{served.port}/acp"
        async with connect(url, compression=None) as socket:

            async def ask(asked: Json) -> Json:
                await socket.send(json.dumps(asked))
                while (answer := json.loads(await socket.recv())).get("id") != asked["id"]:
                    seen.append(answer)
                found: Json = answer["result"]
                return found

            seen: list[Json] = []
            await ask(message(0, "initialize", words.initialize))
            session_id = (await ask(message(1, "session/new", words.new)))["sessionId"]
            params = {"sessionId": session_id, words.prompt_key: TEXT}
            await ask(message(2, "session/prompt", params))
            while "hi there" not in json.dumps(seen):
                seen.append(json.loads(await socket.recv()))
