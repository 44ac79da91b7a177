"""`strict=True` and ACCORD_STRICT: what is otherwise tolerated fails at once, for development."""

from __future__ import annotations

import pytest

from accord.errors import ConnectionLost, RemoteProtocolError
from tests.client.scripted_agent import Json, ScriptedAgent, chunk, connected

VERSIONS = pytest.mark.parametrize("version", [1, 2])


@VERSIONS
@pytest.mark.parametrize(
    "odd",
    [
        {**chunk("x", "m"), "extra": 1},
        {"sessionUpdate": "_odd"},
        {"sessionUpdate": "tool_call_update", "toolCallId": "t", "status": "zork"},
        {"sessionUpdate": "tool_call_update", "toolCallId": "t", "kind": "zork"},
    ],
    ids=["an unknown key", "an unknown variant", "an unknown status", "an unknown kind"],
)
async def test_an_odd_update_ends_the_conversation(version: int, odd: Json) -> None:
    """Issue 2: unknown root fields and unknown variants fail at once."""

    async def script(agent: ScriptedAgent) -> None:
        await agent.open_session()
        await agent.begin_turn()
        agent.update(odd)

    async with connected(script, version, strict=True) as (client, _):
        session = await client.new_session()
        with pytest.raises(ConnectionLost, match="strict: the agent sent a malformed"):
            await session.ask("x")


@VERSIONS
async def test_an_unknown_stop_reason_fails_the_turn(version: int) -> None:
    """Issue 2: for development."""

    async def script(agent: ScriptedAgent) -> None:
        await agent.open_session()
        agent.end_turn(await agent.begin_turn(), "zork")

    async with connected(script, version, strict=True) as (client, _):
        session = await client.new_session()
        with pytest.raises((ConnectionLost, RemoteProtocolError), match="unknown value 'zork'"):
            await session.ask("x")


@VERSIONS
@pytest.mark.parametrize(
    ("line", "named"),
    [
        (b"Loading the model\n", "on its stdout, which is the wire"),
        (b'{"jsonrpc":"2.0","id":77,"result":{}}\n', "an answer to request 77"),
        (None, "an update for the session 's9', which is unknown"),
    ],
    ids=["noise", "an answer to nobody", "an update of an unknown session"],
)
async def test_a_broken_rule_ends_the_conversation(
    version: int, line: bytes | None, named: str
) -> None:
    """Issue 2: broken rules fail at once."""

    async def script(agent: ScriptedAgent) -> None:
        await agent.open_session()
        await agent.begin_turn()
        if line is None:
            agent.update(chunk("x", "m"), "s9")
        else:
            agent.write(line)

    async with connected(script, version, strict=True) as (client, _):
        session = await client.new_session()
        with pytest.raises(ConnectionLost, match="strict: ") as raised:
            await session.ask("x")
        assert named in raised.value.message


@VERSIONS
async def test_an_odd_answer_is_the_agents_mistake(version: int) -> None:
    """Issue 2."""

    async def script(agent: ScriptedAgent) -> None:
        await agent.open_session(extra=1)

    async with connected(script, version, strict=True) as (client, _):
        with pytest.raises(RemoteProtocolError, match="session/new is invalid"):
            await client.new_session()
