"""A started HTTP transport for tests, with what it delivered as messages."""

from __future__ import annotations

import json
import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import anyio

from accord.transport.http.client import HttpTransport
from accord.transport.remote_address import parse_address
from accord.transport.remote_limits import RemoteLimits
from accord.transport.transport import Ended
from tests.hang_limit import HANG_SECONDS
from tests.transport.collector import Collecting

Json = dict[str, Any]
NOBODY_WAITS = RemoteLimits(reconnect_seconds_min=0.001, reconnect_seconds_max=0.01)


class Conversation:
    """What a test says to the transport, and what it hears."""

    def __init__(self, transport: HttpTransport) -> None:
        self.transport = transport
        self.heard = Collecting()
        self._ids = 0
        self._messages: list[Json] = []
        self._read_bytes = 0

    @property
    def messages(self) -> list[Json]:
        """All that came; the transport delivers whole lines."""
        new = bytes(self.heard.data[self._read_bytes :])
        self._read_bytes += len(new)
        self._messages += [json.loads(line) for line in new.splitlines()]
        return self._messages

    def send(self, **message: Any) -> None:
        self.transport.write(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")

    async def call(self, method: str, **params: Any) -> Json:
        """Send a request and wait for its answer."""
        request_id = self.begin(method, **params)
        return await self.answer_to(request_id)

    def begin(self, method: str, **params: Any) -> int:
        self._ids += 1
        self.send(id=self._ids, method=method, params=params)
        return self._ids

    async def answer_to(self, request_id: int) -> Json:
        def found() -> list[Json]:
            return [
                one for one in self.messages if one.get("id") == request_id and "method" not in one
            ]

        await self.heard.until(lambda: found() or self.heard.ends)
        assert found(), self.heard.ends
        return found()[0]

    async def count(self, number: int) -> list[Json]:
        """Wait until so many messages have come."""
        await self.heard.until(lambda: len(self.messages) >= number or self.heard.ends)
        return self.messages

    async def end(self) -> Ended:
        return await self.heard.end()


@asynccontextmanager
async def connected(
    port: int,
    host: str = "127.0.0.1",
    *,
    scheme: str = "http",
    limits: RemoteLimits = NOBODY_WAITS,
    tls: ssl.SSLContext | None = None,
    initialize: bool = True,
    **options: Any,
) -> AsyncIterator[Conversation]:
    """Connect to a port of this machine, and initialize."""
    address = parse_address(f"{scheme}://{host}:{port}/acp")
    talk = Conversation(HttpTransport(address, limits=limits, tls=tls, **options))
    with anyio.fail_after(HANG_SECONDS):
        async with anyio.create_task_group() as tasks:
            await talk.transport.start(talk.heard, tasks)
            if initialize:
                await talk.call("initialize", protocolVersion=1)
            yield talk
            await talk.transport.aclose()
            assert len(talk.heard.ends) == 1
            tasks.cancel_scope.cancel()


__all__ = ["Conversation", "Json", "connected"]
