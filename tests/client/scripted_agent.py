"""An agent made of raw JSON lines, for tests: it says exactly what a test tells it to say.

It shares no code with the client under test but the transport.  A script is a coroutine that gets
the agent; `expect` takes the next message, `say` sends one.
"""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any

import anyio

from accord.client import Client
from accord.client.permissions.request import Decision, PermissionRequest
from accord.transcript import Update
from accord.transport.memory import MemoryTransport, memory_pair
from accord.transport.transport import Ended
from tests.hang_limit import HANG_SECONDS

Json = dict[str, Any]

V1_ANSWER: Json = {
    "protocolVersion": 1,
    "agentInfo": {"name": "scripted", "version": "1"},
    "agentCapabilities": {
        "loadSession": True,
        "promptCapabilities": {"image": True},
        "sessionCapabilities": {"list": {}, "resume": {}, "close": {}, "delete": {}},
    },
}
V2_ANSWER: Json = {
    "protocolVersion": 2,
    "info": {"name": "scripted", "version": "2"},
    "capabilities": {"session": {"prompt": {"image": {}}, "delete": {}}},
}
ANSWERS = {1: V1_ANSWER, 2: V2_ANSWER}


class ScriptedAgent:
    """One end of a memory transport, in JSON."""

    def __init__(self, transport: MemoryTransport, version: int) -> None:
        self.transport = transport
        self.version = version
        self.received: list[Json] = []
        self.session_id = "s1"
        self._unread = b""
        self._taken = 0
        self._more = anyio.Event()
        self._next_id = 0
        self.ended = anyio.Event()

    # ---- the transport's side

    def data_received(self, data: bytes) -> None:
        *lines, self._unread = (self._unread + data).split(b"\n")
        self.received.extend(json.loads(line) for line in lines if line)
        self._more.set()

    def ended_(self, why: Ended) -> None:
        self.ended.set()
        self._more.set()

    # ---- hearing

    async def next(self) -> Json:
        """The next message of the client, whatever it is."""
        while self._taken >= len(self.received):
            self._more = anyio.Event()
            await self._more.wait()
        self._taken += 1
        return self.received[self._taken - 1]

    async def expect(self, method: str) -> Json:
        """The next message, which must be of this method."""
        message = await self.next()
        assert message.get("method") == method, message
        return message

    def sent(self, method: str) -> list[Json]:
        """All messages of a method that the client has sent so far."""
        return [message for message in self.received if message.get("method") == method]

    # ---- saying

    def write(self, *messages: Json | bytes) -> None:
        """Send messages in one chunk; bytes are sent as they are."""
        lines = [
            message if isinstance(message, bytes) else json.dumps(message).encode() + b"\n"
            for message in messages
        ]
        self.transport.write(b"".join(lines))

    def result(self, request: Json, result: Any) -> None:
        """Answer a request."""
        self.write({"jsonrpc": "2.0", "id": request["id"], "result": result})

    def error(self, request: Json, code: int, message: str = "no", data: Any = None) -> None:
        """Refuse a request."""
        error = {"code": code, "message": message, **({} if data is None else {"data": data})}
        self.write({"jsonrpc": "2.0", "id": request["id"], "error": error})

    def update(self, update: Json, session_id: str | None = None) -> None:
        """Send a `session/update`."""
        self.write(self.update_message(update, session_id))

    def update_message(self, update: Json, session_id: str | None = None) -> Json:
        """A `session/update` that is not sent yet."""
        params = {"sessionId": session_id or self.session_id, "update": update}
        return {"jsonrpc": "2.0", "method": "session/update", "params": params}

    def say(self, text: str, message_id: str = "m1") -> None:
        """One chunk of an agent's message."""
        self.update(chunk(text, message_id if self.version == 2 else None))

    def state(self, state: str, **more: Any) -> None:
        """A `state_update` of v2."""
        self.update({"sessionUpdate": "state_update", "state": state, **more})

    def request(self, method: str, params: Any) -> int:
        """Send a request of the agent's own; its id."""
        self._next_id += 1
        self.write({"jsonrpc": "2.0", "id": self._next_id, "method": method, "params": params})
        return self._next_id

    async def answer_to(self, request_id: int) -> Json:
        """The client's answer to one of our requests; it must be the next message."""
        message = await self.next()
        assert "method" not in message, message
        assert message["id"] == request_id, message
        return message

    def ask_permission(self, tool_call_id: str = "t1", title: str = "Edit") -> int:
        """Ask for a permission with the four usual options."""
        kinds = ("allow_once", "allow_always", "reject_once", "reject_always")
        options = [{"optionId": kind, "name": kind, "kind": kind} for kind in kinds]
        call = {"toolCallId": tool_call_id, "kind": "edit"}
        params: Json = {"sessionId": self.session_id, "options": options}
        if self.version == 1:
            params["toolCall"] = {**call, "title": title}
        else:
            params.update(title=title, subject={"type": "tool_call", "toolCall": call})
        return self.request("session/request_permission", params)

    # ---- the usual beginnings and ends

    async def shake_hands(self, answer: Json | None = None) -> Json:
        """Answer `initialize`."""
        request = await self.expect("initialize")
        self.result(request, answer or ANSWERS[self.version])
        return request

    async def open_session(self, **result: Any) -> Json:
        """Answer `session/new`."""
        request = await self.expect("session/new")
        self.result(request, {"sessionId": self.session_id, **result})
        return request

    async def begin_turn(self) -> Json:
        """Take a prompt; in v2 it is inserted and work begins."""
        request = await self.expect("session/prompt")
        if self.version == 2:
            self.result(request, {"messageId": "u1"})
            self.state("running")
        return request

    def end_turn(self, request: Json, stop_reason: str = "end_turn") -> None:
        """End the work that a prompt began."""
        if self.version == 1:
            self.result(request, {"stopReason": stop_reason})
        else:
            self.state("idle", stopReason=stop_reason)


