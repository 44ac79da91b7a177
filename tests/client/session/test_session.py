"""Sessions: opening, loading, listing and ending them, their settings, and early updates."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from accord.client.session.unclaimed_updates import EarlyUpdates
from accord.connection.limits import Limits
from accord.errors import (
    ConnectionLost,
    LocalProtocolError,
    NotFound,
    RemoteProtocolError,
)
from tests.client.scripted_agent import Json, ScriptedAgent, chunk, connected, playing_with

VERSIONS = pytest.mark.parametrize("version", [1, 2])


@VERSIONS
@pytest.mark.rule("V1-SESS-07", "V1-GEN-06", "V1-SESS-19")
async def test_a_new_session_is_asked_for_with_an_absolute_folder(
    version: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Issue 2: a relative cwd is made absolute before it is sent; N1: mcpServers is there."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "sub").mkdir()

    async def script(agent: ScriptedAgent) -> None:
        request = await agent.open_session()
        wanted: Json = {"cwd": str(tmp_path / "sub")}
        assert request["params"] == ({**wanted, "mcpServers": []} if version == 1 else wanted)

    async with connected(script, version) as (client, _):
        session = await client.new_session("./sub/../sub")
        assert (session.id, session.cwd) == ("s1", str(tmp_path / "sub"))
        assert client.sessions == {"s1": session}


@VERSIONS
async def test_updates_before_the_answer_reach_the_session(version: int) -> None:
    """Issue 2: order; N2 NewSessionResponse: updates may overtake the answer."""

    async def script(agent: ScriptedAgent) -> None:
        request = await agent.expect("session/new")
        for session_id in ("s1", "other"):
            agent.update(chunk("early ", "m"), session_id)
        answer = {"jsonrpc": "2.0", "id": request["id"], "result": {"sessionId": "s1"}}
        agent.write(answer, agent.update_message(chunk("late", "m")))

    seen: list[str] = []
    async with connected(script, version) as (client, _):
        session = await client.new_session(on_update=lambda update: seen.append(update.text))
        assert session.transcript.messages[0].text == "early late"
        assert seen == ["early ", "late"]
        assert len(client._core.link.early) == 1


def test_early_updates_are_not_kept_while_much_is_read() -> None:
    """Issue 12: a thousand updates may be a thousand megabytes."""
    early = EarlyUpdates(1024)
    early.much_came()
    for number in range(3):
        early.add("a", number)
    early.much_came()
    early.add("a", 3)
    assert len(early) == 4
    early.much_came()
    assert early.dropped == 3
    assert early.take("a") == [3]


async def test_too_many_early_updates_lose_the_oldest(caplog: pytest.LogCaptureFixture) -> None:
    """Design: oldest dropped, counted, reported."""

    async def script(agent: ScriptedAgent) -> None:
        request = await agent.expect("session/new")
        agent.write(*[agent.update_message(chunk(f"{n} ", "m")) for n in range(10)])
        agent.result(request, {"sessionId": "s1"})

    async with connected(script, limits=Limits(early_updates=3)) as (client, _):
        session = await client.new_session()
        assert session.transcript.messages[0].text == "7 8 9 "
        assert client._core.link.early.dropped == 7
    assert "dropped" in caplog.text


@pytest.mark.rule("V2-SESS-04")
async def test_a_state_before_the_answer_is_not_overwritten_by_it() -> None:
    """N2 NewSessionResponse."""

    async def script(agent: ScriptedAgent) -> None:
        request = await agent.expect("session/new")
        agent.state("running")
        agent.result(request, {"sessionId": "s1"})

    async with connected(script, 2) as (client, _):
        session = await client.new_session()
        assert session.is_busy


@VERSIONS
@pytest.mark.rule("V1-LOAD-02")
async def test_loading_replays_the_history_before_it_returns(version: int) -> None:
    """D1 session-setup; in v2 it is a resume from the start."""

    async def script(agent: ScriptedAgent) -> None:
        agent.session_id = "old"
        request = await agent.expect("session/load" if version == 1 else "session/resume")
        params = request["params"]
        assert params["sessionId"] == "old"
        if version == 1:
            assert params["mcpServers"] == []
        else:
            assert params["replayFrom"] == {"type": "start"}
        agent.update(
            {
                "sessionUpdate": "user_message_chunk",
                "messageId": "u",
                "content": {"type": "text", "text": "hello"},
            }
        )
        agent.say("hi")
        agent.result(request, None)

    async with connected(script, version) as (client, _):
        session = await client.load_session("old")
        said = [(message.role, message.text) for message in session.transcript.messages]
        assert said == [("user", "hello"), ("agent", "hi")]
        with pytest.raises(LocalProtocolError, match="already open"):
            await client.load_session("old")


@VERSIONS
async def test_resuming_replays_nothing_and_a_refusal_leaves_nothing_behind(version: int) -> None:
    """D1 session-setup."""

    async def script(agent: ScriptedAgent) -> None:
        request = await agent.expect("session/resume")
        assert "replayFrom" not in request["params"]
        agent.error(request, -32002, "no such session")
        agent.result(await agent.expect("session/resume"), {})

    async with connected(script, version) as (client, _):
        with pytest.raises(NotFound):
            await client.resume_session("old")
        assert client.sessions == {}
        session = await client.resume_session("old")
        assert session.transcript.messages == []


@VERSIONS
@pytest.mark.rule("V1-CLOSE-06", "V1-CLOSE-07", "V1-CLOSE-12", "V2-SESS-20")
async def test_listing_goes_on_until_there_is_no_cursor(version: int) -> None:
    """D1 session-list: cursors are opaque; the empty string is one."""
    pages: list[Json] = [
        {"sessions": [{"sessionId": "a", "cwd": "/x", "title": "A"}], "nextCursor": ""},
        {"sessions": [7, {"sessionId": "b", "cwd": "/y"}], "nextCursor": "\x00odd \u2028"},
        {"sessions": [{"sessionId": "a", "cwd": "/x", "additionalDirectories": ["/z"]}]},
    ]

    async def script(agent: ScriptedAgent) -> None:
        cursor: str | None = None
        for page in pages:
            request = await agent.expect("session/list")
            wanted = {} if cursor is None else {"cursor": cursor}
            assert request["params"] == {"cwd": os.getcwd(), **wanted}
            agent.result(request, page)
            cursor = page.get("nextCursor")

    async with connected(script, version) as (client, _):
        found = [info async for info in client.list_sessions(cwd=".")]
        assert [info.session_id for info in found] == ["a", "b", "a"]
        assert found[0].additional_directories == ()
        assert found[2].additional_directories == ("/z",)
        assert (found[0].title, found[1].title) == ("A", None)


@VERSIONS
@pytest.mark.parametrize("cursors", ["aa", "aba", "abcb", "abcd"])
async def test_pages_without_an_end_are_the_agent_s_mistake(
    version: int, cursors: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Found in review: `accord run --continue` asked for one page after the other for ever."""
    monkeypatch.setattr("accord.client.client.EMPTY_PAGES_MAX", 3)

    async def script(agent: ScriptedAgent) -> None:
        for cursor in cursors:
            request = await agent.expect("session/list")
            agent.result(request, {"sessions": [], "nextCursor": cursor})

    async with connected(script, version) as (client, _):
        with pytest.raises(RemoteProtocolError, match="no end"):
            assert [info async for info in client.list_sessions()]


