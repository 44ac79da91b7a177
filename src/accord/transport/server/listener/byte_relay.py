"""Bytes passed between a client and the HTTP server behind the listener, in both directions.

What always holds: a side that is slow stops the other one from reading, so that no more than two
buffers of the event loop are held.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable


class RelayEnd(asyncio.Protocol):
    """One of the two connections; `other` is the transport of the other one."""

    __slots__ = ("_on_lost", "_transport", "has_eof", "other")

    def __init__(self, on_lost: Callable[[], None] | None = None) -> None:
        self.other: asyncio.Transport | None = None
        self._transport: asyncio.Transport | None = None
        self._on_lost = on_lost
        self.has_eof = False

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport

    def data_received(self, data: bytes) -> None:
        assert self.other is not None
        self.other.write(data)

    def eof_received(self) -> bool:
        if self.other is None or not self.other.can_write_eof():
            return False
        self.other.write_eof()
        self.has_eof = True
        # Nothing can pass in either direction once both sides have said their last.
        peer = self.other.get_protocol()
        if isinstance(peer, RelayEnd) and peer.has_eof:
            return False
        # TLS cannot be closed on one side alone.
        return self._transport is not None and self._transport.can_write_eof()

    def pause_writing(self) -> None:
        if self.other is not None:
            self.other.pause_reading()

    def resume_writing(self) -> None:
        if self.other is not None and not self.other.is_closing():
            self.other.resume_reading()

    def connection_lost(self, exc: Exception | None) -> None:
        other, self.other = self.other, None
        if other is not None:
            other.close()
        if self._on_lost is not None:
            self._on_lost()


async def relay(
    transport: asyncio.Transport, head: bytes, path: str, on_lost: Callable[[], None]
) -> None:
    """Pass a client's connection, of which `head` was read, to the Unix socket at `path`.

    The client's transport must be paused.
    """
    loop = asyncio.get_running_loop()
    try:
        inner, server_end = await loop.create_unix_connection(RelayEnd, path)
    except OSError:
        transport.close()
        on_lost()
        return
    if transport.is_closing():
        inner.close()
        on_lost()
        return
    client_end = RelayEnd(on_lost)
    client_end.connection_made(transport)
    server_end.other, client_end.other = transport, inner
    transport.set_protocol(client_end)
    inner.write(head)
    transport.resume_reading()


__all__ = ["relay"]
