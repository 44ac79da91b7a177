"""What the transports of a server promise to whoever waits for the agent's connection."""

from __future__ import annotations

import asyncio

import anyio

from accord.transport.http.message_routes import read_keys
from accord.transport.remote_limits import RemoteLimits
from accord.transport.server.http_transport import HttpServerTransport, Message
from accord.transport.transport import Ended
from tests.hang_limit import HANG_SECONDS

NOTICE = b'{"jsonrpc":"2.0","method":"_note"}'


class PausingReceiver:
    """A connection that stops reading at its first message, as a busy one does."""

    def __init__(self, transport: HttpServerTransport) -> None:
        self.transport = transport
        self.received = b""
        self.is_busy = asyncio.Event()

    def data_received(self, data: bytes) -> None:
        self.received += data
        self.transport.pause()
        self.is_busy.set()

    def ended(self, why: Ended) -> None:
        pass


async def test_a_post_is_answered_when_a_busy_connection_reads_on() -> None:
    """Clients: the thousandth request in a row was never answered, and everything stood still."""
    limits = RemoteLimits().checked()
    transport = HttpServerTransport("one", "user", limits, resumes=False)
    receiver = PausingReceiver(transport)
    async with asyncio.timeout(HANG_SECONDS), anyio.create_task_group() as tasks:
        await transport.start(receiver, tasks)
        post = asyncio.create_task(transport.accept(Message(NOTICE, read_keys(NOTICE), None)))
        await receiver.is_busy.wait()
        assert receiver.received == NOTICE + b"\n"
        transport.resume()
        await post
    transport.end(Ended("over", clean=True))
