"""Turns with an agent of the 2026-02 draft that go wrong: cancelled or dead at every step."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import anyio
import pytest

from accord.client import Client, Extensions
from accord.client.permissions.permissions import Permissions
from accord.connection.limits import Limits
from accord.errors import AccordError, ConnectionLost
from tests.client.deciders import Undecided
from tests.client.draft.draft_script import (
    ANSWER,
    CREATED,
    PROGRAM,
    drafting,
    open_session,
    say,
    shake_hands,
    tell,
)
from tests.client.scripted_agent import BARE, Json, ScriptedAgent, playing

ONLY_ASYNCIO = pytest.mark.parametrize("anyio_backend", ["asyncio"], indirect=True)
Step = Callable[[ScriptedAgent], Awaitable[None]]


async def _nothing(agent: ScriptedAgent) -> None:
    pass


async def _say(agent: ScriptedAgent) -> None:
    say(agent, "words", index=0)


async def _announce(agent: ScriptedAgent) -> None:
    call: Json = {"id": "t", "tool": "fs/write_text_file", "input": {"path": "a.txt"}}
    tell(agent, "tool_call", **call, status="pending")


async def _ask(agent: ScriptedAgent) -> None:
    tell(agent, "tool_call_update", id="t", status="awaiting_permission")
    params = {"operation": "file_write", "resource": "a.txt", "toolCallId": "t"}
    agent.request("session/request_permission", {"sessionId": "s1", **params})


async def _progress(agent: ScriptedAgent) -> None:
    tell(agent, "tool_call_update", id="t", status="in_progress")


async def _write(agent: ScriptedAgent) -> None:
    agent.request("fs/write_text_file", {"path": "a.txt", "content": "x"})


async def _run(agent: ScriptedAgent) -> None:
    agent.request("terminal/create", {"command": "sleep", "args": ["60"]})


async def _complete(agent: ScriptedAgent) -> None:
    tell(agent, "tool_call_update", id="t", status="completed")


STEPS: dict[str, Step] = {
    "the prompt is sent": _nothing,
    "the agent speaks": _say,
    "a tool call is announced": _announce,
    "permission is asked for": _ask,
    "the call is in progress": _progress,
    "a file is to be written": _write,
    "a command is to be run": _run,
    "the call is completed": _complete,
}
ALL: Json = {"files": True, "terminals": True}


async def go_to(agent: ScriptedAgent, last: str) -> Json:
    """Go so far; a word of its own tells the client that the agent is there."""
    await open_session(agent)
    prompt = await agent.expect("session/prompt")
    for name, step in STEPS.items():
        await step(agent)
        if name == last:
            break
    agent.write({"jsonrpc": "2.0", "method": "_reached", "params": {}})
    return prompt


def reaching() -> tuple[anyio.Event, Extensions]:
    reached, extensions = anyio.Event(), Extensions()

    @extensions.notification("_reached")
    def note(params: dict[str, Any]) -> None:
        reached.set()

    return reached, extensions


@pytest.mark.rule("D26-15", "D26-32")
@pytest.mark.parametrize("by", ["cancel", "leaving"])
@pytest.mark.parametrize("last", list(STEPS))
async def test_a_turn_can_be_cancelled_after_every_step(tmp_path: Path, by: str, last: str) -> None:
    """Issue 5: whatever has happened so far, it ends `cancelled` and in time."""
    reached, extensions = reaching()

    async def script(agent: ScriptedAgent) -> None:
        prompt = await go_to(agent, last)
        message = await agent.next()
        while message.get("method") != "session/cancel":
            message = await agent.next()
        tell(agent, "tool_call_update", id="t", status="cancelled")
        agent.result(prompt, {"stopReason": "cancelled"})

    options: Json = {**ALL, "permissions": Undecided(), "extensions": extensions}
    async with drafting(script, **options) as (client, _):
        session = await client.new_session(tmp_path)
        async with session.prompt("x") as turn:
            await reached.wait()
            if by == "cancel":
                await turn.cancel()
                await turn.wait()
        assert turn.stop_reason == "cancelled"
        assert not session.is_busy
    assert not (tmp_path / "a.txt").exists()


@pytest.mark.parametrize("last", list(STEPS))
async def test_an_agent_that_dies_after_any_step_is_told(tmp_path: Path, last: str) -> None:
    """Issue 5: the turn fails at once, and nothing is left."""
    reached, extensions = reaching()

    async def script(agent: ScriptedAgent) -> None:
        await go_to(agent, last)
        await reached.wait()
        await agent.transport.aclose()

    options: Json = {**ALL, "permissions": Permissions.allow_all(), "extensions": extensions}
    async with drafting(script, **options) as (client, _):
        session = await client.new_session(tmp_path)
        with pytest.raises(ConnectionLost):
            await session.ask("x")
        assert session.is_closed


@ONLY_ASYNCIO
async def test_a_program_that_dies_in_a_turn_says_how(tmp_path: Path) -> None:
    """Issue 5, in a real process."""
    async with Client.spawn(*PROGRAM) as client:
        session = await client.new_session(tmp_path)
        with pytest.raises(ConnectionLost, match="exit code 3"):
            await session.ask("die")


REQUESTS = ("initialize", "initialize", "session/new", "session/set_mode", "session/prompt")


async def whole(client: Client) -> None:
    session = await client.new_session()
    await session.set_mode("plan")
    await session.ask("x")


def answering(until: int, then: Callable[[ScriptedAgent], Awaitable[None]]) -> Any:
    """A script that answers so many requests, and then does this."""
    answers: list[Json] = [
        ANSWER,
        ANSWER,
        {"sessionId": "s1", "createdAt": CREATED},
        {"previousMode": "default", "currentMode": "plan"},
    ]

    async def script(agent: ScriptedAgent) -> None:
        for method, answer in zip(REQUESTS[:until], answers, strict=False):
            agent.result(await agent.expect(method), answer)
        await agent.expect(REQUESTS[until])
        await then(agent)

    return script


@pytest.mark.parametrize("until", range(len(REQUESTS)))
async def test_a_wait_for_an_answer_can_be_cancelled(until: int) -> None:
    """Ours: at every await; what was begun is cleaned up, and in time."""
    waits = anyio.Event()

    async def then(agent: ScriptedAgent) -> None:
        waits.set()
        await agent.ended.wait()

    limits = Limits(close_seconds=0.05)
    async with playing(answering(until, then)) as (agent, transport):
        async with anyio.create_task_group() as tasks:

            async def work() -> None:
                async with Client.connect(transport, limits=limits, **BARE) as client:
                    await whole(client)
                    pytest.fail("nobody answered")

            tasks.start_soon(work)
            await waits.wait()
            tasks.cancel_scope.cancel()
        await agent.ended.wait()
        # Before anybody knows better, it is the official way.
        assert len(agent.sent("$/cancel_request")) <= (until == 0)


@pytest.mark.parametrize("until", range(len(REQUESTS)))
async def test_an_agent_that_dies_instead_of_answering_is_told(until: int) -> None:
    """Ours: at every request of ours."""

    async def then(agent: ScriptedAgent) -> None:
        await agent.transport.aclose()

    async with playing(answering(until, then)) as (_, transport):
        with pytest.raises(ConnectionLost):
            async with Client.connect(transport, **BARE) as client:
                await whole(client)


@pytest.mark.parametrize("until", range(2, len(REQUESTS)))
@pytest.mark.parametrize("answer", [None, [], 5, {}, {"stopReason": 5}])
async def test_an_answer_that_is_none_is_the_agents_mistake(until: int, answer: Any) -> None:
    """Ours: bad input is an error that says what came."""

    async def script(agent: ScriptedAgent) -> None:
        async def then(agent: ScriptedAgent) -> None:
            agent.result(agent.received[-1], answer)

        await answering(until, then)(agent)

    async with playing(script) as (_, transport), Client.connect(transport, **BARE) as client:
        with pytest.raises(AccordError):
            await whole(client)


@pytest.mark.rule("D26-19")
async def test_metadata_that_is_no_object_is_tolerated(caplog: pytest.LogCaptureFixture) -> None:
    """Draft 13.1: `_meta` may be ignored."""

    async def script(agent: ScriptedAgent) -> None:
        await open_session(agent)
        prompt = await agent.expect("session/prompt")
        tell(agent, "agent_message_chunk", content="words", _meta=5)
        agent.result(prompt, {"stopReason": "end_turn", "_meta": {"acp.draft/2026-02": "x"}})

    async with drafting(script) as (client, _):
        session = await client.new_session()
        assert (await session.ask("x")).text == "words"


async def test_what_the_draft_does_not_know_is_kept(caplog: pytest.LogCaptureFixture) -> None:
    """Ours: an unknown update is shown whole, an unknown word is told."""
    caplog.set_level("INFO")

    async def script(agent: ScriptedAgent) -> None:
        await open_session(agent)
        prompt = await agent.expect("session/prompt")
        tell(agent, "dance", steps=3)
        tell(agent, "tool_call", id="t", tool="x", input=None, status="dreaming")
        tell(agent, "tool_call_update", id="t", status="completed", output={"type": "smell"})
        tell(agent, "tool_call_update", id="t", status="failed", error="too late")
        agent.result(prompt, {"stopReason": "bored"})

    async with drafting(script) as (client, _):
        session = await client.new_session()
        reply = await session.ask("x")
    assert reply.stop_reason == "bored"
    assert [one.tag for one in session.transcript.unknown] == ["dance"]
    assert reply.tool_calls[0].status == "completed"
    assert "too late" in reply.tool_calls[0].text
    assert "dreaming" in caplog.text


async def test_a_strict_client_ends_at_what_is_not_in_the_draft() -> None:
    """Ours: strict is strict in every dialect."""

    async def script(agent: ScriptedAgent) -> None:
        await shake_hands(agent)
        await open_session(agent)
        await agent.expect("session/prompt")
        tell(agent, "dance", steps=3)
        await agent.ended.wait()

    async with (
        playing(script) as (_, transport),
        Client.connect(transport, strict=True, **BARE) as client,
    ):
        session = await client.new_session()
        with pytest.raises(ConnectionLost, match="strict"):
            await session.ask("x")
