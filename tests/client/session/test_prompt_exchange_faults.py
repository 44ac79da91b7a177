"""Turns that go wrong: errors, malformed answers, dead agents, things nobody understands."""

from __future__ import annotations

from typing import Any

import anyio
import pytest

from accord.client import PromptTurn
from accord.errors import ConnectionLost, LocalProtocolError, RemoteProtocolError, RequestFailed
from tests.client.scripted_agent import ScriptedAgent, chunk, connected


async def watch(turn: PromptTurn, seen: list[str]) -> None:
    """Take every update."""
    async with turn:
        async for update in turn:
            seen += [update.text]


async def look_away(turn: PromptTurn) -> None:
    """Take none, and leave when it is over."""
    async with turn:
        await anyio.wait_all_tasks_blocked()
        assert turn.is_over


VERSIONS = pytest.mark.parametrize("version", [1, 2])


@VERSIONS
@pytest.mark.rule("V1-GEN-11")
async def test_an_error_answer_is_raised_where_the_iteration_stands(version: int) -> None:
    """Ours; codes that we do not know are errors like any other."""

    async def script(agent: ScriptedAgent) -> None:
        await agent.open_session()
        for _ in range(3):
            agent.error(await agent.expect("session/prompt"), -32077, "odd", {"why": 1})

    async with connected(script, version) as (client, _):
        session = await client.new_session()
        with pytest.raises(RequestFailed, match="odd") as caught:
            await session.ask("a")
        assert (caught.value.code, caught.value.data) == (-32077, {"why": 1})
        with pytest.raises(RequestFailed):
            await watch(session.prompt("b"), [])
        with pytest.raises(RequestFailed):
            await look_away(session.prompt("c"))


@pytest.mark.rule("V2-PROMPT-19")
async def test_work_that_failed_raises_as_a_refused_prompt_does() -> None:
    """Ours: v2 reports by a state what v1 answers; the program sees one thing."""

    async def script(agent: ScriptedAgent) -> None:
        await agent.open_session()
        await agent.begin_turn()
        agent.state("idle", stopReason="error", error={"code": -32050, "message": "model is down"})
        await agent.begin_turn()
        agent.state("idle", stopReason="error")

    async with connected(script, 2) as (client, _):
        session = await client.new_session()
        with pytest.raises(RequestFailed, match="model is down") as caught:
            await session.ask("a")
        assert caught.value.code == -32050
        with pytest.raises(RequestFailed, match="reported an error"):
            await session.ask("b")


@VERSIONS
@pytest.mark.parametrize("result", [5, [], "x", {"stopReason": 5, "messageId": 5}])
async def test_a_malformed_answer_is_the_agents_mistake(version: int, result: Any) -> None:
    """Ours: bad input is an error that says so, and the session lives on."""

    async def script(agent: ScriptedAgent) -> None:
        await agent.open_session()
        agent.result(await agent.expect("session/prompt"), result)
        prompt = await agent.begin_turn()
        agent.end_turn(prompt)

    async with connected(script, version) as (client, _):
        session = await client.new_session()
        with pytest.raises(RemoteProtocolError, match="session/prompt is invalid"):
            await session.ask("a")
        assert (await session.ask("b")).stop_reason == "end_turn"


@VERSIONS
@pytest.mark.parametrize("reading", [True, False])
async def test_an_agent_that_dies_in_a_prompt_is_told_to_the_turn(
    version: int, reading: bool
) -> None:
    """Issue 2: every waiter gets ConnectionLost."""

    async def script(agent: ScriptedAgent) -> None:
        await agent.open_session()
        await agent.begin_turn()
        agent.say("last words")
        await agent.transport.aclose()

    async with connected(script, version) as (client, _):
        session = await client.new_session()
        seen: list[str] = []
        turn = session.prompt("a")
        with pytest.raises(ConnectionLost, match="closed the connection"):
            await (watch(turn, seen) if reading else look_away(turn))
        assert seen == (["last words"] if reading else [])
        with pytest.raises(ConnectionLost):
            await session.ask("b")
        with pytest.raises(ConnectionLost):
            await client.new_session()


@VERSIONS
@pytest.mark.rule("V1-GEN-10", "V2-GEN-10")
async def test_what_is_not_understood_is_kept_and_ends_nothing(version: int) -> None:
    """S001 validation tips; V2: unknown values are kept whole."""

    async def script(agent: ScriptedAgent) -> None:
        await agent.open_session()
        prompt = await agent.begin_turn()
        agent.update({"sessionUpdate": "_sparkle", "glitter": 3})
        agent.update({"sessionUpdate": "agent_message_chunk", "messageId": "m"})
        agent.write(b'{"jsonrpc":"2.0","method":"session/update","params":7}\n')
        agent.write({"jsonrpc": "2.0", "method": "_no/such", "params": {}})
        agent.write({"jsonrpc": "2.0", "method": "$/no_such"})
        agent.update({**chunk("ok", "m"), "extra": True})
        agent.end_turn(prompt)

    async with connected(script, version) as (client, _):
        session = await client.new_session()
        async with session.prompt("a") as turn:
            kinds = [update.kind async for update in turn]
        assert kinds == ["unknown", "message"]
        assert session.transcript.unknown[0].tag == "_sparkle"


async def test_a_turn_is_entered_once() -> None:
    """Misuse, named before anything is sent."""

    async def script(agent: ScriptedAgent) -> None:
        await agent.open_session()
        agent.end_turn(await agent.begin_turn())

    async with connected(script) as (client, agent):
        session = await client.new_session()
        turn = session.prompt("a")
        async with turn:
            await turn.wait()
        with pytest.raises(LocalProtocolError, match="once"):
            async with turn:
                pass
        assert len(agent.sent("session/prompt")) == 1
