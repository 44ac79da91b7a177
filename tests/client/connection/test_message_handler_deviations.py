"""What an agent does against the rules and we live with: done without, and logged once."""

from __future__ import annotations

import pytest

from accord.client.wire.wire_interface import listed
from accord.schema import v1
from tests.client.scripted_agent import Json, ScriptedAgent, chunk, connected

VERSIONS = pytest.mark.parametrize("version", [1, 2])


def tolerated(log: pytest.LogCaptureFixture) -> list[str]:
    """What the log says about it."""
    return [one.getMessage() for one in log.records if "tolerated" in one.getMessage()]


def tool_call(version: int, **more: str) -> Json:
    """A tool call that is announced."""
    kind = "tool_call" if version == 1 else "tool_call_update"
    return {"sessionUpdate": kind, "toolCallId": "t", "title": "T", **more}


@VERSIONS
@pytest.mark.rule("V1-GEN-10")
@pytest.mark.parametrize(
    ("odd", "named"),
    [
        ({"sessionUpdate": "next_year"}, "unknown variant 'next_year' (at $.update.sessionUpdate)"),
        ({**chunk("x", "m"), "_meta": 5}, "(at $.update._meta)"),
        ({"sessionUpdate": "agent_message_chunk"}, "is ignored: missing required key"),
        ("status", "unknown status 'zork'"),
        ("kind", "unknown kind 'zork'"),
        ("session", "an update for the session 's9', which is unknown"),
    ],
)
async def test_it_is_named_once_and_the_turn_goes_on(
    version: int, odd: Json | str, named: str, caplog: pytest.LogCaptureFixture
) -> None:
    """Issue 2: by default they are logged and tolerated."""

    async def script(agent: ScriptedAgent) -> None:
        await agent.open_session()
        turn = await agent.begin_turn()
        for _ in range(3):
            if odd == "session":
                agent.update(chunk("x", "m"), "s9")
            elif isinstance(odd, str):
                agent.update(tool_call(version, **{odd: "zork"}))
            else:
                agent.update(odd)
        agent.end_turn(turn)

    caplog.set_level("INFO")
    async with connected(script, version) as (client, _):
        session = await client.new_session()
        assert (await session.ask("x")).stop_reason == "end_turn"
    (said,) = tolerated(caplog)
    assert named in said


@VERSIONS
async def test_an_unknown_stop_reason_is_named(
    version: int, caplog: pytest.LogCaptureFixture
) -> None:
    """Issue 2: it is the reason all the same; words of one's own start with `_`."""

    async def script(agent: ScriptedAgent) -> None:
        await agent.open_session()
        for reason in ("zork", "zork", "_mine", "end_turn"):
            agent.end_turn(await agent.begin_turn(), reason)

    caplog.set_level("INFO")
    async with connected(script, version) as (client, _):
        session = await client.new_session()
        reasons = [(await session.ask("x")).stop_reason for _ in range(4)]
    assert reasons == ["zork", "zork", "_mine", "end_turn"]
    (said,) = tolerated(caplog)
    assert "unknown stop_reason 'zork'" in said


async def test_answers_that_were_repaired_are_named(caplog: pytest.LogCaptureFixture) -> None:
    """V1-GEN-12: read as absent, and told."""

    async def script(agent: ScriptedAgent) -> None:
        await agent.open_session(modes=5)

    caplog.set_level("INFO")
    async with connected(script) as (client, _):
        await client.new_session()
    (said,) = tolerated(caplog)
    assert "NewSessionResponse: malformed, read as absent" in said
    assert "(at $.modes)" in said


@VERSIONS
async def test_what_is_said_before_a_session_and_after_it_is_no_mistake(
    version: int, caplog: pytest.LogCaptureFixture
) -> None:
    """Issue 2: updates that come before the answer to `session/new` reach the session."""

    async def script(agent: ScriptedAgent) -> None:
        request = await agent.expect("session/new")
        agent.update(chunk("early", "m"))
        agent.result(request, {"sessionId": agent.session_id})
        agent.result(await agent.expect("session/close"), {})
        agent.update(chunk("late", "m"))
        agent.result(await agent.expect("session/list"), {"sessions": []})

    caplog.set_level("INFO")
    async with connected(script, version) as (client, _):
        session = await client.new_session()
        assert [message.text for message in session.transcript.messages] == ["early"]
        await session.close()
        assert [one async for one in client.list_sessions()] == []
    assert tolerated(caplog) == []


def test_words_are_those_that_the_schema_lists() -> None:
    """Ours: written down once."""
    assert listed(v1.ToolCallStatus) == {"pending", "in_progress", "completed", "failed"}
