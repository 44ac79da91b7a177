"""Sessions in v1: made, loaded, resumed, listed, closed, deleted."""

from __future__ import annotations

import json
from typing import Any

import anyio
import pytest

from accord.agent import Agent, Turn
from accord.store import MemoryStore
from tests.agent.raw_client import SECONDS, RawClient, raw_client


def echo_agent(**options: Any) -> Agent:
    """An agent that repeats, notes, and says which folders it has."""
    agent = Agent("echo", version="1", **options)
    agent.add_mode("ask", "Ask")
    agent.add_mode("code", "Code")

    @agent.on_prompt
    async def answer(turn: Turn) -> None:
        if turn.text == "roots":
            await turn.say(json.dumps(turn.session.roots))
            return
        if turn.text == "wait":
            await turn.say("waiting")
            await anyio.sleep_forever()
        await turn.notice("info", "of the moment")
        async with turn.tool_call("Look", kind="read") as call:
            await call.show("seen")
        async with turn.message() as message:
            await message.write("you said ")
            await message.write(turn.text)

    return agent


def load(session_id: str, **more: Any) -> dict[str, Any]:
    """The params of load and resume."""
    return {"sessionId": session_id, "cwd": "/tmp", "mcpServers": [], **more}


async def ids(client: RawClient, **params: Any) -> list[str]:
    """The listed ids, of one page."""
    result = await client.result("session/list", params)
    return [one["sessionId"] for one in result["sessions"]]


@pytest.mark.rule("V1-SESS-02")
async def test_a_hundred_sessions_have_a_hundred_ids() -> None:
    """Spec: creating a session."""
    async with raw_client(echo_agent()) as client:
        made = {await client.new_session() for _ in range(100)}
        assert len(made) == 100


@pytest.mark.rule("V1-SESS-10")
@pytest.mark.parametrize("bad", ["/a", [5], [""], ["rel"], ["/ok", "rel"], {"0": "/a"}])
async def test_bad_additional_directories_fail_before_a_session_is_made(bad: Any) -> None:
    """RFD: validation."""
    async with raw_client(echo_agent()) as client:
        params = {"cwd": "/tmp", "mcpServers": [], "additionalDirectories": bad}
        error = await client.error("session/new", params)
        assert error["code"] == -32602
        assert error["data"]["path"].startswith("$.additionalDirectories")
        assert await ids(client) == []


@pytest.mark.rule("V1-SESS-20")
async def test_additional_directories_may_be_left_out() -> None:
    """RFD: compatibility."""
    async with raw_client(echo_agent()) as client:
        session_id = await client.new_session("/tmp")
        await client.prompt(session_id, "roots")
        assert json.loads(client.text()) == ["/tmp"]


@pytest.mark.rule("V1-SESS-19")
async def test_folders_are_listed_in_the_form_in_which_they_came() -> None:
    """RFD: one rule for cwd, roots and listed roots; ours is not to normalize."""
    async with raw_client(echo_agent()) as client:
        await client.new_session("/tmp/./x", additionalDirectories=["/var/./y"])
        entry = (await client.result("session/list", {}))["sessions"][0]
        assert (entry["cwd"], entry["additionalDirectories"]) == ("/tmp/./x", ["/var/./y"])
        assert len(await ids(client, cwd="/tmp/./x")) == 1


@pytest.mark.rule("V1-LOAD-03", "V1-LOAD-04", "V1-PROMPT-17")
async def test_load_replays_the_whole_conversation_before_its_answer() -> None:
    """Spec: loading a session; here over a second connection to the same store."""
    agent = echo_agent(store=MemoryStore())
    async with raw_client(agent) as client:
        session_id = await client.new_session()
        await client.prompt(session_id, "one")
        await client.prompt(session_id, "two")
    async with raw_client(agent) as client:
        result = await client.result("session/load", load(session_id))
        loaded = len(client.frames)
        assert result["modes"]["currentModeId"] == "ask"
        assert result["configOptions"][0]["id"] == "mode"
        told = client.updates()
        assert "result" in client.frames[loaded - 1]
        await client.result("session/list", {})
        assert len(client.frames) == loaded + 1
    users = [one for one in told if one["sessionUpdate"] == "user_message_chunk"]
    assert [one["content"]["text"] for one in users] == ["one", "two"]
    assert all(one["messageId"] for one in users)
    assert client.text() == "you said oneyou said two"
    chunks = [one for one in told if one["sessionUpdate"] == "agent_message_chunk"]
    assert len({one["messageId"] for one in chunks}) == 2
    kinds = [one["sessionUpdate"] for one in told]
    assert kinds[0] == "user_message_chunk"
    assert kinds.count("tool_call") == 2
    statuses = [one.get("status") for one in told if "toolCallId" in one]
    assert statuses[-1] == "completed"


