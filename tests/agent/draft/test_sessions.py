"""Sessions of the 2026-02 draft: made, loaded without a folder, and set to modes and options."""

from __future__ import annotations

import sys
from contextlib import aclosing
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

from accord.agent import Agent, Turn
from accord.agent.serving.draft.mcp_servers import HttpServer, StdioServer
from accord.agent.session.agent_session import AgentSession
from accord.errors import StoreError
from accord.mcp.server_spec import spec_of
from accord.schema import v2
from accord.store.sqlite import SqliteStore
from tests.agent.draft.draft_client import draft_client, hello


def agent_with_settings(**more: Any) -> tuple[Agent, list[AgentSession]]:
    """An agent with modes, options and a command; and the sessions it has seen."""
    agent = Agent("set", version="1", mcp=("http", "sse"), **more)
    agent.add_mode("default", "Default")
    agent.add_mode("ask", "Ask", "Asks for permission before it changes a file")
    agent.add_option("model", "Model", ["small", "large", "3"])
    agent.add_switch("loud", "Loud")
    seen: list[AgentSession] = []

    @agent.on_session
    async def see(session: AgentSession) -> None:
        seen.append(session)

    @agent.command("help", "Shows help", hint="topic")
    async def show_help(turn: Turn, argument: str) -> None:
        await turn.say("help")

    @agent.on_prompt
    async def answer(turn: Turn) -> None:
        async with turn.tool_call("Look", kind="read", raw_input={"path": "/a"}) as call:
            await call.show("found")
        await turn.think("hm")
        await turn.say(f"mode {turn.mode}")

    return agent, seen


# ---- making


@pytest.mark.rule("D26-06")
async def test_a_new_session_has_an_id_and_a_birth() -> None:
    """The draft's table 3.3."""
    agent, _ = agent_with_settings()
    async with draft_client(agent) as client:
        result = await client.result("session/new", {"workingDirectory": "/tmp"})
        assert set(result) == {"sessionId", "createdAt"}
        assert datetime.fromisoformat(result["createdAt"]).tzinfo is not None
        commands = await client.data("available_commands")
    assert commands["commands"][0]["name"] == "help"
    assert commands["commands"][0]["_meta"]["acp.draft/2026-02"] == {"input": {"hint": "topic"}}


async def test_a_session_begins_with_what_it_was_given() -> None:
    """Issue 5: systemPrompt, initialMode and configOptions, before the agent sees the session."""
    agent, seen = agent_with_settings()
    more = {
        "systemPrompt": "Be brief.",
        "initialMode": "ask_permission",
        "configOptions": {"model": 3, "loud": True, "depth": 4, "nonsense": None},
    }
    async with draft_client(agent) as client:
        result = await client.result("session/new", {"workingDirectory": "/tmp", **more})
        session = seen[0]
        assert session.system_prompt == "Be brief."
        assert dict(session.options) == {"mode": "ask", "model": "3", "loud": True}
        rejected = result["_meta"]["acp.draft/2026-02"]["rejectedConfigOptions"]
        assert rejected == {"depth": 4, "nonsense": None}
        # It knows them; nothing is announced.
        assert client.told("config_option_update") == []
        assert client.told("current_mode_update") == []


@pytest.mark.parametrize("mode", ["default", "ask", "architect", ""])
async def test_a_mode_that_there_is_not_is_passed_over(mode: str) -> None:
    """The draft's table 3.3: unknown ones are skipped; `ask` of the draft is not ours."""
    agent, seen = agent_with_settings()
    async with draft_client(agent) as client:
        await client.new_session(initialMode=mode)
    assert seen[0].mode is not None
    assert seen[0].mode.mode_id == "default"


# ---- MCP servers

FILESYSTEM = {
    "name": "files",
    "transport": {
        "type": "stdio",
        "command": "python3",
        "args": ["-m", "x"],
        "env": {"TOKEN": "t"},
        "cwd": "sub",
    },
}
WEB = {
    "name": "web",
    "transport": {"type": "http", "url": "https://a.b/c", "headers": {"X": "y"}, "timeout": 1500},
}
EVENTS = {"name": "events", "transport": {"type": "sse", "url": "https://a.b/d"}}


