"""One WebSocket of a client, as the kit's server has it: one text frame is one line."""

from __future__ import annotations

from collections.abc import Callable
from secrets import token_hex
from typing import Any

import anyio
from anyio.abc import ByteStream

from accord.conformance.network.http1 import Head, head_bytes
from accord.conformance.network.http_caller import CONNECTION
from accord.conformance.network.line_stream import LineStream
from accord.conformance.network.websocket_link import MESSAGE_BYTES_MAX, WebSocketLink

COOKIE = "accord-check"


async def serve_websocket(
    stream: ByteStream,
    head: Head,
    rest: bytes,
    connected: Callable[[LineStream], None],
    binary_frames: list[bytes],
    headers: dict[str, str] | None = None,
) -> None:
    """Upgrade, hand the socket to `connected`, and serve it until either side closes."""
    from websockets.protocol import State
    from websockets.server import ServerProtocol

    protocol: Any = ServerProtocol(max_size=MESSAGE_BYTES_MAX)
    # The head was read already: the protocol reads it once more.
    protocol.receive_data(head_bytes(" ".join(head.words), head.headers) + rest)
    request, *early = protocol.events_received()
    response = protocol.accept(request)
    named = {CONNECTION.title(): token_hex(16), "Set-Cookie": f"{COOKIE}=1; Path=/"}
    for name, value in (named if headers is None else headers).items():
        response.headers[name] = value
    protocol.send_response(response)
    link = WebSocketLink(stream, protocol)
    await link.flush()
    if protocol.state is not State.OPEN:
        return
    link.early, link.binary_frames = early, binary_frames
    connected(link)
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(link.run)
        await link.read()
        tasks.cancel_scope.cancel()
