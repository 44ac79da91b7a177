"""`strict=True` and ACCORD_STRICT: what is otherwise tolerated fails at once, for development."""

from __future__ import annotations

import pytest

from accord.client.options import strict_by_default
from accord.errors import ConnectionLost, RemoteProtocolError
from tests.client.scripted_agent import Json, ScriptedAgent, chunk, connected

VERSIONS = pytest.mark.parametrize("version", [1, 2])


@VERSIONS
@pytest.mark.parametrize(
    "odd",
    [{**chunk("x", "m"), "extra": 1}, {"sessionUpdate": "_odd"}],
    ids=["an unknown key", "an unknown variant"],
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
async def test_an_odd_answer_is_the_agents_mistake(version: int) -> None:
    """Issue 2."""

    async def script(agent: ScriptedAgent) -> None:
        await agent.open_session(extra=1)

    async with connected(script, version, strict=True) as (client, _):
        with pytest.raises(RemoteProtocolError, match="session/new is invalid"):
            await client.new_session()


@pytest.mark.parametrize(("value", "strict"), [("1", True), ("0", False), ("", False)])
def test_the_environment_can_ask_for_it(
    monkeypatch: pytest.MonkeyPatch, value: str, strict: bool
) -> None:
    """Issue 2: ACCORD_STRICT=1."""
    monkeypatch.setenv("ACCORD_STRICT", value)
    assert strict_by_default() is strict
