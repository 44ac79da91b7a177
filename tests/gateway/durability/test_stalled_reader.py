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
from websockets.exceptions import ConnectionClosed

from accord.gateway.sessions.session_past import CUT
from tests.gateway.durability.gateway_process import GatewayProcess
from tests.gateway.durability.gateway_program import TOKEN
from tests.gateway.durability.talkers import Talker
from tests.hang_limit import HANG_SECONDS
from tests.transport.server.raw_http import INITIALIZE, NEW_SESSION, prompt

MIB = 1024 * 1024
SIZE = 8 * 1024
# Much more than may be held: less than makes the log be compacted, and more than a log may have.
WAITS, COMPACTED = 7_000, 15_000
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
async def over_websocket(port: int, count: int) -> AsyncGenerator[tuple[str, Stalled]]:
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
        await socket.send(json.dumps(prompt(session_id, f"flood {count} {SIZE}")))
        yield session_id, stalled


@pytest.mark.slow
@pytest.mark.parametrize("count", [WAITS, COMPACTED])
async def test_a_client_that_does_not_read_holds_little(tmp_path: Path, count: int) -> None:
    """Issue 17: far less than 64 MiB, others unaffected; it misses nothing when it reads again.

    Beyond the bound of the log it has to come back, and what is too old is gone for everybody.
    """
    gateway = GatewayProcess(tmp_path)
    await gateway.start()
    most = 0

    def look() -> None:
        nonlocal most
        most = max(most, gateway.memory_bytes)

    try:
        async with asyncio.timeout(HANG_SECONDS):
            async with over_websocket(gateway.port, count) as (session_id, stalled):
                before = gateway.memory_bytes
                other = Talker("other", "ws", 1, "v1", lambda: None)
                along = Talker("along", "ws", 1, "v1", lambda: None, session_id)
                # While the flood is on its way to somebody who reads along.
                async with (
                    other.connected(gateway.port) as (_, mine),
                    along.connected(gateway.port) as (_, same),
                ):
                    while f"flood.{count - 1} " not in last_text(same):
                        look()
                        assert (await other.ask(mine, 4)).error is None
                look()
                assert most - before < GROWTH_BYTES_MAX, (most - before) // MIB
                if count == WAITS:
                    assert await numbers_of_the_turn(stalled) == list(range(count))
                else:
                    with pytest.raises(ConnectionClosed):
                        await numbers_of_the_turn(stalled)
                    before = gateway.memory_bytes
                    late = Talker("late", "ws", 1, "v1", lambda: None, session_id)
                    async with late.connected(gateway.port) as (_, whole):
                        shown = "".join(one.text for one in whole.transcript.messages)
                    assert CUT in shown
                    numbers = [int(number) for number in _NUMBER.findall(shown)]
                    assert numbers == list(range(numbers[0], count))
                    assert gateway.memory_bytes - before < GROWTH_BYTES_MAX
    finally:
        await gateway.kill()


async def numbers_of_the_turn(stalled: Stalled) -> list[int]:
    """What was said up to the answer to the prompt."""
    numbers: list[int] = []
    while (message := await stalled.message()).get("id") != 2:
        text = message.get("params", {}).get("update", {}).get("content", {})
        numbers += map(int, _NUMBER.findall(text.get("text", "")))
    assert message["result"] == {"stopReason": "end_turn"}
    return numbers


def last_text(session: Any) -> str:
    """The end of what a session shows."""
    messages = session.transcript.messages
    text: str = messages[-1].text if messages else ""
    return text[-2 * SIZE :]