async def test_servers_keep_their_folder_and_their_time() -> None:
    """The draft's table 8: cwd and timeout are honoured."""
    agent, seen = agent_with_settings()
    async with draft_client(agent) as client:
        await client.new_session("/tmp", mcpServers=[FILESYSTEM, WEB, EVENTS])
    files, web, events = seen[0].mcp_servers
    assert isinstance(files, StdioServer)
    assert isinstance(files, v2.McpServerStdio)
    assert files.cwd == "/tmp/sub"
    assert Path(files.command).is_absolute()
    assert isinstance(web, HttpServer)
    assert web.timeout == 1.5
    specs = [spec_of(one) for one in (files, web, events)]
    assert [one and one.transport for one in specs] == ["stdio", "http", "sse"]
    assert specs[0] is not None
    assert (specs[0].cwd, dict(specs[0].env)) == ("/tmp/sub", {"TOKEN": "t"})
    assert specs[1] is not None
    assert (specs[1].seconds, dict(specs[1].headers)) == (1.5, {"X": "y"})


@pytest.mark.parametrize(
    ("transport", "code"),
    [
        ({"type": "acp", "agentUrl": "acp://x", "mcpServerName": "y"}, -32007),
        ({"type": "carrier-pigeon"}, -32602),
        ({"type": "stdio"}, -32602),
        (3, -32602),
    ],
)
async def test_a_server_that_cannot_be_had_is_refused(transport: Any, code: int) -> None:
    """The draft's table 8: `acp` is not served."""
    agent, seen = agent_with_settings()
    async with draft_client(agent) as client:
        params = {"workingDirectory": "/tmp", "mcpServers": [{"name": "x", "transport": transport}]}
        assert (await client.error("session/new", params))["code"] == code
    assert seen == []


async def test_a_transport_that_was_not_offered_is_a_missing_capability() -> None:
    """The draft's table 7, 9."""
    agent = Agent("plain", version="1")
    async with draft_client(agent) as client:
        params = {"workingDirectory": "/tmp", "mcpServers": [WEB]}
        assert (await client.error("session/new", params))["code"] == -32007


async def test_a_server_is_started_in_its_own_folder(tmp_path: Path) -> None:
    """Issue 5: MCP cwd, to the process."""
    from accord.mcp.transports import open_channel

    (tmp_path / "sub").mkdir()
    agent, seen = agent_with_settings()
    code = "import os,json; print(json.dumps({'jsonrpc':'2.0','method':os.getcwd()}), flush=True)"
    transport = {"type": "stdio", "command": sys.executable, "args": ["-c", code], "cwd": "sub"}
    async with draft_client(agent) as client:
        servers = [{"name": "where", "transport": transport}]
        await client.new_session(str(tmp_path), mcpServers=servers)
    spec = spec_of(seen[0].mcp_servers[0])
    assert spec is not None
    async with open_channel(spec, spec.cwd or "/") as channel:
        said = await channel.read.receive()
    assert str(tmp_path / "sub") in repr(said)


# ---- loading


@pytest.mark.rule("D26-07")
async def test_a_session_is_loaded_without_its_folder() -> None:
    """The draft's table 3.4: the folder is the agent's to remember; the past is told again."""
    agent, _ = agent_with_settings()
    async with draft_client(agent) as client:
        session = await client.new_session("/tmp", initialMode="ask_permission")
        await client.prompt(session, "one")
        await client.prompt(session, "two")
    async with draft_client(agent) as client:
        result = await client.result("session/load", {"sessionId": session})
        assert result == {
            "sessionId": session,
            "workingDirectory": "/tmp",
            "mode": "ask_permission",
            "configOptions": {"model": "small", "loud": False},
            "messageCount": 4,
        }
        asked = [one["content"] for one in client.told("user_message_chunk")]
        assert asked == ["one", "two"]
        assert client.text() == "mode askmode ask"
        assert client.statuses() == ["pending", "in_progress", "completed"] * 2
        assert all("duration" not in one for one in client.told("tool_call_update"))
        assert (await client.prompt(session, "three"))["stopReason"] == "end_turn"


