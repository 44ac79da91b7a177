"""How a session ends: what was open gets one clear error, and the session can be opened again."""

from typing import Any

import anyio
import pytest

from accord.errors import StoreError
from accord.gateway.engine.engine_errors import LogFull
from tests.gateway.scripted_agent import scripted
from tests.gateway.sessions.requests.test_shared_requests import ask

pytestmark = pytest.mark.anyio


@pytest.mark.parametrize("error", [LogFull("s", 1, 1), StoreError("full", "the disk is full")])
async def test_when_the_log_cannot_be_written_every_open_request_gets_one_error(
    error: Exception,
) -> None:
    """Those that wait, that are on their way through the log, and that the agent has."""
    async with scripted() as one:
        ann, bob, session_id = await one.pair()
        running = ann.prompt(session_id, "running")
        await one.agent_wire.hears("session/prompt")
        mode = bob.ask("session/set_mode", {"sessionId": session_id, "modeId": "m"})
        await one.agent_wire.hears("session/set_mode")
        ask(one.agent_wire, session_id)
        await ann.hears("session/request_permission")
        waiting = bob.prompt(session_id, "waiting")
        await bob.synced()
        session = one.gateway.sessions.live[session_id]

        async def full(events: Any) -> int:
            del events
            raise error

        session.log.append = full  # type: ignore[method-assign]
        one.agent_wire.chunk(session_id, "never shown")
        for person, request_id in ((ann, running), (bob, mode), (bob, waiting)):
            answer = (await person.answer_to(request_id))["error"]
            assert answer["data"] == {"reason": "failed", "sessionId": session_id}
            assert "cannot be stored" in answer["message"]
            # What a store says names a file of the gateway's machine.
            assert (str(error) in answer["message"]) == isinstance(error, LogFull)
        await ann.hears("_accord.session/closed", reason="failed")
        await ann.synced()
        await bob.synced()
        hers = [m["id"] for m in ann.heard if "method" not in m]
        his = [m["id"] for m in bob.heard if "method" not in m]
        assert (hers.count(running), his.count(mode), his.count(waiting)) == (1, 1, 1)
        assert "never shown" not in ann.texts()
        # The engine is well again: what was in the log is there.
        assert "result" in await ann.load(session_id)
        assert "running" in ann.texts()


async def test_somebody_who_joins_while_a_session_is_parked_gets_a_whole_one() -> None:
    """In each step of the way out: the session is left alone, or opened again."""
    for steps in range(30):
        async with scripted(grace_seconds=0.0) as one:
            ann = await one.person("ann")
            session_id = await ann.new()
            await ann.wire.transport.aclose()
            for _ in range(steps):
                await anyio.lowlevel.checkpoint()
            again = await one.person("ann")
            assert "result" in await again.load(session_id)
            again.prompt(session_id, "hello")
            _, asked = await one.hears("session/prompt")
            assert asked["params"]["prompt"][0]["text"] == "hello"


async def test_two_people_open_one_session_at_once() -> None:
    """It is in memory once, and both follow the same."""
    async with scripted(grace_seconds=0.0) as one:
        ann, bob, session_id = await one.pair()
        await ann.wire.transport.aclose()
        await bob.wire.transport.aclose()
        while one.gateway.sessions.live:
            await anyio.lowlevel.checkpoint()
        people = [await one.person("ann"), await one.person("bob")]
        params = {"sessionId": session_id, "cwd": "/", "mcpServers": []}
        asked = [person.ask("session/load", params) for person in people]
        for person, request_id in zip(people, asked, strict=True):
            assert "result" in await person.answer_to(request_id)
        assert len(one.gateway.sessions.live[session_id].attachments) == 2


async def test_sessions_that_are_opened_at_once_under_one_id_are_told_apart() -> None:
    """Two processes both call their first session `s1`."""
    async with scripted() as one:
        ann, bob = await one.person("ann", terminal=True), await one.person("bob")
        params = {"cwd": "/", "mcpServers": []}
        first, second = ann.ask("session/new", params), bob.ask("session/new", params)
        ids = {
            (await ann.answer_to(first))["result"]["sessionId"],
            (await bob.answer_to(second))["result"]["sessionId"],
        }
        assert len(ids) == 2
        assert "s1" in ids


async def test_somebody_who_asks_for_a_session_and_goes_leaves_nothing_behind() -> None:
    """The connection is cut while the agent opens the session."""
    async with scripted(grace_seconds=0.0) as one:
        for steps in range(12):
            ann = await one.person("ann")
            ann.ask("session/new", {"cwd": "/", "mcpServers": []})
            for _ in range(steps):
                await anyio.lowlevel.checkpoint()
            await ann.wire.transport.aclose()
            while one.gateway.sessions.live or one.gateway.usage.held("ann", "processes"):
                await anyio.lowlevel.checkpoint()


async def test_history_has_what_only_looks_like_a_state() -> None:
    """A replay leaves out the states of long ago, and nothing that merely has their name in it."""
    async with scripted(2) as one:
        ann = await one.person("ann")
        session_id = await ann.new()
        agent = one.agent_wire
        agent.update(session_id, sessionUpdate="state_update", state="running")
        agent.update(
            session_id,
            sessionUpdate="tool_call_update",
            toolCallId="c",
            title="Look",
            rawInput={"kind": "state_update"},
        )
        agent.update(session_id, sessionUpdate="state_update", state="idle")
        await ann.hears("session/update")
        await ann.synced()
        late = await one.person("ann")
        await late.load(session_id)
        updates = [m["params"]["update"] for m in late.heard if m.get("method") == "session/update"]
        assert [one.get("toolCallId") for one in updates] == ["c", None]
        assert updates[1]["sessionUpdate"] == "state_update"
