"""Requests over HTTP/2 as they are given, each on a connection of its own."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from typing import Any

from h2.config import H2Configuration
from h2.connection import H2Connection
from h2.events import DataReceived, ResponseReceived, StreamEnded, StreamReset

from tests.hang_limit import HANG_SECONDS
from tests.transport.server.raw_http import Json, RawClient, Response, closed


@dataclass
class RawHttp2Client(RawClient):
    """Sends what `RawClient` sends, over HTTP/2; `stream` stays with HTTP/1.1."""

    async def request(
        self,
        method: str,
        headers: Mapping[str, str | None] | None = None,
        body: bytes = b"",
        path: str | None = None,
    ) -> Response:
        """Send a request and return the whole response; a header of None is left out."""
        async with asyncio.timeout(HANG_SECONDS), self._asked(method, headers, body, path) as asked:
            return await asked.response()

    @asynccontextmanager
    async def unread_stream(
        self, headers: Mapping[str, str | None] | None = None
    ) -> AsyncIterator[Http2Exchange]:
        """Open a stream of events, and read nothing of it but its head."""
        asking = {"accept": "text/event-stream", **(headers or {})}
        async with self._asked("GET", asking, b"", None) as asked:
            async with asyncio.timeout(HANG_SECONDS):
                assert (await asked.head()).status == 200
            yield asked

    @asynccontextmanager
    async def _asked(
        self, method: str, headers: Mapping[str, str | None] | None, body: bytes, path: str | None
    ) -> AsyncIterator[Http2Exchange]:
        async with self.exchange() as exchange:
            special = {
                ":method": method,
                ":scheme": "http" if self.tls is None else "https",
                ":authority": f"127.0.0.1:{self.port}",
                ":path": path or self.path,
            }
            given = {**special, **self.headers, **(headers or {})}
            await exchange.send([one for one in given.items() if one[1] is not None], body)
            yield exchange

    @asynccontextmanager
    async def exchange(self) -> AsyncIterator[Http2Exchange]:
        """Open a connection."""
        reader, writer = await self._connection()
        try:
            yield Http2Exchange(reader, writer)
        finally:
            await closed(writer)


class Http2Exchange:
    """One request after the other on a connection; what breaks HTTP/2 raises."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader, self._writer = reader, writer
        config = H2Configuration(header_encoding="latin-1", validate_outbound_headers=False)
        self._h2: Any = H2Connection(config)
        self._h2.initiate_connection()
        self._stream = 0
        self._answer: Response | None = None
        self._parts: list[bytes] = []
        self._held = b""
        self._is_over = False

    async def send(
        self, headers: list[tuple[str, Any]], body: bytes, *, is_whole: bool = True
    ) -> None:
        """Send a request; one that is not whole goes on after its body."""
        self._stream = self._h2.get_next_available_stream_id()
        self._answer, self._parts, self._is_over = None, [], False
        self._h2.send_headers(self._stream, headers, end_stream=is_whole and not body)
        left = memoryview(body)
        # A server may answer before it has read all.
        while left and self._answer is None:
            window = self._h2.local_flow_control_window(self._stream)
            size = min(window, self._h2.max_outbound_frame_size)
            if size:
                self._h2.send_data(
                    self._stream, bytes(left[:size]), end_stream=is_whole and size >= len(left)
                )
                left = left[size:]
                self._writer.write(self._h2.data_to_send())
            else:
                await self._read()

    async def head(self) -> Response:
        while self._answer is None:
            await self._read()
        return self._answer

    async def response(self) -> Response:
        while not self._is_over:
            await self._read()
        return replace(await self.head(), body=b"".join(self._parts))

    async def messages_until(self, request_id: int) -> list[Json]:
        """The messages of a stream of events, up to the answer with this id."""
        answer = b'"id":%d,"result"' % request_id
        # The rest of the answer may come in a piece of its own.
        while b"\n\n" not in b"".join(self._parts[-5:]).partition(answer)[2]:
            await self._read()
        lines = b"".join(self._parts).split(b"\n")
        return [json.loads(line[5:]) for line in lines if line.startswith(b"data:")]

    async def next_message(self) -> Json | None:
        """The next message of a stream of events; None at its end."""
        while True:
            while b"\n\n" not in self._held:
                if self._is_over:
                    return None
                self._parts.clear()
                await self._read()
                self._held += b"".join(self._parts)
            event, _, self._held = self._held.partition(b"\n\n")
            for line in event.split(b"\n"):
                if line.startswith(b"data:"):
                    message: Json = json.loads(line[5:])
                    return message

    async def _read(self) -> None:
        self._writer.write(self._h2.data_to_send())
        data = await self._reader.read(65536)
        assert data, "the server closed the connection before it answered"
        for event in self._h2.receive_data(data):
            if getattr(event, "stream_id", self._stream) != self._stream:
                # What is left of the request before this one.
                continue
            match event:
                case ResponseReceived(headers=headers):
                    found = {str(name): str(value) for name, value in headers or ()}
                    self._answer = Response(int(found[":status"]), found)
                case DataReceived(data=piece, flow_controlled_length=size):
                    self._parts.append(piece or b"")
                    self._h2.acknowledge_received_data(size, self._stream)
                case StreamEnded():
                    self._is_over = True
                case StreamReset(error_code=code):
                    # Without an error: the server wants no more of the body.
                    assert code == 0, f"the server reset the stream: {code}"
                    self._is_over = True


__all__ = ["Http2Exchange", "RawHttp2Client"]
