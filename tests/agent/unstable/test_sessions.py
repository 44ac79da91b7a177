"""Fork, archive, status and title of sessions."""

from __future__ import annotations

import anyio
import pytest

from accord.agent import Turn
from accord.agent.session.agent_session import AgentSession
from tests.agent.raw_client import raw_client
from tests.agent.unstable.play import again, idle, listed, made, reopen, run_turn
from tests.hang_limit import HANG_SECONDS


@pytest.mark.rule("V1-CLOSE-17", "V1-CLOSE-18", "V1-CLOSE-19")
async def test_a_fork_is_a_session_of_its_own_with_the_same_past(version: int) -> None:
    """Spec: new id, source unchanged, prompted at once, no roots but those that were sent."""

    async def echo(turn: Turn) -> None:
        await turn.say(f"heard {turn.text}")

    async with raw_client(made(echo), version=version) as client:
        source = await client.new_session(additionalDirectories=["/var"])
        await run_turn(client, version, source, "first")
        fork = (await client.result("session/fork", {"sessionId": source, "cwd": "/tmp"}))[
            "sessionId"
        ]
        assert fork != source
        await run_turn(client, version, fork, "second")
        entries = await listed(client)
        assert "additionalDirectories" not in entries[fork]
        assert entries[source]["additionalDirectories"] == ["/var"]
        for session_id, expected in ((source, ["first"]), (fork, ["first", "second"])):
            start = len(client.frames)
            await client.result(again(version), reopen(version, session_id))
            told = str(client.frames[start:])
            assert [word for word in ("first", "second") if f"heard {word}" in told] == expected


async def test_a_fork_that_the_agent_refuses_was_never_made(version: int) -> None:
    """Ours: as with `session/new`."""
    agent = made()
    async with raw_client(agent, version=version) as client:
        source = await client.new_session()

        @agent.on_session
        async def refuse(session: AgentSession) -> None:
            raise RuntimeError("no more")

        await client.error("session/fork", {"sessionId": source, "cwd": "/tmp"})
        assert list(await listed(client)) == [source]


async def test_a_fork_of_an_unknown_session_is_not_found(version: int) -> None:
    """Spec: -32002 with the id."""
    async with raw_client(made(), version=version) as client:
        error = await client.error("session/fork", {"sessionId": "nope", "cwd": "/tmp"})
        assert (error["code"], error["data"]) == (-32002, {"sessionId": "nope"})


@pytest.mark.rule("V1-CLOSE-20", "V1-CLOSE-21")
async def test_archived_sessions_are_hidden_kept_and_brought_back(version: int) -> None:
    """Spec: repeats succeed, id and history stay, every entry says `archived`."""
    async with raw_client(made(), version=version) as client:
        kept, hidden = await client.new_session(), await client.new_session()
        await run_turn(client, version, hidden)
        for _ in range(2):
            assert await client.result("session/archive", {"sessionId": hidden}) == {}
        assert list(await listed(client)) == [kept]
        assert list(await listed(client, archived="exclude")) == [kept]
        assert list(await listed(client, archived="only")) == [hidden]
        both = await listed(client, archived="include")
        assert {key: one["archived"] for key, one in both.items()} == {kept: False, hidden: True}
        # It was open, so it was closed first.
        blocks = [{"type": "text", "text": "still there?"}]
        error = await client.error("session/prompt", {"sessionId": hidden, "prompt": blocks})
        assert error["code"] == -32002
        for _ in range(2):
            assert await client.result("session/unarchive", {"sessionId": hidden}) == {}
        assert set(await listed(client)) == {kept, hidden}
        start = len(client.frames)
        await client.result(again(version), reopen(version, hidden))
        assert "hello" in str(client.frames[start:])


@pytest.mark.rule("V1-CLOSE-20")
async def test_archiving_ends_the_work_of_a_session_first(version: int) -> None:
    """Spec: as if it had been closed."""
    started = anyio.Event()

    async def wait(turn: Turn) -> None:
        started.set()
        await anyio.sleep_forever()

    async with raw_client(made(wait), version=version) as client:
        session_id = await client.new_session()
        prompt = client.start_prompt(session_id)
        with anyio.fail_after(HANG_SECONDS):
            await started.wait()
        await client.result("session/archive", {"sessionId": session_id})
        if version == 1:
            assert (await client.answer(prompt))["result"]["stopReason"] == "cancelled"
        else:
            assert (await idle(client, session_id))["stopReason"] == "cancelled"
        assert (await listed(client, archived="only"))[session_id]["archived"] is True


