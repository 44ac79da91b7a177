"""A client in plain JSON that plays against an `Agent` over the memory transport.

It shares nothing with the library's own client: it sends the messages a test writes down and keeps
every message that the agent sends.  Where the node packages are installed, every message of the
agent is held against the official schema, and leaving the block fails on the first that is wrong.
"""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from typing import Any

import anyio

from accord.agent import Agent
from accord.transport.memory import MemoryTransport, memory_pair
from accord.transport.transport import Ended
from tests.hang_limit import HANG_SECONDS
from tests.interop.messages.validator import SCHEMAS, Validator

Message = dict[str, Any]
Serve = Callable[[Message], Any]

# A bound for what hangs, not for how long it takes: some agents load large packages first.
SECONDS = HANG_SECONDS
# A handler of the test that returns this leaves the request open.
OPEN = object()


class RawClient:
    """The client's end.  `frames` has all that the agent sent, `unread` what no test took yet."""

    def __init__(
        self, transport: MemoryTransport, version: int, validate: bool, unstable: bool = False
    ) -> None:
        self._transport = transport
        self.version = version
        self._ids = 0
        self._text = b""
        self._news = anyio.Event()
        judged = validate and SCHEMAS.is_dir()
        self._validator = Validator(version, unstable) if judged else None
        self.ended = anyio.Event()
        self.agent_scope = anyio.CancelScope()
        self.frames: list[Message] = []
        self.arrays: list[list[Message]] = []
        self.unread: list[Message] = []
        self.problems: list[str] = []
        # Answers to the agent's requests, by method; without one a request waits for the test.
        self.serve: dict[str, Serve] = {}

    # ---- what the transport tells

    def data_received(self, data: bytes) -> None:
        *lines, self._text = (self._text + data).split(b"\n")
        for line in lines:
            message = json.loads(line)
            if isinstance(message, list):
                self.arrays.append(message)
            for one in message if isinstance(message, list) else [message]:
                self._take(one)
        self._news.set()

    def _take(self, message: Message) -> None:
        if self._validator is not None:
            for problem in self._validator.check("agent", message):
                self.problems.append(f"{problem} in {json.dumps(message)[:2000]}")
        self.frames.append(message)
        served = self.serve.get(message.get("method", ""))
        if served is not None:
            result = served(message.get("params", {}))
            if result is not OPEN:
                if "id" in message:
                    self.reply(message, result)
                return
        self.unread.append(message)

    # ---- sending

    def send(self, message: Any) -> None:
        """Send one message as it is."""
        if self._validator is not None and isinstance(message, dict):
            self._validator.check("client", message)
        self.send_bytes(json.dumps(message).encode() + b"\n")

    def send_bytes(self, data: bytes) -> None:
        """Send bytes as they are."""
        self._transport.write(data)

    def start(self, method: str, params: Any = None, *, id_: Any = None) -> Any:
        """Send a request and return its id at once."""
        self._ids += 1
        request_id = self._ids if id_ is None else id_
        message = {"jsonrpc": "2.0", "id": request_id, "method": method}
        self.send(message if params is None else message | {"params": params})
        return request_id

    def notify(self, method: str, params: Any = None) -> None:
        """Send a notification."""
        message: Message = {"jsonrpc": "2.0", "method": method}
        self.send(message if params is None else message | {"params": params})

    def reply(self, request: Message, result: Any) -> None:
        """Answer a request of the agent."""
        self.send({"jsonrpc": "2.0", "id": request["id"], "result": result})

    def refuse(self, request: Message, code: int, message: str = "no", data: Any = None) -> None:
        """Answer a request of the agent with an error."""
        error: Message = {"code": code, "message": message}
        error = error if data is None else error | {"data": data}
        self.send({"jsonrpc": "2.0", "id": request["id"], "error": error})

    def stop_agent(self) -> None:
        """Cancel the agent's serving, as a program that shuts down does."""
        self.agent_scope.cancel()

    async def close(self) -> None:
        """Hang up."""
        await self._transport.aclose()

    # ---- receiving

    async def take(self, wanted: Callable[[Message], bool]) -> Message:
        """The first unread message that fits; fails after some seconds."""
        with anyio.fail_after(SECONDS):
            while True:
                for message in self.unread:
                    if wanted(message):
                        self.unread.remove(message)
                        return message
                self._news = anyio.Event()
                await self._news.wait()

    async def next(self, method: str) -> Message:
        """The next request or notification of a method."""
        return await self.take(lambda message: message.get("method") == method)

    async def update(self, kind: str) -> Message:
        """The next `session/update` of a kind, without its envelope."""
        found = await self.take(
            lambda message: (
                message.get("method") == "session/update"
                and message["params"]["update"]["sessionUpdate"] == kind
            )
        )
        update: Message = found["params"]["update"]
        return update

    async def answer(self, request_id: Any) -> Message:
        """The whole answer to a request of ours."""
        return await self.take(
            lambda message: (
                "method" not in message
                and message.get("id") == request_id
                and type(message.get("id")) is type(request_id)
            )
        )

    async def request(self, method: str, params: Any = None) -> Message:
        """Send a request and wait for the whole answer."""
        return await self.answer(self.start(method, params))

    async def result(self, method: str, params: Any = None) -> Any:
        """Send a request, wait, and fail unless it has a result."""
        answer = await self.request(method, params)
        assert "result" in answer, answer
        return answer["result"]

    async def error(self, method: str, params: Any = None) -> Message:
        """Send a request, wait, and fail unless it has an error."""
        answer = await self.request(method, params)
        assert "error" in answer, answer
        error: Message = answer["error"]
        return error

    # ---- what was seen

    def updates(self, kind: str | None = None) -> list[Message]:
        """All updates so far, of one kind if given."""
        every = [f["params"]["update"] for f in self.frames if f.get("method") == "session/update"]
        return [one for one in every if kind is None or one["sessionUpdate"] == kind]

    def methods(self) -> list[str]:
        """The method of every request and notification so far."""
        return [frame["method"] for frame in self.frames if "method" in frame]

    def text(self) -> str:
        """All that the agent said."""
        return "".join(
            one["content"]["text"]
            for one in self.updates("agent_message_chunk")
            if one["content"]["type"] == "text"
        )

    # ---- short ways of v1

    async def new_session(self, cwd: str = "/tmp", **more: Any) -> str:
        """`session/new`, and its id."""
        result = await self.result("session/new", {"cwd": cwd, "mcpServers": [], **more})
        session_id: str = result["sessionId"]
        return session_id

    def start_prompt(self, session_id: str, text: str = "go") -> Any:
        """`session/prompt` with one text."""
        blocks = [{"type": "text", "text": text}]
        return self.start("session/prompt", {"sessionId": session_id, "prompt": blocks})

    async def prompt(self, session_id: str, text: str = "go") -> Any:
        """A whole turn of v1; its result."""
        answer = await self.answer(self.start_prompt(session_id, text))
        assert "result" in answer, answer
        return answer["result"]

    def cancel(self, session_id: str) -> None:
        """`session/cancel` of v1."""
        self.notify("session/cancel", {"sessionId": session_id})


