"""What an idle connection costs the server: the bound that 10,000 of them need."""

from __future__ import annotations

import base64
import contextlib
import json
import os
import socket

import pytest

from tests.hang_limit import HANG_SECONDS
from tests.transport.server.raw_http import INITIALIZE
from tests.transport.server.serve_process import serve_process

# Enough to drown the noise of the first ones, and few enough for the usual limit of open files.
FIRST, MORE = 50, 400
# 13.7 KiB were measured with 10,000 of them; fewer share less.
BYTES_MAX = 17 * 1024


def idle_socket(port: int) -> socket.socket:
    """A WebSocket that has initialized, and says nothing more."""
    opened = socket.create_connection(("127.0.0.1", port), timeout=HANG_SECONDS)
    key = base64.b64encode(os.urandom(16)).decode()
    head = (
        f"GET /acp HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nUpgrade: websocket\r\n"
        f"Connection: Upgrade\r\nSec-WebSocket-Key: {key}\r\nSec-WebSocket-Version: 13\r\n\r\n"
    )
    opened.sendall(head.encode())
    assert b" 101 " in opened.recv(4096)
    text = json.dumps(INITIALIZE).encode()
    # A frame with a mask of zeros, and a length of two bytes.
    opened.sendall(b"\x81\xfe" + len(text).to_bytes(2, "big") + bytes(4) + text)
    assert b"protocolVersion" in opened.recv(4096)
    return opened


@pytest.mark.slow
def test_an_idle_connection_costs_little() -> None:
    """Issue 16: 10,000 idle connections in one process, at 15 KiB each."""
    with serve_process() as server, contextlib.ExitStack() as open_sockets:
        for _ in range(FIRST):
            open_sockets.enter_context(idle_socket(server.port))
        before = server.memory_bytes
        for _ in range(MORE):
            open_sockets.enter_context(idle_socket(server.port))
        assert (server.memory_bytes - before) / MORE < BYTES_MAX
