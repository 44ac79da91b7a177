"""An agent that stops reading for a while: its client waits, and then goes on."""

from __future__ import annotations

import asyncio

import anyio
import pytest

from accord import RemoteLimits
from accord.transport.http.message_routes import read_keys
from accord.transport.server.http_transport import HttpServerTransport, Message
from accord.transport.server.server_transport import ServerTransport
from accord.transport.server.websocket.socket_transport import WebSocketServerTransport
from accord.transport.transport import Ended
from tests.hang_limit import HANG_SECONDS

pytestmark = pytest.mark.anyio

INITIALIZE = b'{"jsonrpc":"2.0","id":1,"method":"initialize","params":{}}'
NEW = b'{"jsonrpc":"2.0","id":2,"method":"session/new","params":{}}'


class StoppingReceiver:
    """Stops reading with every message."""

    def __init__(self, transport: ServerTransport) -> None:
        self._transport = transport
        self.stopped = asyncio.Event()

    def data_received(self, data: bytes) -> None:
        self._transport.pause()
        self.stopped.set()

    def ended(self, why: Ended) -> None: ...


class CountingSocket:
    """Counts how often it is told to read on."""

    def __init__(self) -> None:
        self.reads = 0

    def wake(self) -> None: ...

    def read_again(self) -> None:
        self.reads += 1

    def detach(self, code: int, reason: str) -> None: ...


async def test_a_post_is_answered_when_the_agent_reads_again() -> None:
    """Ours: also if no other message has come meanwhile."""
    transport = HttpServerTransport("c", "", RemoteLimits(), resumes=True)
    receiver = StoppingReceiver(transport)
    async with asyncio.timeout(HANG_SECONDS), anyio.create_task_group() as tasks:
        await transport.start(receiver, tasks)
        message = Message(NEW, read_keys(NEW), None)
        post = asyncio.create_task(transport.accept_numbered(1, message, len(NEW)))
        await receiver.stopped.wait()
        transport.resume()
        assert await post


async def test_a_socket_reads_on_when_the_agent_reads_again() -> None:
    """Ours: also if nothing waits for the agent or for the client."""
    transport = WebSocketServerTransport("c", "", RemoteLimits(), resumes=False)
    socket = CountingSocket()
    async with anyio.create_task_group() as tasks:
        await transport.start(StoppingReceiver(transport), tasks)
        assert transport.attach(socket)
        transport.frame_received(INITIALIZE)
        assert not transport.reads
        transport.resume()
        assert (transport.reads, socket.reads) == (True, 1)
        transport.end(Ended("over"))