class _Receiver:
    def __init__(self, agent: ScriptedAgent) -> None:
        self.data_received = agent.data_received
        self.ended = agent.ended_


class Hearing:
    """A listener for `on_update` that waits until the agent has said `done`."""

    def __init__(self) -> None:
        self.done = anyio.Event()

    def __call__(self, update: Update) -> None:
        if update.text == "done":
            self.done.set()


def chunk(text: str, message_id: str | None = None) -> Json:
    """An `agent_message_chunk`."""
    update: Json = {
        "sessionUpdate": "agent_message_chunk",
        "content": {"type": "text", "text": text},
    }
    return update if message_id is None else {**update, "messageId": message_id}


Script = Callable[[ScriptedAgent], Awaitable[None]]


@asynccontextmanager
async def playing(
    script: Script, version: int = 1
) -> AsyncIterator[tuple[ScriptedAgent, MemoryTransport]]:
    """Play a script; gives the agent and the transport for the client.  Nothing takes long."""
    ours, theirs = memory_pair()
    agent = ScriptedAgent(theirs, version)

    failures: list[Exception] = []
    scope = anyio.CancelScope()

    async def play() -> None:
        try:
            await script(agent)
        except Exception as failure:
            # The script's own complaint says more than what the client makes of its silence.
            failures.append(failure)
            scope.cancel()

    tasks = anyio.create_task_group()
    with anyio.fail_after(HANG_SECONDS):
        await tasks.__aenter__()
        try:
            await theirs.start(_Receiver(agent), tasks)
            tasks.start_soon(play)
            with scope:
                yield agent, ours
        finally:
            # Not inside the group: there a test's exception would come out wrapped.
            with anyio.CancelScope(shield=True):
                await theirs.aclose()
            tasks.cancel_scope.cancel()
            await tasks.__aexit__(None, None, None)
            if failures:
                raise failures[0]


@asynccontextmanager
async def connected(
    script: Script, version: int = 1, **options: Any
) -> AsyncIterator[tuple[Client, ScriptedAgent]]:
    """A client that has shaken hands with an agent, which then plays the script."""
    async with playing_with(ANSWERS[version], script, version, **options) as found:
        yield found


@asynccontextmanager
async def playing_with(
    answer: Json, script: Script, version: int = 1, **options: Any
) -> AsyncIterator[tuple[Client, ScriptedAgent]]:
    """The same with an answer to `initialize` of the test's own."""

    async def whole(agent: ScriptedAgent) -> None:
        await agent.shake_hands(answer)
        await script(agent)

    async with (
        playing(whole, version) as (agent, transport),
        Client.connect(transport, **{**BARE, **options}) as client,
    ):
        yield client, agent


class _Nobody:
    async def decide(self, request: PermissionRequest) -> Decision:
        return Decision(None)


# Without services, which have tests of their own.
BARE: Json = {"permissions": _Nobody(), "files": False, "terminals": False}


__all__ = ["BARE", "Hearing", "ScriptedAgent", "chunk", "connected", "playing", "playing_with"]
