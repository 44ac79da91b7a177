"""Forks of hosted sessions: whose they are, what they begin with, and where they live."""

from __future__ import annotations

from typing import Any

import pytest

from accord.gateway.engine.memory import MemoryDisk
from tests.gateway import scripted_agent
from tests.gateway.scripted_agent import Person, Scripted, scripted

pytestmark = pytest.mark.anyio


@pytest.fixture(params=[1, 2])
def version(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> int:
    """A version whose agent can fork."""
    number: int = request.param
    answer = {**scripted_agent.ANSWERS[number]}
    if number == 1:
        able = answer["agentCapabilities"]
        answer["agentCapabilities"] = {**able, "sessionCapabilities": {"fork": {}, "close": {}}}
    else:
        answer["capabilities"] = {"session": {"fork": {}}}
    monkeypatch.setitem(scripted_agent.ANSWERS, number, answer)
    return number


async def talk(one: Scripted, person: Person, session_id: str, text: str) -> None:
    """One whole turn."""
    request = person.prompt(session_id, text)
    agent, prompt = await one.hears("session/prompt")
    named = prompt["params"]["sessionId"]
    if agent.version == 1:
        agent.chunk(named, f"about {text}")
        agent.answer(prompt["id"], {"stopReason": "end_turn"})
    else:
        agent.answer(prompt["id"], {})
        blocks = prompt["params"]["prompt"]
        agent.update(named, sessionUpdate="user_message", messageId=f"u-{text}", content=blocks)
        agent.update(named, sessionUpdate="state_update", state="running")
        agent.chunk(named, f"about {text}")
        idle: Any = {"state": "idle", "stopReason": "end_turn"}
        agent.update(named, sessionUpdate="state_update", **idle)
    await person.answer_to(request)


async def fork(
    one: Scripted, person: Person, session_id: str, *, leaves: bool = False
) -> dict[str, Any]:
    """Fork; the agent says something about the fork before it answers."""
    params: dict[str, Any] = {"sessionId": session_id, "cwd": "/"}
    if person.version == 1:
        params["mcpServers"] = []
    request = person.ask("session/fork", params)
    agent, asked = await one.hears("session/fork")
    assert asked["params"]["sessionId"] == "s1"
    agent.chunk("f1", "early")
    agent.answer(asked["id"], {"sessionId": "f1"})
    if leaves:
        agent.answer((await agent.hears("session/close"))["id"], {})
    return await person.answer_to(request)


async def test_a_fork_has_the_history_and_goes_on_alone(version: int) -> None:
    """Issue 17: a log of its own, and an owner; the source does not change."""
    async with scripted(version) as one:
        ann = await one.person("ann")
        source = await ann.new()
        await talk(one, ann, source, "one")
        ann.heard.clear()
        assert (await fork(one, ann, source))["result"]["sessionId"] == "f1"
        # Its owner knows the history; what is new is told.
        await talk(one, ann, "f1", "two")
        await ann.synced()
        assert ann.texts()[0] == "early"
        assert "about one" not in ann.texts()
        assert len(one.agents) == 2  # The first one was asked what it is.
        later = await one.person("ann")
        await later.load("f1")
        assert later.texts() == ["one", "about one", "early", "two", "about two"]
        again = await one.person("ann")
        await again.load(source)
        assert again.texts() == ["one", "about one"]


async def test_a_fork_of_a_member_belongs_to_the_member(version: int) -> None:
    """Issue 17: owner, roles and process; a viewer starts nothing."""
    async with scripted(version) as one:
        ann, bob, source = await one.pair("viewer")
        await talk(one, ann, source, "one")
        params = {"sessionId": source, "cwd": "/", "mcpServers": []}
        refused = await bob.call("session/fork", params)
        assert refused["error"]["data"]["reason"] == "role"
        await ann.lets_in(source, "bob", "editor")
        # It leaves ann's process, and its next prompt starts one of bob's.
        assert "result" in await fork(one, bob, source, leaves=True)
        assert list(one.gateway.sessions.live["f1"].facts.members) == []
        await talk(one, bob, "f1", "two")
        assert len(one.agents) == 3
        hers = await ann.call("session/list", {})
        assert [item["sessionId"] for item in hers["result"]["sessions"]] == [source]
        assert (await ann.load("f1"))["error"]["code"] == -32002


async def test_a_fork_of_a_running_turn_is_idle_also_after_a_restart(version: int) -> None:
    """Ours: nothing of the fork was interrupted."""
    disk = MemoryDisk()
    async with scripted(version, disk=disk) as one:
        ann = await one.person("ann")
        source = await ann.new()
        await talk(one, ann, source, "one")
        ann.prompt(source, "two")
        await one.agent_wire.hears("session/prompt")
        await fork(one, ann, source)
        assert not one.gateway.sessions.live["f1"].is_busy
    async with scripted(version, disk=disk) as one:
        ann = await one.person("ann")
        await ann.load("f1")
        assert not [text for text in ann.texts() if "interrupted" in text]
        assert ann.texts()[:2] == ["one", "about one"]


async def test_an_agent_that_cannot_fork_is_not_asked() -> None:
    """Issue 17: a clear error."""
    async with scripted(1) as one:
        ann = await one.person("ann")
        source = await ann.new()
        answer = await ann.call("session/fork", {"sessionId": source, "cwd": "/", "mcpServers": []})
        assert answer["error"]["code"] == -32601
        assert "cannot fork" in answer["error"]["message"]
