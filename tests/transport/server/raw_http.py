"""An HTTP/1.1 client of raw sockets, which can say everything wrong that there is."""

from __future__ import annotations

import asyncio
import contextlib
import json
import ssl
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

from tests.hang_limit import HANG_SECONDS

Json = dict[str, Any]

INITIALIZE: Json = {
    "jsonrpc": "2.0",
    "id": 0,
    "method": "initialize",
    "params": {"protocolVersion": 1, "clientCapabilities": {}},
}
NEW_SESSION: Json = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "session/new",
    "params": {"cwd": "/tmp", "mcpServers": []},
}
UPGRADE = {
    "upgrade": "websocket",
    "connection": "Upgrade",
    "sec-websocket-key": "AAAAAAAAAAAAAAAAAAAAAA==",
    "sec-websocket-version": "13",
}


def prompt(session_id: str, text: str, request_id: int = 2) -> Json:
    """A prompt of version 1."""
    params = {"sessionId": session_id, "prompt": [{"type": "text", "text": text}]}
    return {"jsonrpc": "2.0", "id": request_id, "method": "session/prompt", "params": params}


@dataclass
class Response:
    """A whole response."""

    status: int
    headers: dict[str, str]
    body: bytes = b""

    @property
    def json(self) -> Any:
        return json.loads(self.body)


@dataclass
class RawClient:
    """Sends requests, each on a connection of its own."""

    port: int
    headers: dict[str, str] = field(default_factory=dict)
    path: str = "/acp"
    # Of a server that is `localhost` by its certificate.
    tls: ssl.SSLContext | None = None

    async def request(
        self,
        method: str,
        headers: Mapping[str, str | None] | None = None,
        body: bytes = b"",
        path: str | None = None,
    ) -> Response:
        """Send a request and return the whole response; a header of None is left out."""
        async with self.sent(method, headers, body, path) as (reader, _):
            head = await _head(reader)
            length = 0 if method == "HEAD" else int(head.headers.get("content-length", "0"))
            async with asyncio.timeout(HANG_SECONDS):
                head.body = await reader.readexactly(length)
            return head

    async def post(self, message: Any, headers: Mapping[str, str | None] | None = None) -> Response:
        """POST a message; bytes are sent as they are."""
        body = message if isinstance(message, bytes) else json.dumps(message).encode()
        return await self.request(
            "POST", {"content-type": "application/json", **(headers or {})}, body
        )

    async def initialize(self, headers: Mapping[str, str | None] | None = None) -> Response:
        """Open a connection, and send its id from now on."""
        response = await self.post(INITIALIZE, headers)
        assert response.status == 200, response
        self.headers["acp-connection-id"] = response.headers["acp-connection-id"]
        return response

    @asynccontextmanager
    async def stream(
        self, headers: Mapping[str, str | None] | None = None
    ) -> AsyncIterator[EventStream]:
        """Open a stream of events."""
        asked = {"accept": "text/event-stream", **(headers or {})}
        async with self.sent("GET", asked) as (reader, writer):
            yield EventStream(await _head(reader), reader, writer)

    async def _connection(self) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        name = None if self.tls is None else "localhost"
        return await asyncio.open_connection(
            "127.0.0.1", self.port, ssl=self.tls, server_hostname=name
        )

    @asynccontextmanager
    async def sent(
        self,
        method: str,
        headers: Mapping[str, str | None] | None = None,
        body: bytes = b"",
        path: str | None = None,
    ) -> AsyncIterator[tuple[asyncio.StreamReader, asyncio.StreamWriter]]:
        """Send a request, and leave the rest of its connection to the caller."""
        reader, writer = await self._connection()
        try:
            given: dict[str, str | None] = {
                "host": f"127.0.0.1:{self.port}",
                **({"content-length": str(len(body))} if body or method == "POST" else {}),
                **self.headers,
                **(headers or {}),
            }
            lines = [f"{method} {path or self.path} HTTP/1.1"]
            lines += [f"{name}: {value}" for name, value in given.items() if value is not None]
            writer.write("\r\n".join([*lines, "", ""]).encode("latin-1") + body)
            yield reader, writer
        finally:
            await closed(writer)


@dataclass
class EventStream:
    """The events of a response without end."""

    head: Response
    reader: asyncio.StreamReader
    writer: asyncio.StreamWriter
    last_id: str = ""
    _held: bytes = b""

    async def message(self) -> Json:
        """The next message."""
        while True:
            while b"\n\n" not in self._held:
                async with asyncio.timeout(HANG_SECONDS):
                    # Chunks of the transfer encoding: a length, and that many bytes.
                    size = int(await self.reader.readuntil(b"\r\n"), 16)
                    chunk = await self.reader.readexactly(size + 2)
                if not size:
                    raise EOFError
                self._held += chunk[:-2]
            event, _, self._held = self._held.partition(b"\n\n")
            data = None
            for line in event.decode().split("\n"):
                name, _, value = line.partition(": ")
                if name == "id":
                    self.last_id = value
                elif name == "data":
                    data = value
            if data is not None:
                message: Json = json.loads(data)
                return message

    async def until(self, request_id: int) -> list[Json]:
        """Messages up to the answer with this id."""
        found = [await self.message()]
        while found[-1].get("id") != request_id or "method" in found[-1]:
            found.append(await self.message())
        return found

    async def ended(self) -> None:
        """Wait for the end of the response."""
        try:
            while True:
                await self.message()
        except (EOFError, asyncio.IncompleteReadError):
            pass


async def closed(writer: asyncio.StreamWriter) -> None:
    """Close a connection, and wait until its socket is gone."""
    writer.close()
    with contextlib.suppress(OSError):
        await writer.wait_closed()


async def _head(reader: asyncio.StreamReader) -> Response:
    async with asyncio.timeout(HANG_SECONDS):
        head = await reader.readuntil(b"\r\n\r\n")
    first, *lines = head.decode("latin-1").split("\r\n")[:-2]
    pairs = (line.partition(":") for line in lines)
    headers = {name.lower(): value.strip() for name, _, value in pairs}
    return Response(int(first.split(" ")[1]), headers)


__all__ = [
    "INITIALIZE",
    "NEW_SESSION",
    "UPGRADE",
    "EventStream",
    "RawClient",
    "Response",
    "closed",
    "prompt",
]
