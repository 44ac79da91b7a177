"""An array of messages from an agent: read in v2, refused in v1."""

from __future__ import annotations

import json

import pytest

from tests.client.scripted_agent import Json, ScriptedAgent, chunk, connected


def permission(request_id: int, call_id: str) -> Json:
    """A request for permission, in the words of v2."""
    options = [{"optionId": kind, "name": kind, "kind": kind} for kind in ("allow_once",)]
    call = {"type": "tool_call", "toolCall": {"toolCallId": call_id, "kind": "edit"}}
    params = {"sessionId": "s1", "title": "May I?", "subject": call, "options": options}
    return {
        "jsonrpc": "2.0",
        "id": request_id,
        "method": "session/request_permission",
        "params": params,
    }


def line(*entries: Json | int) -> bytes:
    """A line with an array of these."""
    return json.dumps(entries).encode() + b"\n"


@pytest.mark.rule("V2-GEN-06", "TR-BATCH-04")
async def test_in_v2_its_entries_count_and_one_array_answers_them() -> None:
    """Issue 13: updates are shown, each request is decided, and the bad entry is told."""
    answers: list[Json] = []

    async def script(agent: ScriptedAgent) -> None:
        await agent.open_session()
        turn = await agent.begin_turn()
        said = agent.update_message(chunk("hello", "m"))
        agent.write(line(said, permission(71, "a"), 5, permission(72, "b")))
        answers.extend(await agent.next())  # type: ignore[arg-type]
        agent.end_turn(turn)

    async with connected(script, 2) as (client, _):
        session = await client.new_session()
        outcome = await session.ask("x")
    assert outcome.text == "hello"
    assert {one["id"] for one in answers} == {None, 71, 72}
    assert all("outcome" in one["result"] for one in answers if one["id"] is not None)


@pytest.mark.rule("V1-GEN-14")
async def test_in_v1_it_is_refused_once_and_nothing_in_it_counts() -> None:
    """Spec: one -32600 with `id: null`."""

    async def script(agent: ScriptedAgent) -> None:
        await agent.open_session()
        turn = await agent.begin_turn()
        agent.write(line(agent.update_message(chunk("hello")), permission(71, "a")))
        refused = await agent.next()
        assert (refused["id"], refused["error"]["code"]) == (None, -32600)
        agent.end_turn(turn)

    async with connected(script, 1) as (client, _):
        session = await client.new_session()
        assert (await session.ask("x")).text == ""