async def test_a_session_open_on_two_connections_is_archived_on_both(version: int) -> None:
    """Ours: closed wherever it is open, and never written back as it was."""
    agent = made()
    async with raw_client(agent, version=version) as one, raw_client(agent, version=version) as two:
        session_id = await one.new_session()
        await two.result("session/resume", reopen(version, session_id))
        await one.result("session/archive", {"sessionId": session_id})
        blocks = [{"type": "text", "text": "?"}]
        error = await two.error("session/prompt", {"sessionId": session_id, "prompt": blocks})
        assert error["code"] == -32002
        assert list(await listed(two, archived="only")) == [session_id]


@pytest.mark.rule("V1-CLOSE-20", "V1-CLOSE-24", "V1-CLOSE-26")
@pytest.mark.parametrize("method", ["archive", "unarchive", "status", "set_title"])
async def test_an_unknown_session_is_not_found(version: int, method: str) -> None:
    """Spec: -32002 with `data.sessionId`."""
    async with raw_client(made(), version=version) as client:
        error = await client.error(f"session/{method}", {"sessionId": "nope", "title": "x"})
        assert (error["code"], error["data"]) == (-32002, {"sessionId": "nope"})


@pytest.mark.rule("V1-CLOSE-22")
async def test_an_unknown_filter_is_refused(version: int) -> None:
    """Spec: never read as another filter."""
    async with raw_client(made(), version=version) as client:
        error = await client.error("session/list", {"archived": "_x"})
        assert (error["code"], error["data"]["path"]) == (-32602, "$.archived")


@pytest.mark.rule("V1-CLOSE-24")
async def test_status_tells_open_from_saved_and_changes_nothing(version: int) -> None:
    """Spec: a pure query; v2 says the state too while the session is open."""
    agent = made()
    async with raw_client(agent, version=version) as client:
        session_id = await client.new_session()
        before = await listed(client)
        status = await client.result("session/status", {"sessionId": session_id})
        assert status["status"] == "open"
        assert ("state" in status) == (version == 2)
        if version == 2:
            assert status["state"] == {"state": "idle"}
        async with raw_client(agent, version=version) as other:
            seen = await other.result("session/status", {"sessionId": session_id})
            assert seen["status"] == "open"
            blocks = [{"type": "text", "text": "not attached"}]
            error = await other.error("session/prompt", {"sessionId": session_id, "prompt": blocks})
            assert error["code"] == -32002
        assert await listed(client) == before
        await client.result("session/close", {"sessionId": session_id})
        for _ in range(2):
            status = await client.result("session/status", {"sessionId": session_id})
            assert status == {"status": "saved"}
        assert await listed(client) == before


@pytest.mark.rule("V1-CLOSE-26")
async def test_a_title_is_stored_before_it_is_confirmed(version: int) -> None:
    """Spec: trimmed; open or not; empty is -32602."""
    async with raw_client(made(), version=version) as client:
        session_id = await client.new_session()
        for close in (False, True):
            if close:
                await client.result("session/close", {"sessionId": session_id})
            wanted = {"sessionId": session_id, "title": f"  My   title {close} \n"}
            result = await client.result("session/set_title", wanted)
            assert result == {"title": f"My title {close}"}
            assert (await listed(client))[session_id]["title"] == f"My title {close}"
        for bad in ("", " \n\t"):
            error = await client.error("session/set_title", {"sessionId": session_id, "title": bad})
            assert (error["code"], error["data"]["path"]) == (-32602, "$.title")


async def test_a_long_title_is_cut(version: int) -> None:
    """Spec: the agent may shorten; the answer says what was stored."""
    async with raw_client(made(), version=version) as client:
        wanted = {"sessionId": await client.new_session(), "title": "x" * 5000}
        assert await client.result("session/set_title", wanted) == {"title": "x" * 200}


@pytest.mark.rule("V1-CLOSE-27")
async def test_the_users_title_is_not_replaced_by_the_agents(version: int) -> None:
    """Spec: an automatic title gives way, in this connection and after."""

    async def name(turn: Turn) -> None:
        await turn.set_title("automatic")

    async with raw_client(made(name), version=version) as client:
        session_id = await client.new_session()
        await run_turn(client, version, session_id)
        assert (await listed(client))[session_id]["title"] == "automatic"
        await client.result("session/set_title", {"sessionId": session_id, "title": "mine"})
        await run_turn(client, version, session_id)
        await client.result("session/close", {"sessionId": session_id})
        await client.result(again(version), reopen(version, session_id))
        await run_turn(client, version, session_id)
        assert (await listed(client))[session_id]["title"] == "mine"
