"""What the tests of v2 share: an agent that does as it is told, and short ways through a turn."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from contextlib import AbstractAsyncContextManager
from typing import Any

import anyio

from accord.agent import Agent, Turn
from tests.agent.raw_client import OPEN, Message, RawClient, raw_client

Handler = Callable[[Turn], Awaitable[str | None]]


def made(handler: Handler | None = None, **more: Any) -> Agent:
    """An agent with this handler; without one it repeats the prompt."""
    agent = Agent("player", version="1.0", **more)

    async def echo(turn: Turn) -> None:
        await turn.say(turn.text)

    agent.on_prompt(handler or echo)
    return agent


def playing(
    agent: Agent, capabilities: Mapping[str, Any] | None = None, **more: Any
) -> AbstractAsyncContextManager[RawClient]:
    """A v2 client of the agent."""
    return raw_client(agent, version=2, capabilities=capabilities, **more)


def chosen(option_id: str) -> Message:
    """The answer to a permission request that chooses an option."""
    return {"outcome": {"outcome": "selected", "optionId": option_id}}


def allow(client: RawClient) -> None:
    """Say yes to every permission request from now on."""
    client.serve["session/request_permission"] = lambda params: chosen("allow_once")


def leave_open(client: RawClient, method: str) -> None:
    """Never answer requests of this method; they stay for the test to take."""
    client.serve[method] = lambda params: OPEN


def text(words: str) -> list[Message]:
    """A prompt of one text block."""
    return [{"type": "text", "text": words}]


async def insert(client: RawClient, session_id: str, words: str = "go") -> str:
    """Send a prompt and wait until it is part of the conversation; its message id."""
    result = await client.result("session/prompt", {"sessionId": session_id, "prompt": text(words)})
    message_id: str = result["messageId"]
    return message_id


async def idle(client: RawClient) -> Message:
    """The next state that is idle."""
    while True:
        state = await client.update("state_update")
        if state["state"] == "idle":
            return state


async def turn(client: RawClient, session_id: str, words: str = "go") -> Message:
    """A whole turn; the idle state that ended it."""
    await insert(client, session_id, words)
    return await idle(client)


def states(client: RawClient) -> list[str]:
    """All states so far, in order."""
    return [update["state"] for update in client.updates("state_update")]


def kinds(client: RawClient) -> list[str]:
    """All frames so far in short: the update's kind, the method, or `result`/`error` and the id."""
    return [kind_of(frame) for frame in client.frames]


def kind_of(frame: Message) -> str:
    """One frame in short."""
    if frame.get("method") == "session/update":
        update = frame["params"]["update"]
        more = f" {update['state']}" if update["sessionUpdate"] == "state_update" else ""
        return f"{update['sessionUpdate']}{more}"
    if "method" in frame:
        return str(frame["method"])
    return f"{'result' if 'result' in frame else 'error'} {frame['id']}"


def statuses(client: RawClient) -> list[str]:
    """All statuses that tool calls were given, in order."""
    return [one["status"] for one in client.updates("tool_call_update") if "status" in one]


async def settle(client: RawClient) -> None:
    """Wait until the agent has nothing left to do that it could do now."""
    await anyio.wait_all_tasks_blocked()
    await client.result("session/list", {})
