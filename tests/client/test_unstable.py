"""What the protocol calls unstable: off unless asked for, and only where the agent offers it."""

from __future__ import annotations

import anyio
import pytest

from accord.client.unstable import Provider
from accord.client.wire.wire_interface import AuthStatus
from accord.errors import LocalProtocolError
from tests.client.scripted_agent import Hearing, Json, ScriptedAgent, connected, playing_with

VERSIONS = pytest.mark.parametrize("version", [1, 2])


def able(version: int) -> Json:
    """An agent with everything."""
    session: Json = {"archive": {}, "status": {}, "title": {}, "list": {}}
    more: Json = {"auth": {"status": {}}, "providers": {}}
    if version == 1:
        capabilities: Json = {"sessionCapabilities": session, **more}
        return {"protocolVersion": 1, "agentCapabilities": capabilities}
    info = {"name": "a", "version": "1"}
    return {"protocolVersion": 2, "info": info, "capabilities": {"session": session, **more}}


@VERSIONS
@pytest.mark.rule("V1-CLOSE-25", "V1-PROV-02")
@pytest.mark.parametrize("offered", [False, True])
async def test_what_is_not_asked_for_or_not_offered_is_not_called(
    version: int, offered: bool
) -> None:
    """Issue 2: marked, and off unless asked for."""

    async def script(agent: ScriptedAgent) -> None:
        pass

    answer = able(version) if offered else None
    made = (
        connected(script, version, unstable=True)
        if answer is None
        else playing_with(answer, script, version)
    )
    async with made as (client, agent):
        unstable = client.unstable
        for attempt in (
            unstable.auth_status(),
            unstable.archive_session("s"),
            unstable.unarchive_session("s"),
            unstable.session_status("s"),
            unstable.set_title("s", "t"),
            unstable.list_providers(),
            unstable.set_provider("p", "openai", "http://x"),
            unstable.disable_provider("p"),
            client.list_page(archived="only"),
        ):
            with pytest.raises(LocalProtocolError):
                await attempt
        assert len(agent.received) == 1


@VERSIONS
@pytest.mark.rule("V1-AUTH-14", "V1-CLOSE-25")
async def test_words_that_are_not_understood_are_read_as_the_careful_one(version: int) -> None:
    """N1 AuthStatusResponse, SessionStatus."""

    async def script(agent: ScriptedAgent) -> None:
        for state in ("authenticated", "_weird"):
            agent.result(await agent.expect("auth/status"), {"state": state})
        for status in ("open", "_warm"):
            agent.result(await agent.expect("session/status"), {"status": status})
        agent.write(
            {"jsonrpc": "2.0", "method": "auth/status_update", "params": {"state": 5}},
            {"jsonrpc": "2.0", "method": "auth/status_update", "params": {"state": "_odd"}},
        )

    told: list[AuthStatus] = []
    options: Json = {"unstable": True, "on_auth_status": told.append}
    async with playing_with(able(version), script, version, **options) as (client, _):
        unstable = client.unstable
        states = [(await unstable.auth_status()).state for _ in range(2)]
        assert states == ["authenticated", "unknown"]
        assert [await unstable.session_status("s") for _ in range(2)] == ["open", "saved"]
        await anyio.wait_all_tasks_blocked()
        assert told == [AuthStatus("unknown")]
        assert client._core.link.auth_status == told[0]


@VERSIONS
async def test_sessions_are_archived_and_named(version: int) -> None:
    """v1's pages 4.3."""

    async def script(agent: ScriptedAgent) -> None:
        await agent.open_session()
        request = await agent.expect("session/set_title")
        assert request["params"] == {"sessionId": "s1", "title": " T "}
        agent.result(request, {"title": "T"})
        agent.result(await agent.expect("session/archive"), {})
        agent.result(await agent.expect("session/unarchive"), {})
        request = await agent.expect("session/list")
        assert request["params"] == {"archived": "include"}
        agent.result(request, {"sessions": [{"sessionId": "s1", "cwd": "/", "archived": False}]})

    async with playing_with(able(version), script, version, unstable=True) as (client, _):
        session = await client.new_session()
        assert await client.unstable.set_title("s1", " T ") == "T"
        with pytest.raises(LocalProtocolError, match="empty title"):
            await client.unstable.set_title("s1", "  ")
        await client.unstable.archive_session("s1")
        assert session.is_closed
        await client.unstable.unarchive_session("s1")
        [info] = [info async for info in client.list_sessions(archived="include")]
        assert info.archived is False


