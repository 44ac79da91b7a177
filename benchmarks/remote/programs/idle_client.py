"""Idle WebSockets: PORT COUNT; opens them, says so, and closes them with its input."""

import base64
import json
import os
import socket
import sys

INITIALIZE = {
    "jsonrpc": "2.0",
    "id": 0,
    "method": "initialize",
    "params": {"protocolVersion": 1, "clientCapabilities": {}},
}


def idle_socket(port: int) -> socket.socket:
    opened = socket.create_connection(("127.0.0.1", port))
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


opened = [idle_socket(int(sys.argv[1])) for _ in range(int(sys.argv[2]))]
print(len(opened), flush=True)
sys.stdin.read()