class _Receiver:
    def __init__(self, client: RawClient) -> None:
        self._client = client

    def data_received(self, data: bytes) -> None:
        self._client.data_received(data)

    def ended(self, why: Ended) -> None:
        self._client.ended.set()


@asynccontextmanager
async def raw_client(
    agent: Agent,
    *,
    version: int = 1,
    capabilities: Mapping[str, Any] | None = None,
    initialize: bool = True,
    validate: bool = True,
) -> AsyncIterator[RawClient]:
    """Serve `agent` to a raw client; with `initialize` the handshake is done."""
    ours, theirs = memory_pair()
    client = RawClient(ours, version, validate, agent._definition.unstable)
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(_serve, agent, theirs, client.agent_scope)
        await ours.start(_Receiver(client), tasks)
        if initialize:
            await client.result("initialize", initialize_params(version, capabilities))
        yield client
        with anyio.fail_after(SECONDS):
            await client.close()
    assert client.problems == []


async def _serve(agent: Agent, transport: MemoryTransport, scope: anyio.CancelScope) -> None:
    with scope:
        await agent.serve(transport)


def initialize_params(version: int, capabilities: Mapping[str, Any] | None) -> Message:
    """The params of `initialize` in the names of a version."""
    offered = dict(capabilities or {})
    info = {"name": "raw", "version": "1.0"}
    if version == 1:
        return {"protocolVersion": 1, "clientCapabilities": offered, "clientInfo": info}
    return {"protocolVersion": version, "capabilities": offered, "info": info}
