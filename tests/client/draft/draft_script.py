"""A scripted agent of the 2026-02 draft on a memory transport, in raw JSON.

There is only one connection, so its client asks it a second time where it was: once in the usual
form, which it answers in its own shape, and then in the draft's.
"""

from __future__ import annotations

import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from accord.client import Client
from accord.client.options import DraftOptions
from tests.client.scripted_agent import BARE, Json, Script, ScriptedAgent, playing

# The same as a program, for tests with a real process.
PROGRAM = (sys.executable, str(Path(__file__).parent / "draft_agent.py"))

ANSWER: Json = {
    "protocolVersion": 1,
    "agentInfo": {"name": "scripted", "version": "1"},
    "capabilities": {
        "loadSession": True,
        "mcpCapabilities": {"servers": True, "transport": ["stdio", "http", "sse"]},
        "promptCapabilities": {"streaming": True, "cancellation": True, "attachments": True},
        "sessionCapabilities": {
            "modes": ["default", "plan", "ask"],
            "configOptions": ["autoApprove", "model"],
        },
    },
}
CREATED = "2026-02-04T10:30:00Z"


def tell(agent: ScriptedAgent, kind: str, session_id: str | None = None, **data: Any) -> None:
    """Send a `session/update` of the draft."""
    agent.write(told(agent, kind, session_id, **data))


def told(agent: ScriptedAgent, kind: str, session_id: str | None = None, **data: Any) -> Json:
    """The same, not sent yet."""
    params = {"sessionId": session_id or agent.session_id, "type": kind, "data": data}
    return {"jsonrpc": "2.0", "method": "session/update", "params": params}


def say(agent: ScriptedAgent, text: str, **more: Any) -> None:
    """One chunk of a message."""
    tell(agent, "agent_message_chunk", content=text, **more)


async def shake_hands(agent: ScriptedAgent, answer: Json | None = None) -> Json:
    """Be found out, and answer the draft's `initialize`; gives its params."""
    agent.result(await agent.expect("initialize"), answer or ANSWER)
    request = await agent.expect("initialize")
    agent.result(request, answer or ANSWER)
    params: Json = request["params"]
    return params


async def open_session(agent: ScriptedAgent, session_id: str = "s1") -> Json:
    """Answer `session/new`; gives its params."""
    request = await agent.expect("session/new")
    agent.result(request, {"sessionId": session_id, "createdAt": CREATED})
    params: Json = request["params"]
    return params


@asynccontextmanager
async def drafting(
    script: Script, answer: Json | None = None, **options: Any
) -> AsyncIterator[tuple[Client, ScriptedAgent]]:
    """A client that speaks the draft with an agent, which then plays the script."""
    if "credential" in options:
        options["draft"] = DraftOptions(credential=options.pop("credential"))

    async def whole(agent: ScriptedAgent) -> None:
        await shake_hands(agent, answer)
        await script(agent)

    async with (
        playing(whole) as (agent, transport),
        Client.connect(transport, **{**BARE, **options}) as client,
    ):
        yield client, agent


def asking(method: str, params: Json, answers: list[Json]) -> Script:
    """A script of one turn in which the client is asked one thing; its answer is put aside."""

    async def script(agent: ScriptedAgent) -> None:
        await open_session(agent)
        prompt = await agent.expect("session/prompt")
        answers.append(await agent.answer_to(agent.request(method, params)))
        agent.result(prompt, {"stopReason": "end_turn"})

    return script


__all__ = [
    "ANSWER",
    "CREATED",
    "PROGRAM",
    "asking",
    "drafting",
    "open_session",
    "say",
    "shake_hands",
    "tell",
    "told",
]
