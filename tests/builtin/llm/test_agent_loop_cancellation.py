"""A model that is stopped in the middle, or that says nothing at all."""

import json
from dataclasses import replace
from pathlib import Path

import anyio
import pytest

from accord.builtin.models.model_loader import LoadedModel, load_model
from accord.builtin.models.providers import ModelChoice
from tests.builtin.llm.talk import FORMATS, choice_of, made, talk
from tests.fake_llm import FakeLLM

EVERY_FORMAT = pytest.mark.parametrize("form", FORMATS)


@EVERY_FORMAT
@pytest.mark.parametrize("version", [1, 2])
async def test_what_was_said_before_the_cancellation_is_remembered(
    form: str, version: int, llm: FakeLLM, project: Path
) -> None:
    """Issue 3: cancellation in mid-stream at once, with the partial text kept in history.

    Whoever waited for the model would wait for ever.
    """
    async with talk(made(choice_of(form, llm)), project, version=version) as session:
        turn = session.start("[[say one two three]][[hang]]")
        while session.text != "one two three":
            await session.client.update("agent_message_chunk")
        session.client.notify("session/cancel", {"sessionId": session.session_id})
        assert (await session.ended(turn))["stopReason"] == "cancelled"
        assert (await session.say("[[say and on]]"))["stopReason"] == "end_turn"
    said = json.dumps(llm.asked[1]).replace("[[say one two three]]", "")
    assert "one two three" in said


async def test_a_tool_that_is_cut_short_is_answered_for_the_model(
    llm: FakeLLM, project: Path
) -> None:
    """Ours: a call without a result would make every provider refuse the next request."""
    async with talk(made(choice_of("anthropic", llm)), project) as session:
        await session.set("mode", "full-access")
        turn = session.start('[[tool run {"command": "sleep 30"}]][[&tool glob {"pattern": "*"}]]')
        while not any(
            update.get("status") == "in_progress"
            for update in session.client.updates("tool_call_update")
        ):
            await session.client.update("tool_call_update")
        session.client.notify("session/cancel", {"sessionId": session.session_id})
        assert (await session.ended(turn))["stopReason"] == "cancelled"
        assert [call["status"] for call in session.last_of_calls()] == ["cancelled", "cancelled"]
        assert (await session.say("[[say fine]]"))["stopReason"] == "end_turn"
    results = [
        block
        for message in llm.asked[-1]["messages"]
        if isinstance(message["content"], list)
        for block in message["content"]
        if block["type"] == "tool_result"
    ]
    assert len(results) == 2
    assert "interrupted" in json.dumps(results)


@EVERY_FORMAT
@pytest.mark.parametrize("script", ["[[hang]]", "[[say a word]][[hang]]"])
async def test_a_model_that_falls_silent_is_given_up(
    form: str, script: str, llm: FakeLLM, project: Path
) -> None:
    """Issue 3: a server that answers nothing, or no more."""

    async def impatient(choice: ModelChoice) -> LoadedModel:
        loaded = await load_model(choice)
        return replace(loaded, settings={**loaded.settings, "timeout": 0.2})

    agent = made(choice_of(form, llm), load=impatient)
    async with talk(agent, project, version=1) as session:
        end = await session.say(script)
        assert end["error"]["data"]["reason"] == "model_timed_out"
        assert "did not answer in time" in end["error"]["message"]
        assert (await session.say("[[say fine]]"))["stopReason"] == "end_turn"


async def test_a_server_that_accepts_and_says_nothing_is_given_up(project: Path) -> None:
    """Issue 3: nothing at all, not even a status."""

    async def impatient(choice: ModelChoice) -> LoadedModel:
        loaded = await load_model(choice)
        return replace(loaded, settings={**loaded.settings, "timeout": 0.2})

    async with await anyio.create_tcp_listener(local_host="127.0.0.1") as listener:
        port = listener.extra(anyio.abc.SocketAttribute.local_port)
        choice = ModelChoice("ollama", "silent", f"http://127.0.0.1:{port}/v1")
        async with talk(made(choice, load=impatient), project, version=1) as session:
            end = await session.say("hello")
    assert end["error"]["data"]["reason"] == "model_timed_out"