@pytest.mark.rule("D26-32")
async def test_a_session_that_is_open_can_be_loaded_again() -> None:
    """Final statuses stay final: the client was told of these calls."""
    agent, _ = agent_with_settings()
    async with draft_client(agent) as client:
        session = await client.new_session()
        await client.prompt(session)
        result = await client.result("session/load", {"sessionId": session})
        assert result["messageCount"] == 2
        assert client.statuses() == ["pending", "in_progress", "completed"]


async def test_servers_without_secrets_are_remembered_beside_the_log(tmp_path: Path) -> None:
    """The draft's table 3.4: the draft does not send them again; secrets are not stored."""
    plain = {"name": "plain", "transport": {"type": "stdio", "command": "/bin/cat", "cwd": "/"}}
    async with aclosing(SqliteStore(tmp_path / "s.db")) as store:
        agent, seen = agent_with_settings(store=store)
        async with draft_client(agent) as client:
            session = await client.new_session(mcpServers=[FILESYSTEM, plain, EVENTS, WEB])
            servers: Any = seen[0].mcp_servers
            assert [one.name for one in servers[:2]] == ["files", "plain"]
            await client.prompt(session)
        kept = await store.kept(session, "draft.mcp_servers")
        assert kept is not None
        assert b"TOKEN" not in kept
        async with draft_client(agent) as client:
            await client.result("session/load", {"sessionId": session})
    files: Any
    files, events = seen[-1].mcp_servers
    assert (files.name, files.cwd) == ("plain", "/")
    spec = spec_of(events)
    assert spec is not None
    assert spec.url == "https://a.b/d"


async def test_a_store_that_stays_is_persistence(tmp_path: Path) -> None:
    """The draft's table 7: `persistence` is true where sessions outlive the process."""
    async with aclosing(SqliteStore(tmp_path / "s.db")) as store:
        agent, _ = agent_with_settings(store=store)
        async with draft_client(agent, initialize=False) as client:
            offer = (await client.result("initialize", hello()))["capabilities"]
    assert offer["sessionCapabilities"]["persistence"] is True


