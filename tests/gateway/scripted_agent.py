"""A gateway whose agent a test plays by hand, message by message."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
from anyio.abc import TaskGroup

from accord import Agent
from accord.gateway.engine.memory import MemoryDisk
from accord.transport.memory import memory_pair
from accord.transport.transport import Transport
from tests.gateway.hosting import Hosting
from tests.hang_limit import HANG_SECONDS
from tests.proxy.wires import Wire

Json = dict[str, Any]

ANSWERS: dict[int, Json] = {
    1: {
        "protocolVersion": 1,
        "agentCapabilities": {"loadSession": True},
        "agentInfo": {"name": "scripted", "version": "1"},
    },
    2: {
        "protocolVersion": 2,
        "capabilities": {"session": {}},
        "info": {"name": "scripted", "version": "1"},
    },
}


class AgentWire(Wire):
    """The agent's end: it answers the handshake and opens sessions; the rest is heard."""

    def __init__(self, transport: Any, version: int) -> None:
        super().__init__(transport)
        self.version = version
        self.heard: list[Json] = []
        self.opened = 0

    def data_received(self, data: bytes) -> None:
        before = len(self.lines)
        super().data_received(data)
        for line in self.lines[before:]:
            self._take(json.loads(line))

    def _take(self, message: Json) -> None:
        match message.get("method"):
            case "initialize" if message["params"]["protocolVersion"] < self.version:
                error = {"code": -32022, "message": "no such version"}
                self.say({"id": message["id"], "error": error})
            case "initialize":
                self.answer(message["id"], ANSWERS[self.version])
            case "session/new":
                self.opened += 1
                self.answer(message["id"], {"sessionId": f"s{self.opened}"})
            case "session/load" | "session/resume":
                self.answer(message["id"], {})
            case _:
                self.heard.append(message)

    async def hears(self, method: str | None) -> Json:
        """Wait for the next message with this method; None is an answer."""
        with anyio.fail_after(HANG_SECONDS):
            while True:
                for at, message in enumerate(self.heard):
                    if message.get("method") == method:
                        return self.heard.pop(at)
                await anyio.lowlevel.checkpoint()

    def update(self, session_id: str, **update: Any) -> None:
        """Report something."""
        self.notify("session/update", {"sessionId": session_id, "update": update})

    def chunk(self, session_id: str, text: str) -> None:
        """Say a piece of text."""
        content = {"type": "text", "text": text}
        self.update(session_id, sessionUpdate="agent_message_chunk", messageId="m", content=content)


class Scripted(Hosting):
    """A gateway with an agent that is played by hand; `agents` are its processes."""

    def __init__(
        self,
        version: int,
        tasks: TaskGroup,
        disk: MemoryDisk | Path,
        options: Json,
        grace_seconds: float,
    ) -> None:
        self.version = version
        self.agents: list[AgentWire] = []
        super().__init__(Agent("unused", version="1"), tasks, disk, options, grace_seconds)

    def _start(self, folders: Sequence[str]) -> Transport:
        del folders
        near, far = memory_pair()
        wire = AgentWire(far, self.version)
        self.agents.append(wire)
        self.processes.append(far)
        self.tasks.start_soon(far.start, wire, self.tasks)
        return near

    @property
    def agent_wire(self) -> AgentWire:
        """The newest process."""
        return self.agents[-1]

    async def hears(self, method: str) -> tuple[AgentWire, Json]:
        """Wait until any process hears this."""
        while True:
            for agent in self.agents:
                if any(message.get("method") == method for message in agent.heard):
                    return agent, await agent.hears(method)
            await anyio.lowlevel.checkpoint()

    async def person(self, name: str, role: str = "editor", **capabilities: Any) -> Person:
        """Connect somebody who understands everything that the gateway tells."""
        capabilities["_meta"] = {"accord.extensions": {"methods": TOLD}}
        self_role, self.role = self.role, role
        try:
            wire = await self.raw(name, version=self.version, **capabilities)
        finally:
            self.role = self_role
        return Person(wire, self.version)

    async def pair(self, role: str = "editor", **capabilities: Any) -> tuple[Person, Person, str]:
        """Ann, who owns a session, and Bob, who follows it in a role."""
        ann = await self.person("ann", **capabilities)
        session_id = await ann.new()
        bob = await self.person("bob", **capabilities)
        await ann.lets_in(session_id, "bob", role)
        await bob.load(session_id)
        return ann, bob, session_id


