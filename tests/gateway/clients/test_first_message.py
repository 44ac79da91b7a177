"""Clients of every dialect in one session."""

from typing import Any

import pytest

from tests.gateway.hosting import echoing_agent, hosting
from tests.gateway.sessions.test_hosted_session import until
from tests.gateway.test_gateway import reply
from tests.proxy.wires import Wire

pytestmark = pytest.mark.anyio


async def test_r1_a_client_of_the_draft_shares_a_session_with_one_of_version_2() -> None:
    """R1, R4, R6: each reads what the other writes, in its own words."""
    async with hosting(echoing_agent()) as one:
        ann = await one.client("ann")
        session = await ann.new_session(cwd="/")
        await session.ask("one")
        params: dict[str, Any] = {"sessionId": session.id, "user": "bob", "role": "editor"}
        await ann.call_extension("_accord.session/set_role", params)
        transport = one.connect("bob")
        bob = Wire(transport)
        await transport.start(bob, one.tasks)
        info = {"name": "raw", "version": "1"}
        bob.request(1, "initialize", {"protocolVersion": 1, "clientInfo": info, "capabilities": {}})
        assert "result" in await reply(bob, 1)
        bob.request(2, "session/load", {"sessionId": session.id})
        assert "result" in await reply(bob, 2)
        assert b"you said one" in b"".join(bob.lines)
        content = [{"type": "text", "text": "two"}]
        bob.request(3, "session/prompt", {"sessionId": session.id, "content": content})
        assert (await reply(bob, 3))["result"]["stopReason"] == "end_turn"
        await until(session, "two", "you said two")
        await session.ask("three")
        while b"you said three" not in b"".join(bob.lines):
            await bob.hear()