@pytest.mark.rule("D26-33")
@pytest.mark.parametrize(
    ("reason", "code", "said"),
    [
        ("session_pruned", -32006, "expired"),
        ("session_damaged", -32006, "corrupted"),
        ("session_in_use", -32006, "session_in_use"),
        ("store_unreachable", -32603, "store_unreachable"),
    ],
)
async def test_a_session_that_cannot_be_had_says_why(
    reason: str, code: int, said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The draft's table 3.4: expired and corrupted have no code of their own."""
    agent, _ = agent_with_settings()

    async def get(session_id: str) -> Any:
        raise StoreError(reason, "it cannot be had")

    monkeypatch.setattr(agent.store, "get", get)
    async with draft_client(agent) as client:
        error = await client.error("session/load", {"sessionId": "s"})
    assert (error["code"], error["data"]["reason"]) == (code, said)


# ---- settings


@pytest.mark.rule("D26-09", "D26-35")
async def test_a_mode_is_set_answered_and_announced_once() -> None:
    """The draft's table 3.6: the update follows the result."""
    agent, seen = agent_with_settings()
    async with draft_client(agent) as client:
        session = await client.new_session()
        params = {"sessionId": session, "mode": "ask_permission"}
        result = await client.result("session/set_mode", params)
        assert result == {"previousMode": "default", "currentMode": "ask_permission"}
        told = await client.data("current_mode_update")
        assert told == {"previousMode": "default", "currentMode": "ask_permission"}
        place = [frame.get("method") or frame.get("id") for frame in client.frames]
        assert place[-1] == "session/update"
        # To the same again: answered, and nothing to announce.
        again = await client.result("session/set_mode", params)
        assert again == {"previousMode": "ask_permission", "currentMode": "ask_permission"}
        await client.prompt(session)
        assert len(client.told("current_mode_update")) == 1
        assert client.told("config_option_update") == []
    assert seen[0].mode is not None
    assert seen[0].mode.mode_id == "ask"


@pytest.mark.rule("D26-09", "D26-35")
async def test_an_option_is_set_answered_and_announced_once() -> None:
    """The draft's table 3.7: `source` is the user."""
    agent, _ = agent_with_settings()
    async with draft_client(agent) as client:
        session = await client.new_session()
        params = {"sessionId": session, "key": "loud", "value": True}
        result = await client.result("session/set_config_option", params)
        assert result == {"key": "loud", "previousValue": False, "currentValue": True}
        told = await client.data("config_option_update")
        assert told == result | {"source": "user"}
        params = {"sessionId": session, "key": "model", "value": 3}
        result = await client.result("session/set_config_option", params)
        assert result["currentValue"] == "3"
        await client.prompt(session)
        assert [one["key"] for one in client.told("config_option_update")] == ["loud", "model"]


async def test_what_the_agent_changes_itself_is_its_own_doing() -> None:
    """The draft's table 5: `source` is the agent."""
    agent, _ = agent_with_settings()

    @agent.on_prompt
    async def change(turn: Turn) -> None:
        await turn.set_option("model", "large")
        await turn.set_mode("ask")

    async with draft_client(agent) as client:
        session = await client.new_session()
        await client.prompt(session)
        assert client.told("config_option_update") == [
            {"key": "model", "previousValue": "small", "currentValue": "large", "source": "agent"}
        ]
        assert client.told("current_mode_update") == [
            {"previousMode": "default", "currentMode": "ask_permission"}
        ]


@pytest.mark.parametrize(
    ("method", "about", "code"),
    [
        ("session/set_mode", {"mode": "ask"}, -32602),
        ("session/set_mode", {"mode": "no"}, -32602),
        ("session/set_config_option", {"key": "no", "value": 1}, -32602),
        ("session/set_config_option", {"key": "mode", "value": "ask"}, -32602),
        ("session/set_config_option", {"key": "model", "value": "huge"}, -32602),
        ("session/set_config_option", {"key": "model", "value": {"a": 1}}, -32602),
        ("session/set_config_option", {"key": "loud", "value": "yes"}, -32602),
        ("session/set_config_option", {"key": "loud"}, -32602),
    ],
)
async def test_what_cannot_be_set_is_refused_and_not_announced(
    method: str, about: dict[str, Any], code: int
) -> None:
    """The draft's table 3.6: nothing is announced when the call failed."""
    agent, _ = agent_with_settings()
    async with draft_client(agent) as client:
        session = await client.new_session()
        assert (await client.error(method, {"sessionId": session, **about}))["code"] == code
        await client.prompt(session)
        assert client.told("config_option_update") == client.told("current_mode_update") == []


async def test_an_agent_without_modes_has_none_to_set() -> None:
    """The draft's table 9: a capability that is missing."""
    agent = Agent("plain", version="1")
    async with draft_client(agent) as client:
        session = await client.new_session()
        params = {"sessionId": session, "mode": "default"}
        assert (await client.error("session/set_mode", params))["code"] == -32007
        loaded = await client.result("session/load", {"sessionId": session})
    assert loaded["mode"] == "default"
    assert loaded["configOptions"] == {}


@pytest.mark.rule("D26-01")
async def test_one_connection_serves_several_sessions() -> None:
    """The draft's table 10."""
    agent, _ = agent_with_settings()
    async with draft_client(agent) as client:
        sessions = [await client.new_session(), await client.new_session("/")]
        prompts = [client.start_prompt(one) for one in sessions]
        for prompt in prompts:
            assert (await client.answer(prompt))["result"]["stopReason"] == "end_turn"
