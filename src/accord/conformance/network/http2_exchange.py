"""One request over HTTP/2 on its own connection, for servers without HTTP/1.1.

What always holds: what comes is read as it is asked for, and what a server sends wrong raises
`BadHttp`.
"""

from __future__ import annotations

from collections import deque
from collections.abc import AsyncIterator, Iterable
from typing import Any

import anyio
from anyio.abc import ByteStream

from accord.conformance.network.http1 import BODY_BYTES_MAX, READ_BYTES, BadHttp, Head

# Headers that HTTP/2 has in another form, or not at all.
LEFT_OUT = frozenset({"host", "connection", "content-length"})


class Http2Exchange:
    """Sends a request and reads its response, as `HttpReader` reads one of HTTP/1.1."""

    def __init__(self, stream: ByteStream) -> None:
        from h2.config import H2Configuration
        from h2.connection import H2Connection

        self._stream = stream
        self._h2: Any = H2Connection(H2Configuration(client_side=True, header_encoding="latin-1"))
        self._id = 1
        self._head: Head | None = None
        self._parts: deque[bytes] = deque()
        self._is_over = False

    async def send(
        self, method: str, scheme: str, target: str, headers: Iterable[tuple[str, str]], body: bytes
    ) -> None:
        """Send the whole request, as far as the server reads it."""
        pairs = [(name.lower(), value) for name, value in headers]
        host = next(value for name, value in pairs if name == "host")
        self._h2.initiate_connection()
        self._id = self._h2.get_next_available_stream_id()
        special = [
            (":method", method),
            (":scheme", scheme),
            (":authority", host),
            (":path", target),
        ]
        kept = [(name, value) for name, value in pairs if name not in LEFT_OUT]
        self._h2.send_headers(self._id, [*special, *kept], end_stream=not body)
        await self._flush()
        left = memoryview(body)
        # A server may answer, or end the stream, before it has read all.
        while left and not self._is_over and self._head is None:
            window = self._h2.local_flow_control_window(self._id)
            size = min(window, self._h2.max_outbound_frame_size, len(left))
            if size <= 0:
                await self._read()
                continue
            self._h2.send_data(self._id, left[:size].tobytes(), end_stream=size == len(left))
            left = left[size:]
            await self._flush()

    async def head(self) -> Head | None:
        """Read the head of the response; None if there is none."""
        while self._head is None and not self._is_over:
            await self._read()
        return self._head

    async def parts(self, head: Head, *, of_response: bool) -> AsyncIterator[bytes]:
        """Read the body in parts as they arrive."""
        while True:
            while self._parts:
                yield self._parts.popleft()
            if self._is_over:
                return
            await self._read()

    async def body(self, head: Head, *, of_response: bool) -> bytes:
        """Read the whole body, up to the limit."""
        whole = bytearray()
        async for part in self.parts(head, of_response=of_response):
            whole += part
            if len(whole) > BODY_BYTES_MAX:
                raise BadHttp("a body is too long")
        return bytes(whole)

    async def _read(self) -> None:
        from h2.exceptions import ProtocolError

        try:
            data = await self._stream.receive(READ_BYTES)
            events = self._h2.receive_data(data)
        except (anyio.EndOfStream, anyio.BrokenResourceError, anyio.ClosedResourceError):
            self._is_over = True
            return
        except ProtocolError as error:
            raise BadHttp(f"the server breaks HTTP/2: {error}") from None
        for event in events:
            self._take(event)
        await self._flush()

    def _take(self, event: Any) -> None:
        from h2 import events

        if isinstance(event, events.ResponseReceived):
            pairs = [(str(name), str(value)) for name, value in event.headers]
            status = next(value for name, value in pairs if name == ":status")
            kept = tuple(pair for pair in pairs if not pair[0].startswith(":"))
            self._head = Head(("HTTP/2", status, ""), kept)
        elif isinstance(event, events.DataReceived):
            self._parts.append(event.data)
            self._h2.acknowledge_received_data(event.flow_controlled_length, self._id)
        elif isinstance(
            event, events.StreamEnded | events.StreamReset | events.ConnectionTerminated
        ):
            self._is_over = True

    async def _flush(self) -> None:
        data = self._h2.data_to_send()
        try:
            if data:
                await self._stream.send(data)
        except (anyio.BrokenResourceError, anyio.ClosedResourceError):
            self._is_over = True
