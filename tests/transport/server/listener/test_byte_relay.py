"""A relayed connection ends when both sides have said their last, whoever says it first."""

from __future__ import annotations

import asyncio
import socket
from pathlib import Path

import pytest

from accord.transport.server.listener.byte_relay import relay
from tests.hang_limit import HANG_SECONDS


class Paused(asyncio.Protocol):
    """The protocol of a client's connection until it is relayed: nothing is read."""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        transport.pause_reading()


@pytest.mark.parametrize("client_is_first", [True, False])
async def test_both_ends_close_after_both_said_their_last(
    tmp_path: Path, client_is_first: bool
) -> None:
    """Operators: each request over HTTP/1.1 left its sockets open until none were left."""
    accepted: asyncio.Queue[tuple[asyncio.StreamReader, asyncio.StreamWriter]] = asyncio.Queue()

    async def accept(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await accepted.put((reader, writer))

    path = str(tmp_path / "s")
    over = asyncio.Event()
    near, far = socket.socketpair()
    async with asyncio.timeout(HANG_SECONDS):
        server = await asyncio.start_unix_server(accept, path)
        loop = asyncio.get_running_loop()
        transport, _ = await loop.connect_accepted_socket(Paused, near)
        assert isinstance(transport, asyncio.Transport)
        await relay(transport, b"asked", path, over.set)
        reader, writer = await accepted.get()
        client_reader, client_writer = await asyncio.open_connection(sock=far)
        assert await reader.readexactly(5) == b"asked"
        writers = (client_writer, writer) if client_is_first else (writer, client_writer)
        writers[0].write_eof()
        last = reader if client_is_first else client_reader
        assert await last.read() == b""
        # The other direction still works.
        writers[1].write(b"last words")
        writers[1].write_eof()
        assert await (client_reader if client_is_first else reader).read() == b"last words"
        await over.wait()
        assert transport.is_closing()
        for one in writers:
            one.close()
            await one.wait_closed()
        server.close()
        await server.wait_closed()
