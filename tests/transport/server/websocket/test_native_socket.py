"""A WebSocket on the event loop: what it reads and writes, with a transport that is a test's."""

from __future__ import annotations

import asyncio

import anyio
import pytest
from anyio.abc import TaskGroup
from websockets.asyncio.client import connect
from websockets.frames import Frame, Opcode

from accord import RemoteApplication, RemoteLimits, RemoteServer
from accord.transport.server.websocket.native_socket import UNTAKEN_BYTES_MAX, NativeSocket
from accord.transport.server.websocket.socket_transport import WebSocketServerTransport
from accord.transport.transport import Ended, Transport
from tests.hang_limit import HANG_SECONDS
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


class Starting:
    """Starts a task for whatever comes, which needs anyio in the callback itself."""

    def __init__(self, transport: Transport, tasks: TaskGroup) -> None:
        self._transport = transport
        self._tasks = tasks
        self.has_begun = anyio.Event()
        self.has_ended = anyio.Event()

    def data_received(self, data: bytes) -> None:
        if not self.has_begun.is_set():
            self._transport.pause()
            self.has_begun.set()
        self._tasks.start_soon(self._answer, data)

    async def _answer(self, data: bytes) -> None:
        self._transport.write(data)

    def ended(self, why: Ended) -> None:
        self.has_ended.set()


async def test_what_comes_after_a_pause_is_read_where_anyio_finds_its_event_loop() -> None:
    """Ours: a task that resumed left its own context to the callbacks after it."""

    async def serve(transport: Transport, principal: str) -> None:
        async with anyio.create_task_group() as tasks:
            receiver = Starting(transport, tasks)
            await transport.start(receiver, tasks)
            await receiver.has_begun.wait()
            transport.resume()
            await receiver.has_ended.wait()

    initialize = '{"jsonrpc":"2.0","id":0,"method":"initialize","params":{}}'
    more = '{"jsonrpc":"2.0","method":"_test/more"}'
    with anyio.fail_after(HANG_SECONDS):
        async with (
            RemoteServer(RemoteApplication(serve)) as server,
            connect(f"ws://127.0.0.1:{server.port}/acp", compression=None) as socket,
        ):
            for message in (initialize, more, more):
                await socket.send(message)
                assert await socket.recv() == message
