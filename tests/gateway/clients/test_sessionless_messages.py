"""What an agent says about no session."""

from __future__ import annotations

import anyio
import pytest

from tests.gateway.scripted_agent import scripted

pytestmark = pytest.mark.anyio

ASKED = "elicitation/create"
PARAMS = {"mode": "form", "message": "Which account?", "requestId": 1}


async def test_the_one_client_of_a_process_is_asked() -> None:
    """Issue 17: also before there is a session, as during a login."""
    async with scripted() as one:
        ann = await one.person("ann", role="admin")
        request = ann.ask("authenticate", {"methodId": "own"})
        agent, login = await one.hears("authenticate")
        agent.request("q", ASKED, PARAMS)
        agent.notify("_news", {"n": 1})
        asked = await ann.hears(ASKED)
        assert asked["params"] == PARAMS
        await ann.hears("_news", n=1)
        ann.wire.answer(asked["id"], {"action": "decline"})
        assert (await agent.hears(None))["result"] == {"action": "decline"}
        agent.answer(login["id"], {})
        assert "result" in await ann.answer_to(request)


async def test_the_owner_is_asked_and_not_those_who_follow() -> None:
    """Issue 17: the client whose process it is."""
    async with scripted() as one:
        ann, bob, _ = await one.pair("admin")
        agent = one.agent_wire
        agent.request("q", ASKED, PARAMS)
        agent.notify("_news", {})
        asked = await ann.hears(ASKED)
        ann.wire.answer(asked["id"], {"action": "cancel"})
        assert (await agent.hears(None))["result"] == {"action": "cancel"}
        await ann.hears("_news")
        await bob.synced()
        assert not [one for one in bob.heard if one.get("method") in (ASKED, "_news")]


async def test_several_clients_are_refused_and_none_too() -> None:
    """Issue 17: a clear error."""
    async with scripted() as one:
        ann = await one.person("ann")
        session_id = await ann.new()
        phone = await one.person("ann")
        await phone.load(session_id)
        agent = one.agent_wire
        agent.request("q", ASKED, PARAMS)
        error = (await agent.hears(None))["error"]
        assert error["data"] == {"reason": "several_clients"}
        assert "2 clients use this process; send a sessionId" in error["message"]
        await phone.call("session/close", {"sessionId": "unknown"})
        await phone.wire.transport.aclose()
        await ann.wire.transport.aclose()
        while one.gateway.sessions.live[session_id].attachments:
            await anyio.lowlevel.checkpoint()
        agent.request("r", ASKED, PARAMS)
        error = (await agent.hears(None))["error"]
        assert error["data"] == {"reason": "no_client"}


async def test_a_client_that_leaves_and_an_agent_that_withdraws_end_a_request() -> None:
    """Ours: the agent gets one answer."""
    async with scripted() as one:
        ann = await one.person("ann")
        await ann.new()
        agent = one.agent_wire
        agent.request("q", ASKED, PARAMS)
        asked = await ann.hears(ASKED)
        agent.notify("$/cancel_request", {"requestId": "q"})
        await ann.hears("$/cancel_request", requestId=asked["id"])
        assert (await agent.hears(None))["error"]["code"] == -32800
        agent.request("r", ASKED, PARAMS)
        await ann.hears(ASKED)
        await ann.wire.transport.aclose()
        assert (await agent.hears(None))["error"]["data"] == {"reason": "client_left"}
