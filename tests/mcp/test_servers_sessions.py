"""The servers of an ACP session: connected as it begins, gone when it ends, told to the client."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import anyio
import pytest

from accord import Agent, Turn
from accord.agent.session.agent_session import AgentSession
from accord.mcp.servers import McpServers, connect_session
from tests.agent.raw_client import Message, RawClient, raw_client
from tests.mcp.conftest import SECONDS, SERVERS

FORMS: Mapping[str, Any] = {"elicitation": {"form": {}, "url": {}}}


class Served:
    """An agent that calls the MCP tool that its prompt names."""

    def __init__(self) -> None:
        self.sessions: dict[str, McpServers] = {}
        self.agent = Agent("mcp", version="1", mcp=("http", "sse"))

        @self.agent.on_session
        async def begin(session: AgentSession) -> None:
            before = self.sessions.get(session.id)
            self.sessions[session.id] = await connect_session(session, previous=before)

        @self.agent.on_prompt
        async def answer(turn: Turn) -> None:
            servers = self.sessions[turn.session.id]
            result = await servers.call("given", turn.text)
            await turn.say(*result.blocks)


def program(script: str, *args: str, version: int) -> Message:
    """A server as a client describes it."""
    words = ["-I", str(SERVERS / script), *args]
    about: Message = {"name": "given", "command": sys.executable, "args": words, "env": []}
    return about if version == 1 else {"type": "stdio", **about}


async def said(client: RawClient, session: str, text: str, version: int) -> Any:
    """Prompt, and the first block of the answer."""
    client.start_prompt(session, text)
    kind = "agent_message_chunk" if version == 1 else "agent_message"
    update = await client.update(kind)
    return update["content"] if version == 1 else update["content"][0]


@pytest.mark.parametrize("version", [1, 2])
async def test_a_server_of_session_new_asks_the_user_through_the_client(
    tmp_path: Path, version: int
) -> None:
    """Issue: really connected; elicitation is passed on, forms and pages."""
    served = Served()
    asked: list[Mapping[str, Any]] = []

    def create(params: Mapping[str, Any]) -> Message:
        asked.append(params)
        form = {"action": "accept", "content": {"name": "Ada"}}
        return form if params["mode"] == "form" else {"action": "decline"}

    async with raw_client(served.agent, version=version, capabilities=FORMS) as client:
        client.serve["elicitation/create"] = create
        server = program("workshop.py", version=version)
        session = await client.new_session(str(tmp_path), mcpServers=[server])
        block = await said(client, session, "greet", version)
        assert block["text"] == "hello Ada"
        assert (await said(client, session, "log_in", version))["text"] == "decline"
    form, page = asked
    assert form["message"] == "MCP server 'given' asks: Who are you?"
    assert form["requestedSchema"]["required"] == ["name"]
    assert page["url"] == "https://example.com/login"


async def test_a_server_that_fails_is_a_notice_and_the_session_lives(tmp_path: Path) -> None:
    """Issue: a failing one is reported and the session lives."""
    served = Served()
    async with raw_client(served.agent, version=2) as client:
        server = program("faulty.py", "dies at once", version=2)
        session = await client.new_session(str(tmp_path), mcpServers=[server])
        notice = await client.update("notice")
        assert notice["title"] == "MCP server given cannot be used"
        assert "exit code 7" in notice["description"]
        assert "cannot" not in (await said(client, session, "work", 2))["text"]


async def test_servers_end_with_their_session_and_change_with_a_resume(tmp_path: Path) -> None:
    """Issue: given at new, load and resume; closed with the session."""
    served = Served()
    async with raw_client(served.agent, version=2) as client:
        server = program("faulty.py", "nothing", version=2)
        session = await client.new_session(str(tmp_path), mcpServers=[server])
        first = served.sessions[session]
        place = {"sessionId": session, "cwd": str(tmp_path)}
        with anyio.fail_after(SECONDS):
            assert await first.settled(SECONDS)
            await client.result("session/resume", {**place, "mcpServers": [server]})
            assert served.sessions[session] is first
            other = {**server, "args": [*server["args"], "more"]}
            await client.result("session/resume", {**place, "mcpServers": [other]})
            second = served.sessions[session]
            assert [one.state for one in first.status] == ["closed"]
            assert await second.settled(SECONDS)
            assert [one.state for one in second.status] == ["connected"]
            await client.result("session/close", {"sessionId": session})
        assert [one.state for one in second.status] == ["closed"]


async def test_a_client_that_is_gone_leaves_no_server_behind(tmp_path: Path) -> None:
    """Issue: no orphans; the fixture looks at the process groups."""
    served = Served()
    async with raw_client(served.agent, version=2) as client:
        server = program("faulty.py", "has children", version=2)
        session = await client.new_session(str(tmp_path), mcpServers=[server])
        with anyio.fail_after(SECONDS):
            assert await served.sessions[session].settled(SECONDS)
    [status] = served.sessions[session].status
    assert status.state == "closed"


async def test_servers_of_the_configuration_give_way_to_those_of_the_client(tmp_path: Path) -> None:
    """Issue: also from the user's config."""
    from accord.configuration.config_file import McpEntry

    served = Served()
    args = ("-I", str(SERVERS / "faulty.py"), "nothing")
    entry = McpEntry(type="stdio", command=sys.executable, args=args)

    @served.agent.on_session
    async def begin(session: AgentSession) -> None:
        configured = {"given": entry, "own": entry}
        served.sessions[session.id] = await connect_session(session, configured)

    async with raw_client(served.agent, version=1) as client:
        server = program("faulty.py", "dies at once", version=1)
        session = await client.new_session(str(tmp_path), mcpServers=[server])
        servers = served.sessions[session]
        with anyio.fail_after(SECONDS):
            assert await servers.settled(SECONDS)
        assert [(one.name, one.state) for one in servers.status] == [
            ("given", "failed"),
            ("own", "connected"),
        ]
