"""A raw client and a raw agent around whatever is to be tried."""

import json
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any, NamedTuple

import anyio
from anyio.abc import TaskGroup

from accord.proxy import Proxy
from accord.transport.memory import MemoryTransport, memory_pair
from accord.transport.transport import Ended
from tests.hang_limit import HANG_SECONDS

Json = dict[str, Any]


class Wire:
    """One end: what it says is written as it is, what it hears is kept as lines."""

    def __init__(self, transport: MemoryTransport) -> None:
        self.transport = transport
        self.lines: list[bytes] = []
        self.end: Ended | None = None
        # What was answered to `initialize`, where that was asked.
        self.first: Json = {}
        self._rest = b""
        self._read = 0
        self._news = anyio.Event()

    def data_received(self, data: bytes) -> None:
        *lines, self._rest = (self._rest + data).split(b"\n")
        self.lines += lines
        self._tell()

    def ended(self, why: Ended) -> None:
        self.end = why
        self._tell()

    def _tell(self) -> None:
        self._news.set()
        self._news = anyio.Event()

    def write(self, *lines: bytes) -> None:
        """Write lines as they are, in one piece."""
        self.transport.write(b"".join(line + b"\n" for line in lines))

    def say(self, *messages: Json) -> None:
        """Write messages in one piece."""
        self.write(*(json.dumps({"jsonrpc": "2.0", **one}).encode() for one in messages))

    def request(self, request_id: int | str | None, method: str, params: Any = None) -> None:
        self.say({"id": request_id, "method": method, "params": {} if params is None else params})

    def notify(self, method: str, params: Any = None) -> None:
        self.say({"method": method, "params": {} if params is None else params})

    def answer(self, request_id: object, result: Any) -> None:
        self.say({"id": request_id, "result": result})

    async def line(self) -> bytes:
        """The next line, as it came."""
        with anyio.fail_after(HANG_SECONDS):
            while len(self.lines) <= self._read:
                assert self.end is None, self.end
                await self._news.wait()
        self._read += 1
        return self.lines[self._read - 1]

    async def hear(self) -> Json:
        """The next message."""
        found: Json = json.loads(await self.line())
        return found

    async def close(self) -> Ended:
        """Wait until the other side has closed."""
        with anyio.fail_after(HANG_SECONDS):
            while self.end is None:
                await self._news.wait()
        return self.end

    def unheard(self) -> list[Json]:
        """What came and was not asked for yet."""
        return [json.loads(line) for line in self.lines[self._read :]]


class Between(NamedTuple):
    """A client and an agent, what is between them, and how that ended."""

    client: Wire
    agent: Wire
    tasks: TaskGroup
    ended: list[tuple[str, Ended]]


async def wire(tasks: TaskGroup) -> tuple[Wire, MemoryTransport]:
    """A wire, and the transport of whoever is at its other end."""
    mine, other = memory_pair()
    made = Wire(mine)
    await mine.start(made, tasks)
    return made, other


@asynccontextmanager
async def around(proxy: Proxy) -> AsyncIterator[Between]:
    """A raw client and a raw agent with a proxy between them."""
    async with anyio.create_task_group() as tasks:
        client, to_client = await wire(tasks)
        agent, to_agent = await wire(tasks)
        ended: list[tuple[str, Ended]] = []

        async def serve() -> None:
            ended.append(await proxy.serve(to_client, to_agent))

        tasks.start_soon(serve)
        yield Between(client, agent, tasks, ended)
        tasks.cancel_scope.cancel()


@asynccontextmanager
async def member(proxy: Proxy) -> AsyncIterator[Wire]:
    """A raw conductor with a proxy as a member of its chain."""
    async with anyio.create_task_group() as tasks:
        conductor, other = await wire(tasks)
        tasks.start_soon(proxy.serve, other)
        yield conductor
        tasks.cancel_scope.cancel()


def chunk(text: str) -> Json:
    """The params of an update that says a piece of text."""
    content = {"type": "text", "text": text}
    return {
        "sessionId": "s",
        "update": {"sessionUpdate": "agent_message_chunk", "content": content},
    }


async def settled(true: Callable[[], object]) -> None:
    """Wait until something is so that nobody tells of."""
    with anyio.fail_after(HANG_SECONDS):
        while not true():
            await anyio.lowlevel.checkpoint()
