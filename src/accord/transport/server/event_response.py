"""The response that carries one stream of events, until its client goes or the connection ends.

What always holds
    * It never waits for a client for longer than `stall_seconds`; one that takes nothing for so
      long is lost, unless it reads the stream elsewhere by then.
    * An idle client gets a comment every `keep_alive_seconds`, so that both sides notice a cut.
"""

from __future__ import annotations

import asyncio

from accord.transport.http.event_stream import KEEP_ALIVE
from accord.transport.server.answers import Header, response_start
from accord.transport.server.http_transport import HttpServerTransport
from accord.transport.server.outgoing_stream import OutgoingStream
from accord.transport.server.requests import Message, Receive, Send


class EventResponse:
    """Guards: the stream is left exactly once."""

    def __init__(self, transport: HttpServerTransport, stream: OutgoingStream) -> None:
        self._transport = transport
        self._stream = stream
        self._loop = asyncio.get_running_loop()
        self._idle: asyncio.Future[None] | None = None
        self._is_due = False
        self._is_gone = False

    def wake(self) -> None:
        if self._idle is not None and not self._idle.done():
            self._idle.set_result(None)

    def detach(self) -> None:
        self._is_gone = True
        self.wake()

    async def run(self, headers: list[Header], receive: Receive, send: Send) -> None:
        """Send events until either side is gone."""
        watch = self._loop.create_task(self._watch(receive))
        try:
            await self._send(send, response_start(200, headers))
            # Some servers send the headers together with the first bytes only.
            await self._send_body(send, KEEP_ALIVE)
            await self._send_events(send)
        except TimeoutError:
            if not self._is_gone:
                seconds = f"{self._transport.limits.stall_seconds:g} s"
                self._transport.lose(f"the client read nothing for {seconds} (stall_seconds)")
        except OSError:
            pass
        finally:
            watch.cancel()
            self._transport.leave(self._stream, self)

    async def _watch(self, receive: Receive) -> None:
        try:
            while (await receive())["type"] != "http.disconnect":
                pass
        except OSError:
            # Some servers say so that the client is gone.
            pass
        self.detach()

    async def _send(self, send: Send, message: Message) -> None:
        async with asyncio.timeout(self._transport.limits.stall_seconds):
            await send(message)

    async def _send_body(self, send: Send, body: bytes, *, more: bool = True) -> None:
        await self._send(send, {"type": "http.response.body", "body": body, "more_body": more})

    async def _send_events(self, send: Send) -> None:
        transport, stream = self._transport, self._stream
        while not self._is_gone:
            body = b"".join(transport.take(stream))
            if not body:
                if transport.is_over:
                    await self._send_body(send, b"", more=False)
                    return
                if not await self._wait():
                    continue
            await self._send_body(send, body or KEEP_ALIVE)
            # A comment on one stream does not show that the client reads the others.
            if body:
                transport.taken(len(body))

    async def _wait(self) -> bool:
        """Wait for an event; returns whether a comment is due instead."""
        self._is_due = False
        self._idle = self._loop.create_future()
        timer = self._loop.call_later(
            self._transport.limits.keep_alive_seconds, self._keep_alive_is_due
        )
        try:
            await self._idle
        finally:
            timer.cancel()
            self._idle = None
        return self._is_due

    def _keep_alive_is_due(self) -> None:
        self._is_due = True
        self.wake()


__all__ = ["EventResponse"]
