"""Slash commands that a session shows only while they are of use."""

from __future__ import annotations

import pytest

from accord.agent import Turn
from accord.agent.session.agent_session import AgentSession
from tests.agent.raw_client import raw_client
from tests.agent.v2.play import made


@pytest.mark.parametrize("version", [1, 2])
async def test_a_command_is_shown_once_it_is_of_use_and_works_all_the_time(version: int) -> None:
    """Ours: the tools of MCP servers can be called when there are servers, not before."""
    agent = made()

    @agent.on_session
    async def begin(session: AgentSession) -> None:
        await session.hide_commands("call", announce=False)

    @agent.command("call", "Call a tool")
    async def call(turn: Turn, argument: str) -> None:
        await turn.session.hide_commands(announce=True)
        await turn.session.hide_commands(announce=True)
        await turn.say(f"called {argument}")

    @agent.command("help", "Show the commands")
    async def show_help(turn: Turn, argument: str) -> None: ...

    async with raw_client(agent, version=version) as client:
        session = await client.new_session()
        prompt = {"sessionId": session, "prompt": [{"type": "text", "text": "/call it"}]}
        await client.result("session/prompt", prompt)
        await client.update("agent_message_chunk" if version == 1 else "agent_message")
        shown = [
            [command["name"] for command in update["availableCommands"]]
            for update in client.updates("available_commands_update")
        ]
        # v2 is told of the first ones in the answer to `session/new`.
        assert shown == ([["help"]] if version == 1 else []) + [["call", "help"]]