@VERSIONS
async def test_a_closed_session_takes_no_more(version: int) -> None:
    """Issue 2, bad input: a prompt on a closed session is refused before anything is sent."""

    async def script(agent: ScriptedAgent) -> None:
        await agent.open_session()
        agent.result(await agent.expect("session/close"), None)

    async with connected(script, version) as (client, agent):
        session = await client.new_session()
        stream = session.updates()
        await session.close()
        await session.close()
        assert client.sessions == {}
        assert [update async for update in stream] == []
        for attempt in (session.ask("x"), session.cancel(), session.set_mode("y")):
            with pytest.raises(LocalProtocolError, match="closed"):
                await attempt
        assert len(agent.received) == 3


async def test_an_agent_that_forgot_the_session_has_closed_it() -> None:
    """v1's pages 4.3: clients treat -32002 as done."""

    async def script(agent: ScriptedAgent) -> None:
        await agent.open_session()
        agent.error(await agent.expect("session/close"), -32002)

    async with connected(script) as (client, _):
        session = await client.new_session()
        await session.close()
        assert session.is_closed


@VERSIONS
async def test_deleting_an_open_session_ends_it_here_too(version: int) -> None:
    """D1 session-delete."""

    async def script(agent: ScriptedAgent) -> None:
        await agent.open_session()
        agent.result(await agent.expect("session/delete"), {})

    async with connected(script, version) as (client, _):
        session = await client.new_session()
        await session.delete()
        assert session.is_closed


