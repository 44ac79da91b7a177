"""The transports to an MCP server: a program's pipes, streamable HTTP, SSE.

Must not know what the messages mean.

What always holds
    * A channel is two streams of messages, and knows when and why it ended.
    * Leaving the block ends everything that was started for it.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from types import TracebackType
from typing import TYPE_CHECKING, Any

import anyio

from accord.mcp.server_process import ServerProcess, server_process
from accord.mcp.server_spec import ServerSpec

if TYPE_CHECKING:
    import httpx2
    from mcp.shared.message import SessionMessage

HTTP_SECONDS_MAX = 30.0
"""How long one step of a request may take: connecting, writing."""

SILENCE_SECONDS_MAX = 3600.0
"""How long a stream may be silent; each call has its own timeout."""

ANSWER_BYTES_MAX = 32 * 1024 * 1024
"""The largest answer, as for a program."""

CLIENT_ERRORS = 400
NOT_FOUND = 404


class EndTrackingStream:
    """A stream of incoming messages that notes its end."""

    def __init__(self, inner: Any) -> None:
        self._inner = inner
        self.ended = anyio.Event()

    async def receive(self) -> SessionMessage | Exception:
        """Return the next message."""
        try:
            message: SessionMessage | Exception = await self._inner.receive()
        except (anyio.EndOfStream, anyio.ClosedResourceError, anyio.BrokenResourceError):
            self.ended.set()
            raise
        return message

    async def aclose(self) -> None:
        await self._inner.aclose()

    def __aiter__(self) -> EndTrackingStream:
        return self

    async def __anext__(self) -> SessionMessage | Exception:
        try:
            return await self.receive()
        except anyio.EndOfStream:
            raise StopAsyncIteration from None

    async def __aenter__(self) -> EndTrackingStream:
        return self

    async def __aexit__(
        self,
        exc_type: type[BaseException] | None,
        exc_val: BaseException | None,
        exc_tb: TracebackType | None,
    ) -> None:
        await self.aclose()


class Channel:
    """An open transport to a server."""

    def __init__(self, read: Any, write: Any, pipe: ServerProcess | None = None) -> None:
        self.read = EndTrackingStream(read)
        self.write = write
        self._pipe = pipe
        self._status = 0

    async def why(self) -> str:
        """Return why the server does not answer, as far as known."""
        if self._pipe is not None:
            return await self._pipe.why()
        return f"it answered with HTTP status {self._status}" if self._status else ""

    @property
    def session_unknown(self) -> bool:
        """Whether the server does not know the session, as after a restart."""
        return self._status == NOT_FOUND

    async def note(self, response: httpx2.Response) -> None:
        """Note the HTTP status of answers; the MCP package does not report a refusal."""
        if response.status_code >= CLIENT_ERRORS and response.request.method == "POST":
            self._status = response.status_code


async def _bound(response: httpx2.Response) -> None:
    """Limit the size of an answer that is not an event stream."""
    import httpx2

    if response.headers.get("content-type", "").startswith("text/event-stream"):
        # It lasts as long as the connection; each event has a limit.
        return
    whole = response.stream
    assert isinstance(whole, httpx2.AsyncByteStream)
    inner: httpx2.AsyncByteStream = whole

    class Bounded(httpx2.AsyncByteStream):
        async def __aiter__(self) -> AsyncGenerator[bytes]:
            left = ANSWER_BYTES_MAX
            async for chunk in inner:
                left -= len(chunk)
                if left < 0:
                    raise httpx2.ReadError(f"an answer of more than {ANSWER_BYTES_MAX} bytes")
                yield chunk

        async def aclose(self) -> None:
            await inner.aclose()

    response.stream = Bounded()


@asynccontextmanager
async def open_channel(spec: ServerSpec, cwd: str) -> AsyncGenerator[Channel]:
    """Open the transport of a server."""
    if spec.transport == "stdio":
        async with server_process(spec, cwd) as pipe:
            yield Channel(pipe.read, pipe.write, pipe)
    elif spec.transport == "http":
        async with _http(spec) as channel:
            yield channel
    else:
        async with _sse(spec) as channel:
            yield channel


@asynccontextmanager
async def _http(spec: ServerSpec) -> AsyncGenerator[Channel]:
    import httpx2
    from mcp.client.streamable_http import streamable_http_client

    limits = httpx2.Timeout(HTTP_SECONDS_MAX, read=SILENCE_SECONDS_MAX)
    async with (
        httpx2.AsyncClient(headers=dict(spec.headers), timeout=limits) as client,
        streamable_http_client(
            spec.url, http_client=client, max_sse_event_size=ANSWER_BYTES_MAX
        ) as (read, write),
    ):
        channel = Channel(read, write)
        client.event_hooks = {"response": [channel.note, _bound]}
        yield channel


@asynccontextmanager
async def _sse(spec: ServerSpec) -> AsyncGenerator[Channel]:
    import httpx2
    from mcp.client.sse import sse_client

    seen: list[Channel] = []

    async def note(response: httpx2.Response) -> None:
        if seen and response.status_code >= CLIENT_ERRORS:
            await seen[0].note(response)
            # The package only logs this, and the caller would wait for ever.
            seen[0].read.ended.set()

    def client(
        headers: dict[str, str] | None = None,
        timeout: httpx2.Timeout | None = None,
        auth: httpx2.Auth | None = None,
    ) -> httpx2.AsyncClient:
        hooks = {"response": [note]}
        return httpx2.AsyncClient(headers=headers, timeout=timeout, auth=auth, event_hooks=hooks)

    connecting = sse_client(
        spec.url,
        headers=dict(spec.headers),
        timeout=HTTP_SECONDS_MAX,
        sse_read_timeout=SILENCE_SECONDS_MAX,
        httpx_client_factory=client,
    )
    async with connecting as (read, write):
        seen.append(Channel(read, write))
        yield seen[0]