TOLD = [
    f"_accord.session/{name}"
    for name in ("closed", "members", "presence", "primary", "settled", "turn")
]


class Person:
    """Somebody with a raw wire."""

    def __init__(self, wire: Wire, version: int) -> None:
        self.wire = wire
        self.version = version
        self.heard: list[Json] = []
        self._count = 0
        # What was said in the first messages that were heard, and how many of them those are.
        self._texts: list[str] = []
        self._looked_at = 0

    async def next(self) -> Json:
        """Hear the next message, and remember it."""
        message = await self.wire.hear()
        self.heard.append(message)
        return message

    def ask(self, method: str, params: Json) -> int:
        """Send a request; return its id."""
        self._count += 1
        self.wire.request(self._count, method, params)
        return self._count

    async def answer_to(self, request_id: int) -> Json:
        """Wait for an answer; what came before it is remembered."""
        for message in self.heard:
            if message.get("id") == request_id and "method" not in message:
                return message
        while True:
            message = await self.next()
            if message.get("id") == request_id and "method" not in message:
                return message

    async def call(self, method: str, params: Json) -> Json:
        """Ask, and wait for the whole answer."""
        return await self.answer_to(self.ask(method, params))

    async def new(self) -> str:
        """Open a session."""
        params: Json = {"cwd": "/"} | ({"mcpServers": []} if self.version == 1 else {})
        answer = await self.call("session/new", params)
        session_id: str = answer["result"]["sessionId"]
        return session_id

    async def load(self, session_id: str) -> Json:
        """Come to a session, with its history."""
        params: Json = {"sessionId": session_id, "cwd": "/"}
        if self.version == 1:
            return await self.call("session/load", params | {"mcpServers": []})
        return await self.call("session/resume", params | {"replayFrom": {"type": "start"}})

    async def lets_in(self, session_id: str, user: str, role: str) -> Json:
        """Give somebody a role."""
        params = {"sessionId": session_id, "user": user, "role": role}
        return await self.call("_accord.session/set_role", params)

    def prompt(self, session_id: str, text: str) -> int:
        """Send a prompt; return the id of the request."""
        block = {"type": "text", "text": text}
        return self.ask("session/prompt", {"sessionId": session_id, "prompt": [block]})

    async def hears(self, method: str, **wanted: Any) -> Json:
        """Wait for a message with this method and such params."""
        at = 0
        while True:
            while at >= len(self.heard):
                await self.next()
            message = self.heard[at]
            at += 1
            params = message.get("params") or {}
            if message.get("method") == method and wanted.items() <= params.items():
                self.heard.remove(message)
                self._texts, self._looked_at = [], 0
                return message

    async def synced(self) -> None:
        """Wait until everything that was sent so far has come."""
        await self.call("session/list", {})

    def texts(self) -> list[str]:
        """What was said, as far as it was heard."""
        new = self.heard[self._looked_at :]
        self._looked_at += len(new)
        for update in [one["params"]["update"] for one in new if "update" in _params(one)]:
            content = update.get("content")
            blocks = content if isinstance(content, list) else [content]
            self._texts += [
                one["text"] for one in blocks if isinstance(one, dict) and "text" in one
            ]
        return list(self._texts)


def _params(message: Json) -> Json:
    params = message.get("params")
    return params if isinstance(params, dict) else {}


@asynccontextmanager
async def scripted(
    version: int = 1,
    *,
    disk: MemoryDisk | Path | None = None,
    grace_seconds: float = 600.0,
    **options: Any,
) -> AsyncIterator[Scripted]:
    """Host an agent that the test plays."""
    with anyio.fail_after(HANG_SECONDS):
        async with anyio.create_task_group() as tasks:
            one = Scripted(version, tasks, disk or MemoryDisk(), options, grace_seconds)
            async with one.gateway, one.stack:
                yield one
            tasks.cancel_scope.cancel()
