"""Turns: what a program sees of a prompt, and how it ends, in both versions."""

from __future__ import annotations

import pytest

from tests.client.deciders import Decider
from tests.client.scripted_agent import ScriptedAgent, connected

VERSIONS = pytest.mark.parametrize("version", [1, 2])
QUIET = {"files": False, "terminals": False}


@VERSIONS
async def test_a_turn_yields_what_the_agent_says_and_ends_with_its_stop_reason(
    version: int,
) -> None:
    """Ours: a client program looks the same whatever the agent speaks."""

    async def script(agent: ScriptedAgent) -> None:
        await agent.open_session()
        prompt = await agent.begin_turn()
        agent.say("Hel")
        agent.say("lo")
        agent.end_turn(prompt)

    decider = Decider(lambda request: None)
    async with connected(script, version, permissions=decider, **QUIET) as (client, agent):
        assert client.protocol_version == version
        session = await client.new_session()
        kinds = []
        async with session.prompt("Hi") as turn:
            async for update in turn:
                kinds.append((update.kind, update.text))
        assert kinds == [("message", "Hel"), ("message", "lo")]
        assert turn.stop_reason == "end_turn"
        assert [(m.role, m.text) for m in session.transcript.messages] == [
            ("user", "Hi"),
            ("agent", "Hello"),
        ]
        assert turn.reply.text == "Hello"