@VERSIONS
@pytest.mark.parametrize("result", [None, 5, {}, {"sessionId": 5}])
async def test_a_malformed_answer_to_new_is_the_agents_mistake(version: int, result: Any) -> None:
    """Ours: the error says which answer, and the client lives on."""

    async def script(agent: ScriptedAgent) -> None:
        agent.result(await agent.expect("session/new"), result)
        await agent.open_session()

    async with connected(script, version) as (client, _):
        with pytest.raises(RemoteProtocolError, match="session/new is invalid"):
            await client.new_session()
        assert (await client.new_session()).id == "s1"


async def test_an_agent_that_names_an_open_session_again_is_refused() -> None:
    """S003 session ids: unique."""

    async def script(agent: ScriptedAgent) -> None:
        await agent.open_session()
        await agent.open_session()

    async with connected(script) as (client, _):
        session = await client.new_session()
        with pytest.raises(RemoteProtocolError, match="already open"):
            await client.new_session()
        assert client.sessions == {"s1": session}


async def test_dead_agents_tell_everybody() -> None:
    """Issue 2: every waiter gets ConnectionLost."""

    async def script(agent: ScriptedAgent) -> None:
        await agent.open_session()
        await agent.expect("session/list")
        await agent.transport.aclose()

    async with connected(script) as (client, _):
        session = await client.new_session()
        stream = session.updates()
        with pytest.raises(ConnectionLost):
            await client.list_page()
        assert [update async for update in stream] == []
        for attempt in (session.cancel(), session.ask("x"), client.list_page()):
            with pytest.raises(ConnectionLost):
                await attempt


@VERSIONS
async def test_a_stream_that_is_dropped_holds_nothing_back(version: int) -> None:
    """Ours: an iteration that was left behind must not stop the connection."""

    async def script(agent: ScriptedAgent) -> None:
        await agent.open_session()
        prompt = await agent.begin_turn()
        for n in range(100):
            agent.say(f"{n} ")
        agent.end_turn(prompt)

    async with connected(script, version, limits=Limits(turn_updates=8)) as (client, _):
        session = await client.new_session()
        stream = session.updates()
        async with session.prompt("x") as turn:
            async for _update in turn:
                break
            del stream
            async for _update in turn:
                pass
        assert turn.stop_reason == "end_turn"


async def test_forking_is_unstable_and_gives_a_session_of_its_own() -> None:
    """v1's pages 4.3: the source is untouched, the fork is active at once."""
    able = {
        "protocolVersion": 1,
        "agentCapabilities": {"sessionCapabilities": {"fork": {}}},
    }

    async def script(agent: ScriptedAgent) -> None:
        await agent.open_session()
        request = await agent.expect("session/fork")
        assert request["params"]["sessionId"] == "s1"
        agent.result(request, {"sessionId": "s2"})

    async with playing_with(able, script, 1, unstable=True) as (client, _):
        session = await client.new_session()
        fork = await session.fork()
        assert (fork.id, fork.cwd, set(client.sessions)) == ("s2", session.cwd, {"s1", "s2"})


async def test_closing_without_the_method_cancels_and_lets_go() -> None:
    """V1-CLOSE-01: no `session/close` where it is not offered; the work must stop all the same."""

    async def script(agent: ScriptedAgent) -> None:
        await agent.open_session()
        await agent.begin_turn()
        await agent.expect("session/cancel")

    async with playing_with({"protocolVersion": 1}, script) as (client, agent):
        session = await client.new_session()
        turn = session.prompt("work")
        async with turn:
            await session.close()
            with pytest.raises(LocalProtocolError, match="was closed"):
                await turn.wait()
        assert client.sessions == {}
        assert agent.sent("session/close") == []


async def test_a_stream_can_be_closed() -> None:
    """Ours."""

    async def script(agent: ScriptedAgent) -> None:
        await agent.open_session()

    async with connected(script) as (client, _):
        session = await client.new_session()
        stream = session.updates()
        stream.close()
        assert [update async for update in stream] == []
        assert "s1" in repr(session)
        assert "open" in repr(session.prompt("x"))
