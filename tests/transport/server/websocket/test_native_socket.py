"""A WebSocket on the event loop: what it reads and writes, with a transport that is a test's."""

from __future__ import annotations

import asyncio

import anyio
import pytest
from websockets.frames import Frame, Opcode

from accord import RemoteLimits
from accord.transport.server.websocket.native_socket import UNTAKEN_BYTES_MAX, NativeSocket
from accord.transport.server.websocket.socket_transport import WebSocketServerTransport
from tests.transport.collector import Collecting

pytestmark = pytest.mark.anyio


class Untaken(asyncio.Transport):
    """Keeps what is written: its client takes nothing until it is told to."""

    def __init__(self) -> None:
        super().__init__()
        self.data = bytearray()
        self.is_read = True

    def write(self, data: bytes | bytearray | memoryview) -> None:
        self.data += data

    def get_write_buffer_size(self) -> int:
        return len(self.data)

    def pause_reading(self) -> None:
        self.is_read = False

    def resume_reading(self) -> None:
        self.is_read = True

    def may_send(self) -> bool:
        """Whether its client is read."""
        return self.is_read

    def is_closing(self) -> bool:
        return False

    def abort(self) -> None:
        pass


async def test_pings_whose_answers_nobody_takes_are_not_read_either() -> None:
    """Ours: every ping is answered, and the answers must not pile up."""
    transport = Untaken()
    connection = WebSocketServerTransport("id", "ann", RemoteLimits(), resumes=False)
    async with anyio.create_task_group() as tasks:
        await connection.start(Collecting(), tasks)
        socket = NativeSocket(connection, transport)
        connection.attach(socket)
        pings = Frame(Opcode.PING, b"x" * 125).serialize(mask=True) * 100
        while transport.may_send():
            socket.data_received(pings)
        assert UNTAKEN_BYTES_MAX < len(transport.data) < UNTAKEN_BYTES_MAX + 2 * len(pings)
        # The client reads again, and so is read again.
        transport.data.clear()
        socket.pause_writing()
        socket.resume_writing()
        assert transport.may_send()
        socket.connection_lost(None)
    assert connection.is_over
