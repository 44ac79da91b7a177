"""MCP servers in sessions of the built-in agent."""

import sys
from pathlib import Path
from typing import Any

import pytest

from tests.agent.raw_client import Message, RawClient, raw_client
from tests.builtin.agent.turns import begin, made, say, spoken

WORKSHOP = Path(__file__).parents[2] / "mcp" / "servers" / "workshop.py"


def server(version: int, name: str, *command: str) -> Message:
    """A stdio server as a client of this version gives it."""
    given: Message = {"name": name, "command": command[0], "args": list(command[1:]), "env": []}
    return given if version == 1 else given | {"type": "stdio"}


def allow(client: RawClient) -> None:
    """Say yes to everything."""
    client.serve["session/request_permission"] = lambda params: {
        "outcome": {"outcome": "selected", "optionId": "allow_once"}
    }


async def connected(client: RawClient) -> None:
    """Wait until the commands of servers are shown, however long a start takes here."""

    def shown(message: Message) -> bool:
        update = message.get("params", {}).get("update", {})
        return "call" in [one["name"] for one in update.get("availableCommands", ())]

    await client.take(shown)


def shown_commands(client: RawClient) -> list[set[str]]:
    """The lists of slash commands that the client was told of."""
    updates = client.updates("available_commands_update")
    return [{command["name"] for command in one["availableCommands"]} for one in updates]


@pytest.mark.parametrize("version", [1, 2])
async def test_the_tools_of_a_server_can_be_listed_and_called(version: int, tmp_path: Path) -> None:
    """Issue 3: servers given at `session/new` are really connected; slash commands are updated."""
    given = [server(version, "shop", sys.executable, str(WORKSHOP))]
    async with raw_client(made(), version=version) as client:
        allow(client)
        session = (await begin(client, tmp_path, mcpServers=given))["sessionId"]
        await connected(client)
        await say(client, session, "/mcp")
        assert "shop" in spoken(client)
        assert "add" in spoken(client)
        assert {"mcp", "call"} <= shown_commands(client)[-1]
        await say(client, session, '/call shop.add {"a": 2, "b": 40}')
        assert "42" in spoken(client)
        assert "session/request_permission" in client.methods(), "a call is asked for"


@pytest.mark.parametrize("version", [1, 2])
async def test_a_server_that_fails_is_told_and_the_session_lives(
    version: int, tmp_path: Path
) -> None:
    """Issue 3: a failing one is reported and the session lives."""
    given = [server(version, "gone", sys.executable, "-c", "raise SystemExit(3)")]
    async with raw_client(made(), version=version) as client:
        session = (await begin(client, tmp_path, mcpServers=given))["sessionId"]
        await say(client, session, "/help")
        await say(client, session, "/help")
        told = spoken(client) + str(client.updates("notice"))
        assert told.count("MCP server gone cannot be used") == 1
        assert "rename" in told


async def test_servers_of_the_configuration_are_connected_too(tmp_path: Path, home: Path) -> None:
    """Issue 3: also from the user's config."""
    folder = home / "config"
    folder.mkdir(parents=True)
    (folder / "config.toml").write_text(
        f'[mcp_servers.mine]\ncommand = "{sys.executable}"\nargs = ["{WORKSHOP}"]\n'
    )
    async with raw_client(made({"ACCORD_CONFIG_DIR": str(folder)})) as client:
        session = (await begin(client, tmp_path))["sessionId"]
        await say(client, session, "/mcp")
        assert "mine" in spoken(client)


async def test_another_list_of_servers_at_load_takes_the_place_of_the_first(tmp_path: Path) -> None:
    """Issue 3: servers given at load are those that the session has."""
    given = [server(1, "shop", sys.executable, str(WORKSHOP))]
    async with raw_client(made()) as client:
        session = (await begin(client, tmp_path, mcpServers=given))["sessionId"]
        await say(client, session, "/mcp")
        place: dict[str, Any] = {"sessionId": session, "cwd": str(tmp_path), "mcpServers": []}
        await client.result("session/load", place)
        client.frames.clear()
        await say(client, session, "/mcp")
        assert "shop" not in spoken(client)
