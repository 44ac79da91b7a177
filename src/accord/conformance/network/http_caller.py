"""Requests of the kit to a judged server, each on its own connection.

What always holds: every wait has a bound; a server that does not answer in time, or not in HTTP,
raises `Unanswered`.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from ssl import SSLError
from typing import Any, Protocol

import anyio
from anyio.abc import ByteStream

from accord.conformance.frames.raw_peer import Gone, Unanswered, as_json
from accord.conformance.network.address import Address, RemoteServer
from accord.conformance.network.event_stream import Event, EventReader, LongEvent
from accord.conformance.network.http1 import (
    Answer,
    BadHttp,
    Head,
    HttpReader,
    cookie_pairs,
    head_bytes,
)
from accord.conformance.network.http2_exchange import Http2Exchange
from accord.conformance.time_limits import ANSWER_SECONDS

JSON_TYPE = "application/json"
EVENTS_TYPE = "text/event-stream"
CONNECTION = "acp-connection-id"
SESSION = "acp-session-id"
VERSION = "acp-protocol-version"

# A header of None is left out.
Wanted = Mapping[str, str | None]


class NotReached(Exception):
    """There is no server at this address; the message says why."""


async def connect(address: Address, *protocols: str) -> ByteStream:
    """Open a connection.

    Raises:
        NotReached: nobody listens, or TLS cannot be agreed on.
    """
    try:
        with anyio.fail_after(ANSWER_SECONDS):
            plain = await anyio.connect_tcp(address.host, address.port)
            context = address.client_tls(*protocols)
            if context is None:
                return plain
            from anyio.streams.tls import TLSStream

            return await TLSStream.wrap(
                plain, hostname=address.host, ssl_context=context, standard_compatible=False
            )
    except TimeoutError as error:
        raise NotReached(f"{address.url}: no connection within {ANSWER_SECONDS:g} s") from error
    except (OSError, SSLError, anyio.EndOfStream, anyio.BrokenResourceError) as error:
        raise NotReached(f"{address.url}: {error}") from error


class ResponseReader(Protocol):
    """Reads a response of either version of HTTP."""

    async def head(self) -> Head | None: ...

    async def body(self, head: Head, *, of_response: bool) -> bytes: ...

    def parts(self, head: Head, *, of_response: bool) -> AsyncIterator[bytes]: ...


async def speaks_http1(address: Address) -> bool:
    """Whether a server answers HTTP/1.1; one that does not may speak HTTP/2 alone.

    Raises:
        NotReached: nobody listens.
    """
    stream = await connect(address, "http/1.1")
    try:
        with anyio.move_on_after(ANSWER_SECONDS):
            headers = [("Host", address.authority), ("Connection", "close")]
            await stream.send(head_bytes(f"OPTIONS {address.target} HTTP/1.1", headers))
            return await HttpReader(stream).head() is not None
    except (BadHttp, anyio.BrokenResourceError, anyio.ClosedResourceError):
        return False
    finally:
        await anyio.aclose_forcefully(stream)
    return True


@dataclass(slots=True)
class EventStream:
    """An open stream of events: the head of the response, and what comes."""

    head: Head
    reader: ResponseReader
    flaws: list[str] = field(default_factory=list)

    async def events(self) -> AsyncIterator[Event]:
        """Read all events until the stream ends."""
        events = EventReader()
        try:
            async for part in self.reader.parts(self.head, of_response=True):
                for event in events.feed(part):
                    yield event
        except BadHttp as error:
            self.flaws.append(str(error))
        except LongEvent:
            self.flaws.append("an event has no end")


@dataclass(slots=True)
class HttpCaller:
    """One user of a server, with the cookies that the server has set."""

    server: RemoteServer
    # Headers of every request.
    headers: dict[str, str] = field(default_factory=dict)
    cookies: dict[str, str] = field(default_factory=dict)
    patience: float = ANSWER_SECONDS
    is_http2: bool = False

    async def request(
        self, method: str, headers: Wanted | None = None, body: bytes = b"", **how: Any
    ) -> Answer:
        """Send a request, and return its whole response.

        Raises:
            Unanswered: none came in time.
        """
        seconds = how.get("seconds") or self.patience
        with anyio.move_on_after(seconds):
            async with self._sent(method, headers or {}, body) as (reader, head):
                came = Answer(head.words, head.headers, await self._body(reader, head, method))
                self.cookies.update(cookie_pairs(came))
                return came
        raise Unanswered(f"an answer to {method} did not come within {seconds:g} s")

    async def post(self, message: Any, headers: Wanted | None = None, **how: Any) -> Answer:
        """POST a message; bytes are sent unchanged."""
        body = message if isinstance(message, bytes) else as_json(message).encode()
        return await self.request(
            "POST", {"content-type": JSON_TYPE, **(headers or {})}, body, **how
        )

    @asynccontextmanager
    async def stream(self, headers: Wanted | None = None) -> AsyncGenerator[EventStream]:
        """Open a stream of events, whatever the status is.

        Raises:
            Unanswered: the head of the response did not come in time.
        """
        asked = {"accept": EVENTS_TYPE, **(headers or {})}
        async with self._sent("GET", asked, b"") as (reader, head):
            yield EventStream(head, reader)

    async def _body(self, reader: ResponseReader, head: Head, method: str) -> bytes:
        try:
            if head.content_type == EVENTS_TYPE:
                # The stream does not end; it matters only that it was opened.
                return b""
            return b"" if method == "HEAD" else await reader.body(head, of_response=True)
        except BadHttp as error:
            raise Unanswered(str(error)) from None

    @asynccontextmanager
    async def _sent(
        self, method: str, headers: Wanted, body: bytes
    ) -> AsyncGenerator[tuple[ResponseReader, Head]]:
        try:
            stream = await connect(self.server.address, "h2" if self.is_http2 else "http/1.1")
        except NotReached as error:
            raise Gone(str(error)) from None
        try:
            yield await self._answered(stream, method, headers, body)
        finally:
            await anyio.aclose_forcefully(stream)

    async def _answered(
        self, stream: ByteStream, method: str, headers: Wanted, body: bytes
    ) -> tuple[ResponseReader, Head]:
        with anyio.move_on_after(self.patience):
            try:
                reader = await self._send(stream, method, headers, body)
                return reader, await self._final_head(reader, method)
            except BadHttp as error:
                raise Unanswered(str(error)) from None
        raise Unanswered(f"an answer to {method} did not come within {self.patience:g} s")

    async def _send(
        self, stream: ByteStream, method: str, headers: Wanted, body: bytes
    ) -> ResponseReader:
        address = self.server.address
        given: dict[str, str | None] = {"host": address.authority, "connection": "close"}
        if body or method == "POST":
            given["content-length"] = str(len(body))
        if self.cookies:
            given["cookie"] = "; ".join(f"{name}={value}" for name, value in self.cookies.items())
        given |= {**self.server.headers, **self.headers, **headers}
        pairs = [(name, value) for name, value in given.items() if value is not None]
        if self.is_http2:
            exchange = Http2Exchange(stream)
            scheme = "https" if address.tls else "http"
            await exchange.send(method, scheme, address.target, pairs, body)
            return exchange
        try:
            await stream.send(head_bytes(f"{method} {address.target} HTTP/1.1", pairs) + body)
        except (anyio.BrokenResourceError, anyio.ClosedResourceError):
            # The server may have answered before it had read everything.
            pass
        return HttpReader(stream)

    async def _final_head(self, reader: ResponseReader, method: str) -> Head:
        while True:
            head = await reader.head()
            if head is None:
                raise Gone(f"the server closed the connection without answering {method}")
            if head.status >= 200 or head.status == 101:
                return head
