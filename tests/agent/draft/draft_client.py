"""A client of the 2026-02 draft in plain JSON, which holds every message against the draft.

What the agent sends must be of the draft's types to the letter, its tool calls must go by the
draft's steps, and leaving the block fails on the first message that breaks this.
"""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Any

import anyio

from accord.agent import Agent
from accord.schema.codec import Invalid
from accord.schema.draft import AGENT_METHODS, CLIENT_METHODS, CODES, UPDATE_TYPES, decode_update
from accord.translate.draft.tool_statuses import NEXT_STATUSES
from accord.transport.memory import MemoryTransport, memory_pair
from tests.agent.raw_client import SECONDS, Message, RawClient, _Receiver, _serve

OFFER: Message = {
    "fs": {"read": True, "write": True},
    "terminal": {"create": True},
    "ui": {"permissionDialogs": True},
}
INFO = {"name": "raw", "version": "1"}


class DraftClient(RawClient):
    """The client's end, in the draft's words."""

    def __init__(self, transport: MemoryTransport) -> None:
        super().__init__(transport, 1, validate=False)
        self._asked: dict[Any, str] = {}
        self._statuses: dict[str, str] = {}

    def send(self, message: Any) -> None:
        if isinstance(message, dict) and "method" in message and "id" in message:
            self._asked[message["id"]] = message["method"]
        super().send(message)

    def _take(self, message: Message) -> None:
        try:
            self._judge(message)
        except Invalid as error:
            self.problems.append(f"{error} in {json.dumps(message)[:2000]}")
        super()._take(message)

    def _judge(self, message: Message) -> None:
        method = message.get("method")
        if method is None:
            self._judge_answer(message)
            return
        row = CLIENT_METHODS.get(method)
        if row is None:
            if not method.startswith("_"):
                self.problems.append(f"{method} is not a method of the draft's clients")
            return
        params = row.decode_params(json.dumps(message["params"]).encode(), strict=True)
        if method == "session/update":
            if params.type not in UPDATE_TYPES:
                self.problems.append(f"{params.type} is not an update of the draft")
            decode_update(params, strict=True)
            self._judge_step(message["params"])

    def _judge_answer(self, message: Message) -> None:
        row = AGENT_METHODS.get(self._asked.get(message.get("id"), ""))
        error = message.get("error")
        if error is not None and error["code"] not in CODES:
            self.problems.append(f"{error['code']} is not a code of the draft")
        if "result" in message and row is not None:
            row.decode_result(json.dumps(message["result"]).encode(), strict=True)

    def _judge_step(self, params: Message) -> None:
        data, kind = params["data"], params["type"]
        if kind not in ("tool_call", "tool_call_update"):
            return
        call_id, now = data["id"], data.get("status")
        before = self._statuses.get(call_id)
        if (kind == "tool_call") != (before is None):
            self.problems.append(f"{kind} of a call that is {before}")
        if now is None:
            return
        legal = ("pending",) if before is None else NEXT_STATUSES[before]
        if now not in legal:
            self.problems.append(f"{now} after {before}")
        self._statuses[call_id] = now

    # ---- short ways

    async def data(self, kind: str) -> Message:
        """The data of the next update of a type."""
        found = await self.take(
            lambda message: (
                message.get("method") == "session/update" and message["params"]["type"] == kind
            )
        )
        data: Message = found["params"]["data"]
        return data

    def told(self, kind: str | None = None) -> list[Message]:
        """The data of all updates so far, of one type if given."""
        every = [f["params"] for f in self.frames if f.get("method") == "session/update"]
        return [one["data"] for one in every if kind is None or one["type"] == kind]

    def statuses(self) -> list[str]:
        """The statuses of tool calls, in order."""
        calls = [*self.told()]
        return [one["status"] for one in calls if "status" in one and "id" in one]

    def text(self) -> str:
        return "".join(one["content"] for one in self.told("agent_message_chunk"))

    async def new_session(self, cwd: str = "/tmp", **more: Any) -> str:
        result = await self.result("session/new", {"workingDirectory": cwd, **more})
        session_id: str = result["sessionId"]
        return session_id

    def start_prompt(self, session_id: str, text: str = "go", **more: Any) -> Any:
        blocks = [{"type": "text", "text": text}]
        params = {"sessionId": session_id, "content": blocks, **more}
        return self.start("session/prompt", params)

    async def prompt(self, session_id: str, text: str = "go", **more: Any) -> Any:
        answer = await self.answer(self.start_prompt(session_id, text, **more))
        assert "result" in answer, answer
        return answer["result"]

    def grant(self, request: Message, **how: Any) -> None:
        """Answer a permission request with yes."""
        self.reply(request, {"granted": True, **how})


def hello(capabilities: Mapping[str, Any] | None = None) -> Message:
    """The params of `initialize`."""
    offered = OFFER if capabilities is None else capabilities
    return {"protocolVersion": 1, "clientInfo": INFO, "capabilities": dict(offered)}


@asynccontextmanager
async def draft_client(
    agent: Agent,
    capabilities: Mapping[str, Any] | None = None,
    *,
    initialize: bool = True,
    judge: bool = True,
) -> AsyncIterator[DraftClient]:
    """Serve `agent` to a client of the draft; with `initialize` the handshake is done."""
    ours, theirs = memory_pair()
    client = DraftClient(ours)
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(_serve, agent, theirs, client.agent_scope)
        await ours.start(_Receiver(client), tasks)
        if initialize:
            await client.result("initialize", hello(capabilities))
        yield client
        with anyio.fail_after(SECONDS):
            await client.close()
    assert not judge or client.problems == [], client.problems
