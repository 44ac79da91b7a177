"""A WebSocket whose connection another socket carries now: it adds nothing, and ends nothing."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable
from random import Random
from typing import Any

import anyio
import pytest

from accord import RemoteLimits
from accord.transport.resume.extension_messages import TAKEN_OVER
from accord.transport.server.server_transport import LIMIT_EXCEEDED
from accord.transport.server.websocket.asgi_socket import AsgiSocket
from accord.transport.server.websocket.native_socket import NativeSocket
from accord.transport.server.websocket.socket_transport import WebSocketServerTransport
from accord.transport.transport import Ended
from tests.simulation.runtime.loop import SeededLoop

INITIALIZE = '{"jsonrpc":"2.0","id":1,"method":"initialize","params":{}}'
NEW_SESSION = '{"jsonrpc":"2.0","id":2,"method":"session/new","params":{}}'
LIMITS = RemoteLimits()


class Collector:
    """What the agent's connection is told."""

    def __init__(self) -> None:
        self.received: list[Any] = []
        self.ends: list[Ended] = []

    def data_received(self, data: bytes) -> None:
        self.received.append(json.loads(data)["id"])

    def ended(self, why: Ended) -> None:
        self.ends.append(why)


class PlayedClient:
    """A client of an ASGI server, which takes frames or does not."""

    def __init__(self, *, is_stuck: bool = False) -> None:
        self._is_stuck = is_stuck
        self._said: asyncio.Queue[Any] = asyncio.Queue()
        self.taken: list[Any] = []

    def say(self, text: str) -> None:
        self._said.put_nowait({"type": "websocket.receive", "text": text})

    def leave(self) -> None:
        self._said.put_nowait({"type": "websocket.disconnect", "code": 1006})

    async def receive(self) -> Any:
        return await self._said.get()

    async def send(self, message: Any) -> None:
        if self._is_stuck:
            await asyncio.Event().wait()
        self.taken.append(message.get("text"))


Check = Callable[[WebSocketServerTransport, Collector], Awaitable[None]]


def run(check: Check) -> None:
    """Check a connection on a loop whose time passes without waiting."""

    async def main() -> None:
        transport = WebSocketServerTransport("c", "someone", LIMITS, resumes=True)
        collector = Collector()
        async with anyio.create_task_group() as tasks:
            await transport.start(collector, tasks)
            transport.frame_received(INITIALIZE.encode())
            await check(transport, collector)
        transport.end(Ended("over", clean=True))

    loop = SeededLoop(Random(1), "fifo")
    try:
        loop.run_until_complete(main())
    finally:
        loop.over = True
        loop.close()


def carry(transport: WebSocketServerTransport, client: PlayedClient) -> asyncio.Task[None]:
    """Let the socket of a client carry the connection."""
    socket = AsgiSocket(transport)
    assert transport.attach(socket)
    return asyncio.ensure_future(socket.run(client.receive, client.send))


def test_a_client_that_takes_nothing_is_lost() -> None:
    """Ours: as long as the socket is its only one."""

    async def check(transport: WebSocketServerTransport, collector: Collector) -> None:
        stuck = carry(transport, PlayedClient(is_stuck=True))
        await asyncio.sleep(LIMITS.stall_seconds + 1)
        assert stuck.done()
        assert "read nothing" in collector.ends[0].reason

    run(check)


def test_a_client_that_came_back_is_not_lost_with_its_old_socket() -> None:
    """Ours: it has noticed that the old one was dead, and the server has not."""

    async def check(transport: WebSocketServerTransport, collector: Collector) -> None:
        transport.write(b"hello\n")
        stuck = carry(transport, PlayedClient(is_stuck=True))
        await asyncio.sleep(LIMITS.silence_seconds)
        client = PlayedClient()
        carried = carry(transport, client)
        await asyncio.sleep(2 * LIMITS.stall_seconds)
        assert stuck.done()
        assert not transport.is_over
        assert "hello" in client.taken
        client.leave()
        await carried

    run(check)


def test_what_comes_late_on_an_old_socket_is_dropped() -> None:
    """Ours: the client sends it again on the new one, and the agent must not see it twice."""

    async def check(transport: WebSocketServerTransport, collector: Collector) -> None:
        old, new = PlayedClient(is_stuck=True), PlayedClient()
        stuck = carry(transport, old)
        await asyncio.sleep(1)
        carried = carry(transport, new)
        old.say(NEW_SESSION)
        await asyncio.sleep(1)
        new.say(NEW_SESSION)
        await asyncio.sleep(1)
        assert collector.received == [1, 2]
        old.leave()
        new.leave()
        await carried
        await stuck

    run(check)


def test_frames_wait_for_a_client_that_has_left() -> None:
    """Ours: what is given to a socket without a client counts as sent, and may be dropped."""

    async def check(transport: WebSocketServerTransport, collector: Collector) -> None:
        client = PlayedClient()
        carried = carry(transport, client)
        await asyncio.sleep(1)
        client.leave()
        client.taken.clear()
        asyncio.get_running_loop().call_soon(transport.write, b"hello\n")
        await carried
        assert not client.taken
        assert transport.unsent_bytes == len(b"hello")

    run(check)


class FullTransport(asyncio.Transport):
    """A TCP connection whose other side is gone, and which does not know it."""

    def write(self, data: bytes | bytearray | memoryview) -> None:
        pass

    def get_write_buffer_size(self) -> int:
        return 1

    def is_closing(self) -> bool:
        return False

    def resume_reading(self) -> None:
        pass

    def abort(self) -> None:
        pass


@pytest.mark.parametrize("is_taken_over", [False, True])
def test_our_own_socket_loses_only_its_own_connection(is_taken_over: bool) -> None:
    """Ours: a socket that is closed slowly may find out that its client took nothing."""

    async def check(transport: WebSocketServerTransport, collector: Collector) -> None:
        socket = NativeSocket(transport, FullTransport())
        assert transport.attach(socket)
        socket.pause_writing()
        await asyncio.sleep(LIMITS.stall_seconds - 1)
        client = PlayedClient()
        carried = carry(transport, client) if is_taken_over else None
        await asyncio.sleep(2)
        assert transport.is_over is not is_taken_over
        if carried is not None:
            client.leave()
            await carried
        socket.connection_lost(None)

    run(check)


def test_a_socket_that_is_taken_over_is_told_so() -> None:
    """Ours: a client that uses one connection twice can see why its first socket was closed."""

    async def check(transport: WebSocketServerTransport, collector: Collector) -> None:
        closed: list[Any] = []
        client = PlayedClient()

        async def send(message: Any) -> None:
            if message["type"] == "websocket.close":
                closed.append((message["code"], message["reason"]))

        socket = AsgiSocket(transport)
        assert transport.attach(socket)
        first = asyncio.ensure_future(socket.run(client.receive, send))
        second = carry(transport, client)
        await first
        assert closed == [(LIMIT_EXCEEDED, TAKEN_OVER)]
        client.leave()
        await second

    run(check)