@VERSIONS
@pytest.mark.rule("V1-PROV-08", "V1-PROV-09")
async def test_required_providers_are_not_disabled(version: int) -> None:
    """R custom-llm-endpoint; unknown protocols are names like any other."""
    listed: list[Json] = [
        {
            "providerId": "main",
            "supported": ["openai", "_x"],
            "required": True,
            "current": {"apiType": "_x", "baseUrl": "http://m"},
        },
        {"providerId": "other", "supported": [], "required": False, "current": None},
    ]

    async def script(agent: ScriptedAgent) -> None:
        agent.result(await agent.expect("providers/list"), {"providers": listed})
        request = await agent.expect("providers/disable")
        assert request["params"] == {"providerId": "other"}
        agent.result(request, {})
        agent.result(await agent.expect("providers/list"), {"providers": listed})
        for headers in ({}, {"headers": {"k": "v"}}):
            request = await agent.expect("providers/set")
            wanted = {"providerId": "other", "apiType": "openai", "baseUrl": "http://o", **headers}
            assert request["params"] == wanted
            agent.result(request, {})

    async with playing_with(able(version), script, version, unstable=True) as (client, _):
        unstable = client.unstable
        with pytest.raises(LocalProtocolError, match="requires the provider"):
            await unstable.disable_provider("main")
        await unstable.disable_provider("other")
        assert await unstable.list_providers() == (
            Provider("main", ("openai", "_x"), True, ("_x", "http://m")),
            Provider("other", (), False),
        )
        await unstable.set_provider("other", "openai", "http://o")
        await unstable.set_provider("other", "openai", "http://o", {"k": "v"})


@VERSIONS
@pytest.mark.rule("V1-PROXY-10")
async def test_child_sessions_are_cancelled_only_where_they_offer_it(version: int) -> None:
    """N1 SubagentSessionCapabilities."""

    async def script(agent: ScriptedAgent) -> None:
        await agent.open_session()
        offers: dict[str, Json] = {"no": {}, "yes": {"capabilities": {"cancel": {}}}}
        for child, more in offers.items():
            agent.update({"sessionUpdate": "subagent_update", "sessionId": child, **more})
        agent.say("done")
        cancel = await agent.expect("session/cancel")
        assert cancel["params"] == {"sessionId": "yes"}

    async with connected(script, version, unstable=True) as (client, agent):
        hearing = Hearing()
        session = await client.new_session(on_update=hearing)
        await hearing.done.wait()
        for child in ("no", "unknown"):
            with pytest.raises(LocalProtocolError, match="cannot be cancelled"):
                await session.cancel_subagent(child)
        assert len(agent.received) == 2
        await session.cancel_subagent("yes")
        await anyio.wait_all_tasks_blocked()


@VERSIONS
@pytest.mark.rule("V1-USAGE-08", "V1-USAGE-14")
async def test_a_notice_stops_nothing(version: int) -> None:
    """R session-notices: severity `error` fails nothing; R session-info-update: long titles."""

    async def script(agent: ScriptedAgent) -> None:
        await agent.open_session()
        prompt = await agent.begin_turn()
        agent.update({"sessionUpdate": "notice", "severity": "error", "title": "disk is full"})
        agent.update({"sessionUpdate": "session_info_update", "title": "t" * 10_000})
        agent.end_turn(prompt)

    async with connected(script, version) as (client, agent):
        session = await client.new_session()
        reply = await session.ask("x")
        assert reply.stop_reason == "end_turn"
        assert session.transcript.notices[0].title == "disk is full"
        assert session.transcript.info.title == "t" * 10_000
        assert agent.sent("session/cancel") == []
