"""What the tests of the unstable parts have in common."""

from __future__ import annotations

import json
from typing import Any

from accord.agent import Agent, Turn
from accord.agent.agent import PromptHandler
from tests.agent.raw_client import Message, RawClient

CLIENT_OFFERS: dict[int, Message] = {1: {"plan": {}, "subagents": {}}, 2: {}}


def made(handler: PromptHandler | None = None, **more: Any) -> Agent:
    """An agent with its unstable parts on."""
    agent = Agent("unstable", version="1.0", unstable=True, **more)

    async def hello(turn: Turn) -> None:
        await turn.say("hello")

    agent.on_prompt(handler or hello)
    return agent


async def run_turn(client: RawClient, version: int, session_id: str, text: str = "go") -> Message:
    """A whole turn; v1's result, or v2's idle state."""
    answer = await client.answer(client.start_prompt(session_id, text))
    assert "result" in answer, answer
    if version == 1:
        result: Message = answer["result"]
        return result
    return await idle(client, session_id)


async def idle(client: RawClient, session_id: str) -> Message:
    """The next idle state of a session in v2."""
    found = await client.take(
        lambda message: (
            message.get("method") == "session/update"
            and message["params"]["sessionId"] == session_id
            and message["params"]["update"]["sessionUpdate"] == "state_update"
            and message["params"]["update"]["state"] == "idle"
        )
    )
    state: Message = found["params"]["update"]
    return state


def named_sessions(client: RawClient) -> list[str]:
    """The sessions that the agent's requests and notifications are about, in order."""
    ids = [f["params"]["sessionId"] for f in client.frames if "sessionId" in f.get("params", {})]
    return list(dict.fromkeys(ids))


def first_naming(client: RawClient, session_id: str) -> Message:
    """The first frame of the agent that says an id anywhere."""
    return next(frame for frame in client.frames if session_id in json.dumps(frame))


async def listed(client: RawClient, **params: Any) -> dict[str, Message]:
    """`session/list`, by id."""
    result = await client.result("session/list", params)
    return {one["sessionId"]: one for one in result["sessions"]}


def again(version: int) -> str:
    """The method that opens a stored session with its history."""
    return "session/load" if version == 1 else "session/resume"


def reopen(version: int, session_id: str, **more: Any) -> Message:
    """The params of that method."""
    params: Message = {"sessionId": session_id, "cwd": "/tmp", "mcpServers": [], **more}
    return params if version == 1 else params | {"replayFrom": {"type": "start"}}
