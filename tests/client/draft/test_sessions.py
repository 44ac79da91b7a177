"""Sessions with an agent of the 2026-02 draft: how they begin, go on and are set up."""

from __future__ import annotations

import pytest

from accord.client import Client
from accord.errors import LocalProtocolError, RemoteProtocolError
from accord.schema import draft, v1, v2
from tests.client.draft.draft_script import ANSWER, drafting, open_session, say, told
from tests.client.scripted_agent import BARE, Json, ScriptedAgent, connected, playing


@pytest.mark.rule("D26-06", "D26-07")
async def test_a_session_begins_with_what_the_draft_can_say() -> None:
    """The draft's table 3.3: all in one request; `ask_questions` is the draft's `ask`."""
    sent: list[Json] = []

    async def script(agent: ScriptedAgent) -> None:
        sent.append(await open_session(agent))

    async with drafting(script) as (client, _):
        session = await client.new_session(
            "/tmp",
            system_prompt="Be brief.",
            mode="ask_questions",
            config_options={"autoApprove": True, "model": "big"},
            mcp_servers=[
                v2.McpServerStdio(
                    name="a", command="/bin/x", env=[v2.EnvVariable(name="K", value="V")]
                ),
                v1.McpServer(
                    name="b",
                    type="sse",
                    url="http://b",
                    headers=[v1.HttpHeader(name="H", value="1")],
                ),
                draft.McpServer(name="c", transport=draft.McpStdio(command="y", cwd="/w")),
                draft.McpServer(name="d", transport=draft.McpHttp(url="http://d", timeout=5)),
            ],
        )
        assert session.transcript.modes.current == "ask_questions"
        options = {one.option_id: one.value for one in session.transcript.config_options}
        assert options == {"autoApprove": True, "model": "big"}
    assert sent == [
        {
            "workingDirectory": "/tmp",
            "systemPrompt": "Be brief.",
            "initialMode": "ask",
            "configOptions": {"autoApprove": True, "model": "big"},
            "mcpServers": [
                {
                    "name": "a",
                    "transport": {"type": "stdio", "command": "/bin/x", "env": {"K": "V"}},
                },
                {
                    "name": "b",
                    "transport": {"type": "sse", "url": "http://b", "headers": {"H": "1"}},
                },
                {"name": "c", "transport": {"type": "stdio", "command": "y", "cwd": "/w"}},
                {"name": "d", "transport": {"type": "http", "url": "http://d", "timeout": 5}},
            ],
        }
    ]


@pytest.mark.rule("D26-17")
async def test_nothing_is_asked_for_that_the_agent_did_not_offer() -> None:
    """Draft 10.3: the intersection; the same errors as of any missing capability."""
    bare = {**ANSWER, "capabilities": {}}

    async def script(agent: ScriptedAgent) -> None:
        await open_session(agent)

    server = v2.McpServerStdio(name="a", command="/bin/x")
    async with drafting(script, bare) as (client, agent):
        session = await client.new_session()
        for asking in (
            client.load_session("s"),
            client.resume_session("s"),
            client.list_page(),
            client.close_session(session),
            client.delete_session("s"),
            client.logout(),
            client.new_session(mcp_servers=[server]),
            session.set_mode("plan"),
            session.set_option("autoApprove", True),
        ):
            with pytest.raises(LocalProtocolError):
                await asking
        with pytest.raises(LocalProtocolError, match="attachments"):
            session.prompt("see", draft.Attachment(path="/a"))
        await session.close()
        assert [one["method"] for one in agent.received][2:] == ["session/new"]


