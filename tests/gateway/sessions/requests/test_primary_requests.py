"""Files and terminals: one client serves them, and no other is asked about its terminals."""

from typing import Any

import pytest

from accord.gateway.sessions.requests import primary_requests
from tests.gateway.scripted_agent import AgentWire, scripted

pytestmark = pytest.mark.anyio

SERVES: Any = {"fs": {"readTextFile": True, "writeTextFile": True}, "terminal": True}
READ = "fs/read_text_file"


def read(agent: AgentWire, session_id: str, request_id: str = "r") -> None:
    """The agent wants a file."""
    agent.request(request_id, READ, {"sessionId": session_id, "path": "/notes"})


async def test_the_agent_gets_one_answer_from_one_client() -> None:
    async with scripted() as one:
        ann, bob, session_id = await one.pair(**SERVES)
        read(one.agent_wire, session_id)
        asked = await ann.hears(READ)
        ann.wire.answer(asked["id"], {"content": "hers"})
        assert (await one.agent_wire.hears(None))["result"] == {"content": "hers"}
        await bob.synced()
        assert READ not in [message.get("method") for message in bob.heard]


@pytest.mark.parametrize("sent", [True, False])
async def test_when_the_primary_client_leaves_what_it_was_asked_fails_with_its_name(
    sent: bool,
) -> None:
    """The file of somebody else under the same path would be the wrong one."""
    async with scripted() as one:
        ann, bob, session_id = await one.pair(**SERVES)
        if sent:
            read(one.agent_wire, session_id)
            await ann.hears(READ)
        else:
            # The question waits behind an update, and the connection is gone before.
            one.agent_wire.chunk(session_id, "x")
            read(one.agent_wire, session_id)
        await ann.wire.transport.aclose()
        error = (await one.agent_wire.hears(None))["error"]
        assert error["data"] == {"reason": "client_left"}
        assert "Ann was asked fs/read_text_file and left" in error["message"]
        assert (await bob.hears("_accord.session/primary"))["params"]["user"] == "bob"
        read(one.agent_wire, session_id)
        asked = await bob.hears(READ)
        bob.wire.answer(asked["id"], {"content": "his"})
        assert (await one.agent_wire.hears(None))["result"] == {"content": "his"}


async def test_a_terminal_stays_with_who_runs_it_and_goes_with_them() -> None:
    """Both clients call their first terminal `t1`."""
    async with scripted() as one:
        ann, bob, session_id = await one.pair(**SERVES)
        agent = one.agent_wire
        terminal = {"sessionId": session_id, "terminalId": "t1"}
        agent.request("c", "terminal/create", {"sessionId": session_id, "command": "ls"})
        ann.wire.answer((await ann.hears("terminal/create"))["id"], {"terminalId": "t1"})
        await agent.hears(None)
        agent.request("w", "terminal/wait_for_exit", terminal)
        await ann.hears("terminal/wait_for_exit")
        await ann.wire.transport.aclose()
        assert (await agent.hears(None))["error"]["data"] == {"reason": "client_left"}
        agent.request("k", "terminal/kill", terminal)
        error = (await agent.hears(None))["error"]
        assert error["message"] == "the terminal 't1' ran at Ann, who has left"
        await bob.synced()
        assert "terminal/kill" not in [message.get("method") for message in bob.heard]
        agent.request("c", "terminal/create", {"sessionId": session_id, "command": "ls"})
        bob.wire.answer((await bob.hears("terminal/create"))["id"], {"terminalId": "t1"})
        await agent.hears(None)
        agent.request("o", "terminal/output", terminal)
        bob.wire.answer((await bob.hears("terminal/output"))["id"], {"output": "", "truncated": 0})
        assert "result" in await agent.hears(None)
        agent.request("x", "terminal/release", terminal)
        bob.wire.answer((await bob.hears("terminal/release"))["id"], {})
        assert "result" in await agent.hears(None)


async def test_a_client_that_may_no_longer_prompt_no_longer_serves() -> None:
    """Their terminals are ended at their client too, which stays connected."""
    async with scripted() as one:
        ann, bob, session_id = await one.pair(**SERVES)
        await ann.wire.transport.aclose()
        await bob.hears("_accord.session/primary", user="bob")
        agent = one.agent_wire
        agent.request("c", "terminal/create", {"sessionId": session_id, "command": "ls"})
        bob.wire.answer((await bob.hears("terminal/create"))["id"], {"terminalId": "t9"})
        await agent.hears(None)
        read(agent, session_id)
        asked = await bob.hears(READ)
        again = await one.person("ann", **SERVES)
        await again.load(session_id)
        await again.lets_in(session_id, "bob", "viewer")
        assert (await agent.hears(None))["error"]["data"] == {"reason": "client_left"}
        await bob.hears("$/cancel_request", requestId=asked["id"])
        await bob.hears("terminal/release", terminalId="t9")
        assert (await again.hears("_accord.session/primary", user="ann"))["params"]


async def test_a_client_that_serves_is_preferred_and_a_viewer_never_serves() -> None:
    async with scripted() as one:
        ann, bob, session_id = await one.pair("viewer", **SERVES)
        agent = one.agent_wire
        await ann.wire.transport.aclose()
        await bob.hears("_accord.session/primary", user=None)
        read(agent, session_id)
        assert (await agent.hears(None))["error"]["data"] == {"reason": "no_client"}
        phone = await one.person("ann")
        await phone.load(session_id)
        desk = await one.person("ann", **SERVES)
        await desk.load(session_id)
        read(agent, session_id)
        desk.wire.answer((await desk.hears(READ))["id"], {"content": "x"})
        assert "result" in await agent.hears(None)


@pytest.mark.parametrize("sent", [True, False])
async def test_what_the_agent_takes_back_is_answered_once(sent: bool) -> None:
    async with scripted() as one:
        ann = await one.person("ann", **SERVES)
        session_id = await ann.new()
        agent = one.agent_wire
        back = {"method": "$/cancel_request", "params": {"requestId": "r"}}
        if sent:
            read(agent, session_id)
            asked = await ann.hears(READ)
            agent.say(back)
            await ann.hears("$/cancel_request", requestId=asked["id"])
            error = {"code": -32800, "message": "Request cancelled"}
            ann.wire.say({"id": asked["id"], "error": error})
        else:
            agent.chunk(session_id, "x")
            params = {"sessionId": session_id, "path": "/notes"}
            agent.say({"id": "r", "method": READ, "params": params}, back)
        assert (await agent.hears(None))["error"]["code"] == -32800
        await ann.synced()
        assert not agent.heard


async def test_terminals_have_a_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(primary_requests, "TERMINALS_MAX", 1)
    async with scripted() as one:
        ann = await one.person("ann", **SERVES)
        session_id = await ann.new()
        agent = one.agent_wire
        agent.request("c", "terminal/create", {"sessionId": session_id, "command": "ls"})
        ann.wire.answer((await ann.hears("terminal/create"))["id"], {"terminalId": "t1"})
        await agent.hears(None)
        agent.request("d", "terminal/create", {"sessionId": session_id, "command": "ls"})
        assert (await agent.hears(None))["error"]["data"] == {"reason": "too_many_terminals"}
