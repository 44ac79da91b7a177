"""A connection under test in memory, with the other end in plain JSON."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

import anyio

from accord.connection import Connection, IncomingRequest, Limits
from accord.connection.handler import Work
from accord.errors import ConnectionLost
from accord.schema.codec import to_python
from accord.schema.struct import Raw
from accord.transport.memory import MemoryTransport, memory_pair
from accord.transport.transport import Ended
from tests.hang_limit import HANG_SECONDS

SECONDS = HANG_SECONDS
Message = dict[str, Any]


class Role:
    """A handler that is made of functions, and keeps what it is told."""

    def __init__(self) -> None:
        self.methods: dict[str, Callable[[IncomingRequest], bytes | Work]] = {}
        self.notifications: list[tuple[str, Any]] = []
        self.losses: list[ConnectionLost] = []

    def request(self, request: IncomingRequest) -> bytes | Work:
        return self.methods[request.method](request)

    def notification(self, method: str, params: Raw) -> None:
        if method == "bad":
            raise RuntimeError("a bad notification")
        self.notifications.append((method, to_python(params)))

    def lost(self, error: ConnectionLost) -> None:
        self.losses.append(error)


class RawPeer:
    """The other end."""

    def __init__(self, transport: MemoryTransport) -> None:
        self.transport = transport
        self.messages: list[Message] = []
        self.end: Ended | None = None
        self._rest = b""
        self._news = anyio.Event()

    def data_received(self, data: bytes) -> None:
        *lines, self._rest = (self._rest + data).split(b"\n")
        self.messages += [json.loads(line) for line in lines]
        self._tell()

    def ended(self, why: Ended) -> None:
        self.end = why
        self._tell()

    def _tell(self) -> None:
        self._news.set()
        self._news = anyio.Event()

    async def until(self, true: Callable[[], object]) -> None:
        """Wait until something is so."""
        with anyio.fail_after(SECONDS):
            while not true():
                await self._news.wait()

    async def next(self, wanted: Callable[[Message], object]) -> Message:
        """The first message that fits."""
        await self.until(lambda: any(wanted(one) for one in self.messages))
        return next(one for one in self.messages if wanted(one))

    async def asked(self, method: str) -> Message:
        """The first request or notification of a method."""
        return await self.next(lambda one: one.get("method") == method)

    async def answer(self, request_id: Any) -> Message:
        """The answer with an id."""
        return await self.next(lambda one: "method" not in one and one.get("id") == request_id)

    def send(self, *messages: Any) -> None:
        """Send messages in one piece."""
        lines = [json.dumps({"jsonrpc": "2.0", **one}).encode() + b"\n" for one in messages]
        self.transport.write(b"".join(lines))

    def request(self, request_id: Any, method: str, params: Any = None) -> None:
        """Send a request."""
        self.send({"id": request_id, "method": method, "params": params or {}})

    def update(self, number: int) -> Message:
        """A notification with a number."""
        return {"method": "update", "params": {"n": number}}


@asynccontextmanager
async def connected(
    role: Role | None = None, limits: Limits | None = None, **options: Any
) -> AsyncIterator[tuple[Connection, RawPeer]]:
    """A connection and its raw peer; both end with the block."""
    ours, theirs = memory_pair()
    peer = RawPeer(theirs)
    async with anyio.create_task_group() as tasks:
        await theirs.start(peer, tasks)
        async with Connection(ours, role or Role(), limits=limits, **options) as connection:
            yield connection, peer
        await theirs.aclose()