@pytest.mark.rule("D26-09", "D26-35")
@pytest.mark.parametrize("first", ["update", "result"])
async def test_a_change_that_is_told_twice_is_shown_once(first: str) -> None:
    """The draft's table 3.6: in the answer and by an update, in either order."""
    kinds: list[str] = []

    async def script(agent: ScriptedAgent) -> None:
        await open_session(agent)
        request = await agent.expect("session/set_mode")
        assert request["params"] == {"sessionId": "s1", "mode": "ask"}
        _both(
            agent, request, "current_mode_update", {"previousMode": "default", "currentMode": "ask"}
        )
        request = await agent.expect("session/set_config_option")
        assert request["params"] == {"sessionId": "s1", "key": "autoApprove", "value": 3}
        change = {"key": "autoApprove", "previousValue": None, "currentValue": 3}
        _both(agent, request, "config_option_update", change)
        agent.result(await agent.expect("session/prompt"), {"stopReason": "end_turn"})

    def _both(agent: ScriptedAgent, request: Json, kind: str, change: Json) -> None:
        answer = {"jsonrpc": "2.0", "id": request["id"], "result": change}
        both = [told(agent, kind, **change), answer]
        agent.write(*(both if first == "update" else reversed(both)))

    async with drafting(script) as (client, _):
        session = await client.new_session(on_update=lambda update: kinds.append(update.kind))
        await session.set_mode("ask_questions")
        await session.set_option("autoApprove", 3)
        assert session.transcript.modes.current == "ask_questions"
        assert session.transcript.config_options[0].value == 3
        await session.ask("let the last update come")
    assert kinds == ["mode", "config_options"]


async def test_settings_whose_answer_is_none_are_the_agents_mistake() -> None:
    """Ours."""

    async def script(agent: ScriptedAgent) -> None:
        await open_session(agent)
        agent.result(await agent.expect("session/set_mode"), {})
        agent.result(await agent.expect("session/set_config_option"), {"key": 5})

    async with drafting(script) as (client, _):
        session = await client.new_session()
        with pytest.raises(RemoteProtocolError):
            await session.set_mode("plan")
        with pytest.raises(RemoteProtocolError):
            await session.set_option("model", "x")


async def test_a_loaded_session_is_where_the_agent_has_it() -> None:
    """Draft, 3.4: the folder is the agent's to remember; in another, paths would go astray."""
    answer: Json = {"sessionId": "s1", "mode": "ask", "configOptions": {}, "messageCount": 2}

    async def script(agent: ScriptedAgent) -> None:
        for place in ("/tmp", "/elsewhere"):
            request = await agent.expect("session/load")
            assert request["params"] == {"sessionId": "s1"}
            say(agent, "before", index=0, final=True)
            agent.result(request, {**answer, "workingDirectory": place})

    async with drafting(script) as (client, _):
        session = await client.load_session("s1", "/tmp")
        assert session.transcript.modes.current == "ask_questions"
        assert [message.text for message in session.transcript.messages] == ["before"]
        await session.close()
        with pytest.raises(RemoteProtocolError, match="/elsewhere"):
            await client.load_session("s1", "/tmp")
        with pytest.raises(LocalProtocolError, match="MCP servers that it had"):
            await client.load_session(
                "s1", "/tmp", mcp_servers=[v2.McpServerStdio(name="a", command="/bin/x")]
            )


async def test_v1_agents_get_a_mode_and_options_by_requests_of_their_own() -> None:
    """Ours: `new_session(mode=..., config_options=...)` is for every version."""
    option = {"id": "fast", "name": "Fast", "type": "boolean", "currentValue": False}
    modes = {"currentModeId": "a", "availableModes": [{"id": "b", "name": "B"}]}

    async def script(agent: ScriptedAgent) -> None:
        await agent.shake_hands()
        await agent.open_session(modes=modes, configOptions=[option])
        agent.result(await agent.expect("session/set_mode"), {})
        request = await agent.expect("session/set_config_option")
        agent.result(request, {"configOptions": [{**option, "currentValue": True}]})

    async with (
        playing(script) as (_, transport),
        Client.connect(transport, **BARE) as client,
    ):
        session = await client.new_session(mode="b", config_options={"fast": True})
        assert session.transcript.modes.current == "b"
        assert session.transcript.config_options[0].value is True
        with pytest.raises(LocalProtocolError, match="cannot be 3"):
            await session.set_option("fast", 3)


async def test_what_only_the_draft_has_is_refused_for_other_agents() -> None:
    """Ours: found before anything is sent."""

    async def script(agent: ScriptedAgent) -> None:
        await agent.open_session()

    server = draft.McpServer(name="c", transport=draft.McpStdio(command="/bin/y"))
    for version in (1, 2):
        async with connected(script, version) as (client, _):
            with pytest.raises(LocalProtocolError):
                await client.new_session(mcp_servers=[server])
            session = await client.new_session()
            for block in (draft.Attachment(path="/a"), draft.TextContent(text="x")):
                with pytest.raises(LocalProtocolError, match="2026-02 draft"):
                    session.prompt(block)
