"""What a model knows: within a session, after a restart, and when its window is full."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from accord.builtin.models.model_loader import LoadedModel, load_model
from accord.builtin.models.providers import ModelChoice
from accord.store import MemoryStore
from tests.agent.raw_client import raw_client
from tests.builtin.llm.talk import EVERYTHING, FORMATS, Talk, choice_of, made, talk
from tests.fake_llm import FakeLLM

VERSIONS = pytest.mark.parametrize("version", [1, 2])


@pytest.mark.parametrize("form", FORMATS)
async def test_the_conversation_goes_on_after_a_restart(
    form: str, llm: FakeLLM, project: Path
) -> None:
    """Issue 3: model history is stored, so that it goes on with what the model knew."""
    store = MemoryStore()
    choice = choice_of(form, llm)
    script = '[[think hm]][[say My name is Ada.]][[tool glob {"pattern": "*.py"}]][[say ok]]'
    async with talk(made(choice, store=store), project, version=1) as session:
        await session.say(script)
        session_id = session.session_id
    async with raw_client(made(choice, store=store), capabilities=EVERYTHING) as client:
        params = {"sessionId": session_id, "cwd": str(project), "mcpServers": []}
        await client.result("session/load", params)
        end = await Talk(client, session_id).say("[[say again]]")
        assert end["stopReason"] == "end_turn"
    known = json.dumps(llm.asked[-1]).replace("[[say My name is Ada.]]", "")
    assert "My name is Ada." in known
    assert "calc.py" in known


async def test_history_that_cannot_be_read_is_said_and_the_session_goes_on(
    llm: FakeLLM, project: Path
) -> None:
    """Ours."""
    store = MemoryStore()
    async with talk(made(choice_of("chat", llm), store=store), project) as session:
        await session.say("[[say one]]")
        await store.keep(session.session_id, "model_history", b"{nonsense")
        end = await session.say("[[say two]]")
        assert end["stopReason"] == "end_turn"
        notices = [update["title"] for update in session.client.updates("notice")]
    assert any("could not be read" in notice for notice in notices)


def small(window: int) -> Any:
    """A loader for a model with a small window."""

    async def load(choice: ModelChoice) -> LoadedModel:
        return replace(await load_model(choice), context_window=window)

    return load


@VERSIONS
async def test_a_full_window_is_compacted_with_a_summary_of_the_model(
    version: int, llm: FakeLLM, project: Path
) -> None:
    """Issue 3: compaction when the window fills, shown as the protocol's updates."""
    agent = made(choice_of("anthropic", llm), load=small(10_000))
    async with talk(agent, project, version=version) as session:
        await session.say("[[say the first answer]][[usage 8500 100]]")
        end = await session.say("[[say the second answer]][[usage 700 100]]")
        assert end["stopReason"] == "end_turn"
        assert session.text == "the first answerthe second answer"
        updates = session.client.updates()
    if version == 2:
        statuses = [one["status"] for one in updates if one["sessionUpdate"] == "compaction_update"]
        assert statuses == ["in_progress", "completed"]
    summary, last = llm.asked[1], llm.asked[2]
    assert "Write down everything that is needed" in json.dumps(summary)
    assert "tools" not in summary
    told = json.dumps(last["messages"])
    assert "The conversation so far was summarised" in told
    assert llm.default in told
    assert "the first answer" not in told
    assert "[[say the second answer]]" in told


async def test_a_window_that_is_smaller_than_thought_is_compacted_and_asked_again(
    llm: FakeLLM, project: Path
) -> None:
    """Ours: what the server says about its window wins over what we know."""
    async with talk(made(choice_of("chat", llm)), project) as session:
        await session.say("[[say one]]")
        end = await session.say("[[flaky 1 400 0 maximum context length]][[say two]]")
        assert end["stopReason"] == "end_turn"
        assert session.text.endswith("two")
        assert len(session.client.updates("compaction_update")) == 2


async def test_a_summary_that_fails_is_made_by_rules(
    llm: FakeLLM, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Ours: the turn goes on."""
    monkeypatch.setattr(llm, "refuses_plain", 400)
    agent = made(choice_of("chat", llm), load=small(10_000))
    async with talk(agent, project) as session:
        await session.say("remember me [[say one]][[usage 9000 10]]")
        end = await session.say("[[say two]]")
        assert end["stopReason"] == "end_turn"
        assert session.text == "onetwo"
    told = json.dumps(llm.asked[-1]["messages"])
    assert "The user asked, in this order:" in told
    assert "remember me" in told


async def test_one_turn_that_fills_the_window_keeps_the_users_words(
    llm: FakeLLM, project: Path
) -> None:
    """Ours: the work of the turn is summarised too, what it is for is not."""
    (project / "long.txt").write_text("all work and no play\n" * 600)
    agent = made(choice_of("chat", llm), load=small(5_000))
    script = (
        'my wish [[tool read {"path": "long.txt"}]][[say one]][[tool glob {"pattern": "*.py"}]]'
        "[[say two]]"
    )
    async with talk(agent, project) as session:
        end = await session.say(script)
        assert end["stopReason"] == "end_turn"
        assert session.client.updates("compaction_update")
    told = json.dumps(llm.asked[-1]["messages"])
    assert "my wish" in told
    assert told.count("all work and no play") < 100
