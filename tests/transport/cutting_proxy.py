"""A TCP proxy that cuts connections at random places, between a client and a server of a test.

A connection ends after a random number of bytes: in the middle of a frame, of a handshake, or right
after one, with a reset or with a plain end, and what the other side had sent may be lost with it.
"""

from __future__ import annotations

import asyncio
import random
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Protocol

import anyio


class CutWatcher(Protocol):
    """Learns of the connections."""

    def was_cut(self) -> None: ...
    def was_opened(self) -> None: ...


class CuttingProxy:
    """Forwards to a port, and cuts while `is_cutting`."""

    def __init__(
        self, target_port: int, seed: int, bytes_max: int, watcher: CutWatcher | None = None
    ) -> None:
        self._target_port = target_port
        self._random = random.Random(seed)
        self._bytes_max = bytes_max
        self._watcher = watcher
        self.is_cutting = False
        self.cuts = 0
        self.port = 0
        self._open: set[_Pair] = set()
        self._cut = anyio.Event()

    def cut_all(self) -> None:
        """Cut every connection now."""
        for pair in tuple(self._open):
            pair.cut()

    async def wait_for_cuts(self, count: int) -> None:
        """Wait until there have been that many cuts."""
        while self.cuts < count:
            await self._cut.wait()

    def _was_cut(self) -> None:
        self.cuts += 1
        if self._watcher is not None:
            self._watcher.was_cut()
        self._cut.set()
        self._cut = anyio.Event()

    async def _connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            server = await asyncio.open_connection("127.0.0.1", self._target_port)
        except OSError:
            writer.transport.abort()
            return
        pair = _Pair(self, writer, server[1], self._random.randrange(self._bytes_max))
        self._open.add(pair)
        if self._watcher is not None:
            self._watcher.was_opened()
        try:
            async with asyncio.TaskGroup() as tasks:
                tasks.create_task(pair.forward(reader, server[1]))
                tasks.create_task(pair.forward(server[0], writer))
        finally:
            self._open.discard(pair)
            pair.close()


class _Pair:
    """One connection to the proxy, and the one behind it."""

    def __init__(
        self,
        proxy: CuttingProxy,
        client: asyncio.StreamWriter,
        server: asyncio.StreamWriter,
        bytes_left: int,
    ) -> None:
        self._proxy = proxy
        self._ends = (client, server)
        self._bytes_left = bytes_left
        self._is_cut = False

    async def forward(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Pass bytes on in one direction, until the end or the cut."""
        try:
            while data := await reader.read(64 * 1024):
                if self._proxy.is_cutting:
                    allowed, self._bytes_left = self._bytes_left, self._bytes_left - len(data)
                    if self._bytes_left < 0:
                        writer.write(data[: max(0, allowed)])
                        self.cut()
                        return
                writer.write(data)
                await writer.drain()
        except OSError:
            pass
        self.close()

    def cut(self) -> None:
        """End both sides, each in one of two ways."""
        if self._is_cut:
            return
        self._is_cut = True
        for end in self._ends:
            if self._proxy._random.random() < 0.5:
                end.transport.abort()
            else:
                end.close()
        self._proxy._was_cut()

    def close(self) -> None:
        """End both sides."""
        for end in self._ends:
            end.close()


@asynccontextmanager
async def cutting_proxy(
    target_port: int,
    *,
    seed: int,
    bytes_max: int,
    watcher: CutWatcher | None = None,
) -> AsyncIterator[CuttingProxy]:
    """Run a proxy on a free port."""
    proxy = CuttingProxy(target_port, seed, bytes_max, watcher)
    server = await asyncio.start_server(proxy._connected, "127.0.0.1", 0)
    proxy.port = server.sockets[0].getsockname()[1]
    try:
        yield proxy
    finally:
        server.close()
        proxy.cut_all()


__all__ = ["CuttingProxy", "cutting_proxy"]