@pytest.mark.rule("V1-LOAD-05")
async def test_notices_are_not_replayed() -> None:
    """Spec draft: a notice is of the moment."""
    async with raw_client(echo_agent(), capabilities={"session": {"notices": {}}}) as client:
        session_id = await client.new_session()
        await client.prompt(session_id)
        assert len(client.updates("notice")) == 1
        await client.result("session/load", load(session_id))
        assert len(client.updates("notice")) == 1


@pytest.mark.rule("V1-LOAD-06")
@pytest.mark.parametrize("method", ["session/load", "session/resume"])
async def test_stored_roots_are_not_restored_unless_sent_again(method: str) -> None:
    """RFD: the full list again; nothing is restored implicitly."""
    async with raw_client(echo_agent()) as client:
        session_id = await client.new_session("/tmp", additionalDirectories=["/var"])
        await client.result(method, load(session_id))
        before = len(client.text())
        await client.prompt(session_id, "roots")
        assert json.loads(client.text()[before:]) == ["/tmp"]
        await client.result(method, load(session_id, additionalDirectories=["/usr"]))
        before = len(client.text())
        await client.prompt(session_id, "roots")
        assert json.loads(client.text()[-len('["/tmp", "/usr"]') :]) == ["/tmp", "/usr"]
        assert before <= len(client.text())


@pytest.mark.rule("V1-LOAD-06")
async def test_roots_sent_while_a_turn_runs_bind_that_turn_too() -> None:
    """Ours: a session has one set of roots, the last that was sent."""
    agent = echo_agent()
    asked = anyio.Event()

    @agent.on_prompt
    async def answer(turn: Turn) -> None:
        await turn.say("ready")
        await asked.wait()
        await turn.say(json.dumps(turn.session.roots))

    async with raw_client(agent) as client:
        session_id = await client.new_session("/tmp", additionalDirectories=["/var"])
        turn = client.start_prompt(session_id)
        await client.update("agent_message_chunk")
        params = {"sessionId": session_id, "cwd": "/usr"}
        await client.result("session/resume", params)
        asked.set()
        await client.answer(turn)
        assert client.text() == 'ready["/usr"]'


@pytest.mark.rule("V1-LOAD-08")
async def test_resume_replays_nothing() -> None:
    """Spec: resuming; afterwards the session goes on."""
    async with raw_client(echo_agent()) as client:
        session_id = await client.new_session()
        await client.prompt(session_id, "one")
        seen = len(client.updates())
        result = await client.result("session/resume", {"sessionId": session_id, "cwd": "/tmp"})
        assert result["modes"]["currentModeId"] == "ask"
        assert len(client.updates()) == seen
        assert await client.prompt(session_id, "two") == {"stopReason": "end_turn"}


@pytest.mark.rule("V1-LOAD-10")
@pytest.mark.parametrize("method", ["session/load", "session/resume", "session/prompt"])
async def test_an_unknown_session_is_not_found_by_its_id(method: str) -> None:
    """Schema: -32002 with the id."""
    async with raw_client(echo_agent()) as client:
        params = load("nope") | ({"prompt": []} if method == "session/prompt" else {})
        error = await client.error(method, params)
        assert (error["code"], error["data"]["sessionId"]) == (-32002, "nope")


@pytest.mark.rule("V1-CLOSE-02")
async def test_close_cancels_the_turn_and_forgets_the_session() -> None:
    """Spec: closing; the running prompt and the queued one end `cancelled`."""
    async with raw_client(echo_agent()) as client:
        session_id = await client.new_session()
        turn = client.start_prompt(session_id, "wait")
        queued = client.start_prompt(session_id, "more")
        await client.update("agent_message_chunk")
        close = client.start("session/close", {"sessionId": session_id})
        assert (await client.answer(turn))["result"] == {"stopReason": "cancelled"}
        assert (await client.answer(queued))["result"] == {"stopReason": "cancelled"}
        assert (await client.answer(close))["result"] == {}
        prompt = {"sessionId": session_id, "prompt": []}
        assert (await client.error("session/prompt", prompt))["code"] == -32002
        assert (await client.error("session/close", {"sessionId": session_id}))["code"] == -32002
        assert await ids(client) == [session_id]
        await client.result("session/resume", {"sessionId": session_id, "cwd": "/tmp"})
        assert await client.prompt(session_id) == {"stopReason": "end_turn"}


async def test_a_prompt_that_comes_while_a_session_is_closing_finds_it_gone() -> None:
    """Ours: closing has begun with its request, not with its answer."""
    agent = echo_agent()
    held = anyio.Event()

    @agent.on_prompt
    async def answer(turn: Turn) -> None:
        with anyio.move_on_after(SECONDS, shield=True):
            await turn.say("held")
            await held.wait()

    async with raw_client(agent) as client:
        session_id = await client.new_session()
        turn = client.start_prompt(session_id)
        await client.update("agent_message_chunk")
        close = client.start("session/close", {"sessionId": session_id})
        prompt = {"sessionId": session_id, "prompt": []}
        assert (await client.error("session/prompt", prompt))["code"] == -32002
        held.set()
        assert (await client.answer(turn))["result"] == {"stopReason": "cancelled"}
        assert (await client.answer(close))["result"] == {}


