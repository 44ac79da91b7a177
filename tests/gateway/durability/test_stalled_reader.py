"""A client that does not read: it costs little, others notice nothing, and nothing is lost."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import AsyncGenerator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from functools import partial
from pathlib import Path
from typing import Any, Final, Protocol

import pytest
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed

from accord.gateway.application import path_of
from accord.gateway.sessions.session_past import CUT
from tests.gateway.durability.gateway_process import GatewayProcess
from tests.gateway.durability.gateway_program import TOKEN
from tests.gateway.durability.talkers import Talker
from tests.hang_limit import HANG_SECONDS
from tests.transport.server.raw_http import INITIALIZE, NEW_SESSION, EventStream, prompt
from tests.transport.server.raw_http2 import Http2Exchange, RawHttp2Client

MIB = 1024 * 1024
# What is said in one turn.
COUNT, SIZE = 1_000, 8 * 1024
# Much more than may be held: less than makes the log be compacted, and more than a log may have.
WAITS, COMPACTED = 7, 14
GROWTH_BYTES_MAX = 64 * MIB
AUTHORIZATION = {"authorization": f"Bearer {TOKEN}"}
_SAID = re.compile(r"(turn\d+)\.(\d+) ")


@pytest.fixture
def anyio_backend() -> str:
    """Servers run on asyncio."""
    return "asyncio"


class ConnectionOver(Exception):
    """The server ended the connection."""


class Reader(Protocol):
    """A client that reads when it is told to."""

    async def message(self) -> dict[str, Any]:
        """The next message.

        Raises:
            ConnectionOver: there will be none.
        """
        ...


class Socket:
    """A client over WebSocket."""

    def __init__(self, socket: ClientConnection) -> None:
        self._socket = socket

    async def message(self) -> dict[str, Any]:
        try:
            read: dict[str, Any] = json.loads(await self._socket.recv())
        except ConnectionClosed as error:
            raise ConnectionOver from error
        return read

    async def ask(self, message: dict[str, Any]) -> Any:
        """Send a request and return its result."""
        await self._socket.send(json.dumps(message))
        while (answer := await self.message()).get("id") != message["id"]:
            pass
        return answer["result"]

    async def say(self, message: dict[str, Any]) -> None:
        await self._socket.send(json.dumps(message))


class Stream:
    """A client over HTTP/1.1."""

    def __init__(self, stream: EventStream) -> None:
        self._stream = stream

    async def message(self) -> dict[str, Any]:
        try:
            return await self._stream.message()
        except (EOFError, asyncio.IncompleteReadError) as error:
            raise ConnectionOver from error


class Http2Stream:
    """A client over HTTP/2, whose window fills up."""

    def __init__(self, exchange: Http2Exchange) -> None:
        self._exchange = exchange

    async def message(self) -> dict[str, Any]:
        message = await self._exchange.next_message()
        if message is None:
            raise ConnectionOver
        return message


@asynccontextmanager
async def socket_to(port: int, **options: Any) -> AsyncGenerator[Socket]:
    """Connect over WebSocket."""
    url = f"ws://127.0.0.1:{port}{path_of('v1')}"
    async with connect(url, compression=None, additional_headers=AUTHORIZATION, **options) as one:
        socket = Socket(one)
        await socket.ask(INITIALIZE)
        yield socket


@asynccontextmanager
async def over_websocket(port: int) -> AsyncGenerator[tuple[str, Reader]]:
    async with socket_to(port, max_queue=4, ping_interval=None) as socket:
        session_id = (await socket.ask(NEW_SESSION))["sessionId"]
        await socket.say(prompt(session_id, turn_text(0)))
        yield session_id, socket


@asynccontextmanager
async def over_http(version: int, port: int) -> AsyncGenerator[tuple[str, Reader]]:
    client = RawHttp2Client(port, dict(AUTHORIZATION), path_of("v1"))
    await client.initialize()
    async with client.stream() as own:
        await client.post(NEW_SESSION)
        session_id = (await own.until(1))[-1]["result"]["sessionId"]
        header = {"acp-session-id": session_id}
        if version == 1:
            async with client.stream(header) as stream:
                await client.post(prompt(session_id, turn_text(0)), header)
                yield session_id, Stream(stream)
        else:
            async with client.unread_stream(header) as exchange:
                await client.post(prompt(session_id, turn_text(0)), header)
                yield session_id, Http2Stream(exchange)


Opening = Callable[[int], AbstractAsyncContextManager[tuple[str, Reader]]]
OPENINGS: Final[dict[str, Opening]] = {
    "WebSocket": over_websocket,
    "HTTP/1.1": partial(over_http, 1),
    "HTTP/2": partial(over_http, 2),
}


def turn_text(number: int) -> str:
    """A prompt that is answered by a flood."""
    return f"turn{number} {COUNT} {SIZE}"


def said_in(messages: list[dict[str, Any]]) -> list[tuple[str, int]]:
    """The numbers of the chunks, with the names of their turns."""
    contents = (one.get("params", {}).get("update", {}).get("content", {}) for one in messages)
    text = "".join(one.get("text", "") for one in contents if isinstance(one, dict))
    return [(name, int(number)) for name, number in _SAID.findall(text)]


def everything(turns: int) -> list[tuple[str, int]]:
    """What was said in so many turns."""
    return [(f"turn{turn}", number) for turn in range(turns) for number in range(COUNT)]


async def read_until_last(stalled: Reader, turns: int) -> list[dict[str, Any]]:
    """Read all, up to the last chunk."""
    last = f"turn{turns - 1}.{COUNT - 1} "
    read = [await stalled.message()]
    while last not in json.dumps(read[-1])[:400]:
        read.append(await stalled.message())
    return read


async def read_until_over(stalled: Reader) -> list[dict[str, Any]]:
    """Read all, up to the end of the connection."""
    read: list[dict[str, Any]] = []
    try:
        while True:
            read.append(await stalled.message())
    except ConnectionOver:
        return read


@pytest.mark.slow
@pytest.mark.parametrize(
    ("way", "turns"),
    [
        ("WebSocket", WAITS),
        ("WebSocket", COMPACTED),
        ("HTTP/1.1", COMPACTED),
        ("HTTP/2", WAITS),
    ],
)
async def test_a_client_that_does_not_read_holds_little(
    tmp_path: Path, way: str, turns: int
) -> None:
    """Issue 17: far less than 64 MiB, others unaffected; it misses nothing when it reads again.

    Where the log was compacted it has to come back, and what is too old is gone for everybody.
    """
    gateway = GatewayProcess(tmp_path)
    await gateway.start()
    most = 0
    try:
        async with asyncio.timeout(HANG_SECONDS), OPENINGS[way](gateway.port) as (name, stalled):
            before = gateway.memory_bytes
            other = Talker("other", "ws", 1, "v1", lambda: None)
            # The prompts come from somebody who reads along.
            async with other.connected(gateway.port) as (_, mine), socket_to(gateway.port) as along:
                load = {"sessionId": name, "cwd": "/", "mcpServers": []}
                await along.ask({**NEW_SESSION, "method": "session/load", "params": load})
                for turn in range(1, turns):
                    await along.ask(prompt(name, turn_text(turn), 100 + turn))
                    assert (await other.ask(mine, 4)).error is None
                    most = max(most, gateway.memory_bytes)
            assert most - before < GROWTH_BYTES_MAX, (most - before) // MIB
            if turns == WAITS:
                read = await read_until_last(stalled, turns)
                assert said_in(read) == everything(turns)
                # Its own prompt was the first one.
                answers = [at for at, one in enumerate(read) if one.get("id") == 2]
                assert len(answers) == 1
                assert len(said_in(read[: answers[0]])) == COUNT
            else:
                await is_cut_and_comes_back(gateway, name, stalled, turns)
    finally:
        await gateway.kill()


async def is_cut_and_comes_back(
    gateway: GatewayProcess, session_id: str, stalled: Reader, turns: int
) -> None:
    """It gets what was on its way, and no answer too early; then everything that there still is."""
    read = await read_until_over(stalled)
    assert said_in(read) == everything(turns)[: len(said_in(read))]
    # The answer to its own prompt comes behind the first turn.
    assert len(said_in(read)) >= COUNT or not any(one.get("id") == 2 for one in read)
    before = gateway.memory_bytes
    late = Talker("late", "ws", 1, "v1", lambda: None, session_id)
    async with late.connected(gateway.port) as (_, whole):
        shown = "".join(one.text for one in whole.transcript.messages)
    assert CUT in shown
    found = [(name, int(number)) for name, number in _SAID.findall(shown)]
    assert found == everything(turns)[-len(found) :]
    assert gateway.memory_bytes - before < GROWTH_BYTES_MAX
