"""What cannot be sent is named before anything is sent, and harms nothing."""

from __future__ import annotations

from typing import Any

import pytest

from accord.client import Client
from accord.client.connection.outgoing_params import encode
from accord.client.session.session import Session
from accord.errors import LocalProtocolError
from accord.schema import v2
from tests.client.scripted_agent import ScriptedAgent, connected

NAME = "a name \udcff"


@pytest.mark.parametrize("value", [object(), {1j: 2}, [NAME]])
def test_what_has_no_json_form_is_the_caller_s_mistake(value: Any) -> None:
    """Ours: one error for all that the encoder may complain of."""
    with pytest.raises(LocalProtocolError, match="cannot be sent"):
        encode(value)


def test_a_value_that_holds_itself_is_named_too() -> None:
    """Ours: no recursion comes out."""
    value: list[Any] = []
    value.append(value)
    with pytest.raises(LocalProtocolError, match="cannot be sent"):
        encode(value)


async def _ask(client: Client, session: Session) -> Any:
    return await session.ask(NAME)


async def _ask_by_block(client: Client, session: Session) -> Any:
    return await session.ask("look at", v2.ResourceLink(uri="file:///" + NAME, name="x"))


async def _call(client: Client, session: Session) -> Any:
    return await client.call_extension("_x/find", {"name": NAME})


async def _notify(client: Client, session: Session) -> Any:
    return await client.notify_extension("_x/find", {"name": object()})


async def _resume(client: Client, session: Session) -> Any:
    return await client.resume_session(NAME)


@pytest.mark.parametrize("version", [1, 2])
@pytest.mark.parametrize("send", [_ask, _ask_by_block, _call, _notify, _resume])
async def test_nothing_of_it_is_sent_and_the_conversation_goes_on(version: int, send: Any) -> None:
    """Issue 2, bad input: file names that are not UTF-8 have half characters in Python."""

    async def script(agent: ScriptedAgent) -> None:
        await agent.open_session()
        agent.end_turn(await agent.begin_turn())

    async with connected(script, version) as (client, agent):
        session = await client.new_session()
        before = len(agent.received)
        with pytest.raises(LocalProtocolError, match="cannot be sent"):
            await send(client, session)
        assert len(agent.received) == before
        assert session.transcript.messages == []
        assert (await session.ask("b")).stop_reason == "end_turn"
