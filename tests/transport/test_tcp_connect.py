"""Connecting to a server by any of its addresses."""

from __future__ import annotations

import gc
import itertools
import socket
import ssl
from pathlib import Path
from typing import Any

import anyio
import pytest
from anyio.abc import ByteStream, SocketAttribute
from anyio.streams.tls import TLSListener

from accord.transport import tcp_connect
from accord.transport.http.connections.socket_stream import open_stream
from accord.transport.remote_address import parse_address
from accord.transport.tcp_connect import connect_socket
from tests.hang_limit import HANG_SECONDS
from tests.machine.certificates import make_certificate

SERVER = parse_address("https://localhost/acp")


def listening(backlog: int = 8) -> socket.socket:
    sock = socket.create_server(("127.0.0.1", 0), backlog=backlog)
    sock.setblocking(False)
    return sock


def at(monkeypatch: pytest.MonkeyPatch, *found: socket.socket) -> None:
    """Give every host the addresses of these sockets."""

    async def getaddrinfo(*_: object, **__: object) -> list[tuple[object, ...]]:
        await anyio.lowlevel.checkpoint()
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", one.getsockname()) for one in found]

    monkeypatch.setattr(anyio, "getaddrinfo", getaddrinfo)


async def test_an_address_that_refuses_or_says_nothing_is_left_for_the_next(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Issue 16: a host may have an address that nobody serves, or that a firewall drops."""
    monkeypatch.setattr(tcp_connect, "ADDRESS_SECONDS_MAX", 0.05)
    closed = listening()
    closed.close()
    refusing = socket.socket()
    refusing.bind(("127.0.0.1", 0))
    with (
        refusing,
        listening(0) as silent,
        listening() as server,
        # Takes the only place in the queue.
        socket.create_connection(silent.getsockname()),
    ):
        at(monkeypatch, refusing, silent, server)
        with anyio.fail_after(HANG_SECONDS), await connect_socket(SERVER) as sock:
            assert sock.getpeername() == server.getsockname()
        at(monkeypatch, silent, refusing)
        with pytest.raises(ConnectionRefusedError):
            await connect_socket(SERVER)
    at(monkeypatch)
    with pytest.raises(OSError, match="no address"):
        await connect_socket(SERVER)


@pytest.mark.parametrize("kind", ["tcp", "tls"])
async def test_an_attempt_that_is_cancelled_at_any_await_leaves_no_socket(
    kind: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Ours: a socket that is left open is a warning, which fails a test."""
    client_tls: ssl.SSLContext | None = None
    refusing = socket.socket()
    refusing.bind(("127.0.0.1", 0))
    listener: Any = await anyio.create_tcp_listener(local_host="127.0.0.1")
    at(monkeypatch, refusing, listener.extra(SocketAttribute.raw_socket))
    if kind == "tls":
        certificate = make_certificate(tmp_path)
        client_tls = certificate.client_context()
        tls = certificate.server_context()
        listener = TLSListener(listener, tls, standard_compatible=False)

    async def serve(stream: ByteStream) -> None:
        async with stream:
            await anyio.sleep_forever()

    async def cancel_after(steps: int, scope: anyio.CancelScope) -> None:
        for _ in range(steps):
            await anyio.lowlevel.checkpoint()
        scope.cancel()

    with anyio.fail_after(HANG_SECONDS), refusing:
        async with listener, anyio.create_task_group() as tasks:
            tasks.start_soon(listener.serve, serve)
            for steps in itertools.count():
                with anyio.CancelScope() as scope:
                    tasks.start_soon(cancel_after, steps, scope)
                    stream = await open_stream(SERVER, client_tls, tasks)
                    stream.close()
                if not scope.cancelled_caught:
                    break
            tasks.cancel_scope.cancel()
    assert steps > 1
    gc.collect()
