"""Tool calls that are announced before all of them is known, as a model's are."""

from __future__ import annotations

from typing import Any

import pytest

from accord import Agent, LocalProtocolError, Turn
from accord.agent.turn import turn_state
from tests.agent.raw_client import raw_client
from tests.agent.test_agent_mistakes import ended

VERSIONS = pytest.mark.parametrize("version", [1, 2])


async def updates_of(handler: Any, version: int) -> list[dict[str, Any]]:
    """What a client sees of the tool calls of one turn."""
    agent = Agent("forming", version="1")
    agent.on_prompt(handler)
    async with raw_client(agent, version=version) as client:
        await ended(client, await client.new_session("/project"), version)
        return [update for update in client.updates() if "toolCallId" in update]


@VERSIONS
async def test_the_next_tool_call_is_the_one_that_was_announced(version: int) -> None:
    """Ours: a card appears when the model names the tool, and becomes what the tool says."""

    async def answer(turn: Turn) -> None:
        card = turn.tool_call("read", kind="read", name="read")
        await card.announce()
        turn_state(turn).forming = card
        async with turn.tool_call("Read a.py", kind="read", locations=["a.py"], raw_input={"p": 1}):
            pass
        async with turn.tool_call("Another"):
            pass

    updates = await updates_of(answer, version)
    ids = list(dict.fromkeys(update["toolCallId"] for update in updates))
    assert len(ids) == 2
    first, second = [update for update in updates if update["toolCallId"] == ids[0]][:2]
    assert (first["title"], second["title"]) == ("read", "Read a.py")
    assert second["rawInput"] == {"p": 1}
    assert second["locations"] == [{"path": "/project/a.py"}]


async def test_what_has_begun_cannot_become_another() -> None:
    """Ours: the caller's mistake."""
    caught: list[str] = []

    async def answer(turn: Turn) -> None:
        async with turn.tool_call("Begun") as call:
            turn_state(turn).forming = call
            try:
                turn.tool_call("Another")
            except LocalProtocolError as error:
                caught.append(str(error))

    await updates_of(answer, 2)
    assert caught == ["tool call 'Begun' is pending: it can be described only before it begins"]