@pytest.mark.rule("V1-CLOSE-05")
async def test_an_empty_listing_is_an_empty_array() -> None:
    """Spec: session list."""
    async with raw_client(echo_agent()) as client:
        assert (await client.result("session/list", {}))["sessions"] == []
        await client.new_session("/tmp")
        assert (await client.result("session/list", {"cwd": "/unused"}))["sessions"] == []
        error = await client.error("session/list", {"cwd": "relative"})
        assert error["data"]["path"] == "$.cwd"


@pytest.mark.rule("V1-CLOSE-09", "V1-CLOSE-10", "V1-CLOSE-11", "V1-CLOSE-08")
async def test_pages_are_bounded_and_their_cursors_are_strings_that_can_be_used_again() -> None:
    """Spec: pagination; a foreign cursor is an error and does no harm."""
    async with raw_client(echo_agent()) as client:
        made = [await client.new_session() for _ in range(120)]
        listed: list[str] = []
        cursor: str | None = None
        pages = 0
        while True:
            page = await client.result("session/list", {"cursor": cursor})
            assert len(page["sessions"]) <= 100
            again = await client.result("session/list", {"cursor": cursor})
            assert again == page
            listed += [one["sessionId"] for one in page["sessions"]]
            pages += 1
            cursor = page.get("nextCursor")
            if cursor is None:
                break
            assert isinstance(cursor, str)
        assert pages > 1
        assert sorted(listed) == sorted(made)
        error = await client.error("session/list", {"cursor": "zzz"})
        assert (error["code"], error["data"]["path"]) == (-32602, "$.cursor")
        assert len(await ids(client)) == len(page["sessions"]) or len(await ids(client)) > 0


@pytest.mark.rule("V1-CLOSE-11")
async def test_a_cursor_outlives_the_session_that_it_names() -> None:
    """RFD: cursors are stable; deleting in between loses nothing."""
    agent = echo_agent(store=MemoryStore(page_sessions=2))
    async with raw_client(agent) as client:
        made = [await client.new_session() for _ in range(5)]
        page = await client.result("session/list", {})
        last = page["sessions"][-1]["sessionId"]
        await client.result("session/delete", {"sessionId": last})
        rest = await client.result("session/list", {"cursor": page["nextCursor"]})
        assert [one["sessionId"] for one in rest["sessions"]] == [made[2], made[1]]


@pytest.mark.rule("V1-CLOSE-13")
async def test_listing_disturbs_no_turn() -> None:
    """Spec: interaction with other methods."""
    async with raw_client(echo_agent()) as client:
        session_id = await client.new_session()
        turn = client.start_prompt(session_id, "wait")
        await client.update("agent_message_chunk")
        seen = len(client.updates())
        assert await ids(client) == [session_id]
        assert len(client.updates()) == seen
        client.cancel(session_id)
        assert (await client.answer(turn))["result"] == {"stopReason": "cancelled"}


@pytest.mark.rule("V1-CLOSE-15", "V1-CLOSE-16")
async def test_a_deleted_session_is_gone_and_deleting_again_succeeds() -> None:
    """Spec: deleting; a running turn is cancelled first."""
    async with raw_client(echo_agent()) as client:
        kept, gone = await client.new_session(), await client.new_session()
        turn = client.start_prompt(gone, "wait")
        await client.update("agent_message_chunk")
        assert await client.result("session/delete", {"sessionId": gone}) == {}
        assert (await client.answer(turn))["result"] == {"stopReason": "cancelled"}
        assert await ids(client) == [kept]
        assert await client.result("session/delete", {"sessionId": gone}) == {}
        assert await client.result("session/delete", {"sessionId": "never"}) == {}
        assert (await client.error("session/load", load(gone)))["code"] == -32002


async def test_a_session_that_the_agents_own_hook_refuses_is_not_made() -> None:
    """Ours: the hook sees every session and may say no."""
    agent = echo_agent()

    @agent.on_session
    async def no(session: Any) -> None:
        raise ValueError("secret path /home/x")

    async with raw_client(agent) as client:
        error = await client.error("session/new", {"cwd": "/tmp", "mcpServers": []})
        assert error["code"] == -32603
        assert "secret" not in json.dumps(error)
        assert await ids(client) == []


async def test_titles_and_times_are_listed() -> None:
    """Spec: SessionInfo, and `session_info_update` when the agent names a session."""
    agent = echo_agent()

    @agent.on_prompt
    async def answer(turn: Turn) -> None:
        await turn.set_title("A name")

    async with raw_client(agent) as client:
        session_id = await client.new_session()
        await client.prompt(session_id)
        update = await client.update("session_info_update")
        assert update["title"] == "A name"
        entry = (await client.result("session/list", {}))["sessions"][0]
        assert entry["title"] == "A name"
        assert entry["updatedAt"].endswith("Z")
