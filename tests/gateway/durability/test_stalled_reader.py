"""A client that does not read: it costs little, others notice nothing, and nothing is lost."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, Protocol

import pytest
from websockets.asyncio.client import ClientConnection, connect

from tests.gateway.durability.gateway_process import GatewayProcess
from tests.gateway.durability.gateway_program import TOKEN
from tests.gateway.durability.talkers import Talker
from tests.hang_limit import HANG_SECONDS
from tests.transport.server.raw_http import INITIALIZE, NEW_SESSION, prompt

MIB = 1024 * 1024
# Less than makes the log be compacted, and much more than may be held.
COUNT, SIZE = 7_000, 8 * 1024
GROWTH_BYTES_MAX = 64 * MIB
AUTHORIZATION = {"authorization": f"Bearer {TOKEN}"}
_NUMBER = re.compile(r"flood\.(\d+) ")


@pytest.fixture
def anyio_backend() -> str:
    """Servers run on asyncio."""
    return "asyncio"


class Stalled(Protocol):
    """A client that reads when it is told to."""

    async def message(self) -> dict[str, Any]:
        """The next message."""
        ...


class StalledSocket:
    def __init__(self, socket: ClientConnection) -> None:
        self._socket = socket

    async def message(self) -> dict[str, Any]:
        read: dict[str, Any] = json.loads(await self._socket.recv())
        return read

    async def answer(self, request_id: int) -> Any:
        while (message := await self.message()).get("id") != request_id:
            pass
        return message["result"]


@asynccontextmanager
async def over_websocket(port: int) -> AsyncGenerator[tuple[str, Stalled]]:
    """A session, and a client of it that has asked for a flood and reads nothing."""
    url = f"ws://127.0.0.1:{port}/acp"
    async with connect(
        url, compression=None, max_queue=4, ping_interval=None, additional_headers=AUTHORIZATION
    ) as socket:
        stalled = StalledSocket(socket)
        await socket.send(json.dumps(INITIALIZE))
        await stalled.answer(0)
        await socket.send(json.dumps(NEW_SESSION))
        session_id = (await stalled.answer(1))["sessionId"]
        await socket.send(json.dumps(prompt(session_id, f"flood {COUNT} {SIZE}")))
        yield session_id, stalled


@pytest.mark.slow
async def test_a_client_that_does_not_read_holds_little(tmp_path: Path) -> None:
    """Issue 17: far less than 64 MiB, others unaffected; it misses nothing when it reads again."""
    gateway = GatewayProcess(tmp_path)
    await gateway.start()
    most = 0

    def look() -> None:
        nonlocal most
        most = max(most, gateway.memory_bytes)

    try:
        async with asyncio.timeout(HANG_SECONDS):
            async with over_websocket(gateway.port) as (session_id, stalled):
                before = gateway.memory_bytes
                other = Talker("other", "ws", 1, "v1", lambda: None)
                along = Talker("along", "ws", 1, "v1", lambda: None, session_id)
                # While the flood is on its way to somebody who reads along.
                async with (
                    other.connected(gateway.port) as (_, mine),
                    along.connected(gateway.port) as (_, same),
                ):
                    while f"flood.{COUNT - 1} " not in last_text(same):
                        look()
                        assert (await other.ask(mine, 4)).error is None
                look()
                assert most - before < GROWTH_BYTES_MAX, (most - before) // MIB
                numbers: list[int] = []
                while (message := await stalled.message()).get("id") != 2:
                    text = message.get("params", {}).get("update", {}).get("content", {})
                    numbers += map(int, _NUMBER.findall(text.get("text", "")))
                assert numbers == list(range(COUNT))
                assert message["result"] == {"stopReason": "end_turn"}
    finally:
        await gateway.kill()


def last_text(session: Any) -> str:
    """The end of what a session shows."""
    messages = session.transcript.messages
    text: str = messages[-1].text if messages else ""
    return text[-2 * SIZE :]
