"""A scripted agent and a raw client around a `Translated` transport, over the memory transport."""

import json
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

import anyio

from accord.proxy.relay.translated_transport import Translated
from accord.transport.memory import MemoryTransport, memory_pair
from accord.transport.transport import Ended, Transport
from tests.hang_limit import HANG_SECONDS

Json = dict[str, Any]
INFO = {"name": "t", "version": "1"}
INITIALIZE = {
    "v1": {"protocolVersion": 1, "clientCapabilities": {}, "clientInfo": INFO},
    "v2": {"protocolVersion": 2, "capabilities": {}, "info": INFO},
    "draft": {"protocolVersion": 1, "capabilities": {"fs": {"read": True}}, "clientInfo": INFO},
}
ANSWERS = {
    "v1": {"protocolVersion": 1, "agentCapabilities": {"loadSession": True}, "agentInfo": INFO},
    "v2": {"protocolVersion": 2, "capabilities": {"session": {}}, "info": INFO},
    "draft": {
        "protocolVersion": 1,
        "agentInfo": INFO,
        "capabilities": {
            "loadSession": False,
            "mcpCapabilities": {"servers": False, "transport": []},
            "promptCapabilities": {"streaming": True, "cancellation": True, "attachments": False},
            "sessionCapabilities": {"modes": [], "configOptions": [], "persistence": False},
        },
    },
}


class End:
    """One end of a wire in plain JSON: keeps what comes, sends what it is told."""

    def __init__(self, transport: Any) -> None:
        self.transport = transport
        self.frames: list[Json] = []
        self.unread: list[Json] = []
        self._arrays: list[list[Json]] = []
        self.over: Ended | None = None
        self.inside = False
        self._text = b""
        self._news = anyio.Event()
        self.on_request: Callable[[Json], Json | None] = lambda _: None

    def data_received(self, data: bytes) -> None:
        assert not self.inside, "delivered from inside a write"
        *lines, self._text = (self._text + data).split(b"\n")
        for line in lines:
            message = json.loads(line)
            if isinstance(message, list):
                self._arrays.append(message)
                continue
            self.frames.append(message)
            answer = self.on_request(message) if "method" in message else None
            if answer is not None:
                self.send({"jsonrpc": "2.0", "id": message["id"], **answer})
            else:
                self.unread.append(message)
        self._news.set()

    def ended(self, why: Ended) -> None:
        self.over = why
        self._news.set()

    def send(self, message: Json) -> None:
        self.send_bytes(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")

    def send_bytes(self, data: bytes) -> None:
        self.inside = True
        self.transport.write(data)
        self.inside = False

    async def take(self, wanted: Callable[[Json], bool] = lambda _: True) -> Json:
        with anyio.fail_after(HANG_SECONDS):
            while True:
                for message in self.unread:
                    if wanted(message):
                        self.unread.remove(message)
                        return message
                self._news = anyio.Event()
                await self._news.wait()

    async def arrays(self, count: int) -> list[list[Json]]:
        """So many arrays, as soon as they are there."""
        with anyio.fail_after(HANG_SECONDS):
            while len(self._arrays) < count:
                self._news = anyio.Event()
                await self._news.wait()
        return self._arrays

    async def method(self, name: str) -> Json:
        return await self.take(lambda message: message.get("method") == name)

    async def answer(self, request_id: Any) -> Json:
        return await self.take(
            lambda message: "method" not in message and message["id"] == request_id
        )

    async def ask(self, request_id: Any, method: str, params: Json) -> Json:
        self.send({"id": request_id, "method": method, "params": params})
        return await self.answer(request_id)

    async def end(self) -> Ended:
        with anyio.fail_after(HANG_SECONDS):
            while self.over is None:
                self._news = anyio.Event()
                await self._news.wait()
        return self.over


class Stage:
    """The client's end, and each start of the agent."""

    def __init__(self) -> None:
        self.agents: list[End] = []
        self.client: End
        self.translated: Translated
        self.serve: Callable[[int, Json], Json | None] = lambda start, message: None

    @property
    def agent(self) -> End:
        return self.agents[-1]

    async def opened(self, outside: str) -> Json:
        return await self.client.ask(0, "initialize", INITIALIZE[outside])


def speaking(*versions: str) -> Callable[[int, Json], Json | None]:
    """Answers `initialize`; each start in the shape of its version, the last one from then on."""

    def serve(start: int, message: Json) -> Json | None:
        if message["method"] != "initialize":
            return None
        return {"result": ANSWERS[versions[min(start, len(versions) - 1)]]}

    return serve


@asynccontextmanager
async def staged(serve: Callable[[int, Json], Json | None], **options: Any) -> AsyncIterator[Stage]:
    """A client and a scripted agent, with a translator between them."""
    stage = Stage()
    async with anyio.create_task_group() as tasks:

        async def connect() -> Transport:
            ours, theirs = memory_pair()
            agent = End(theirs)
            start = len(stage.agents)
            agent.on_request = lambda message: serve(start, message)
            stage.agents.append(agent)
            await theirs.start(agent, tasks)
            return ours

        stage.translated = Translated(connect, **options)
        stage.client = End(stage.translated)
        await stage.translated.start(stage.client, tasks)
        yield stage
        await stage.translated.aclose()
        for agent in stage.agents:
            assert isinstance(agent.transport, MemoryTransport)
            await agent.transport.aclose()
        tasks.cancel_scope.cancel()
