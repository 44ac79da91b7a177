"""Sessions in v2: new, list, resume, close, delete, MCP servers, folders."""

from __future__ import annotations

import json
from base64 import b64decode
from typing import Any

import pytest

from accord.agent import Agent, Turn
from accord.agent.session.agent_session import AgentSession
from accord.store import MemoryStore
from tests.agent.v2.play import allow, idle, insert, kinds, made, playing, settle, text, turn

STDIO = {"type": "stdio", "name": "tools", "command": "/bin/true"}


@pytest.mark.rule("V2-SESS-02")
async def test_new_sessions_have_ids_of_their_own_and_need_no_servers() -> None:
    """Spec: unique ids; absent, null and empty `mcpServers` are the same."""
    async with playing(made()) as client:
        servers: list[dict[str, Any]] = [{}, {"mcpServers": None}, {"mcpServers": []}]
        ids = {
            (await client.result("session/new", {"cwd": "/tmp", **more}))["sessionId"]
            for more in servers + [{}] * 7
        }
    assert len(ids) == 10


@pytest.mark.rule("V2-SESS-03")
async def test_lists_in_results_are_lists_or_absent() -> None:
    """Spec: never null; the schema judges the lists themselves."""
    rich = made()
    rich.add_option("model", "Model", ["small", "large"], category="model")

    @rich.command("help", "Explain", hint="topic")
    async def explain(turn: Turn, argument: str) -> None: ...

    for agent, has in ((made(), False), (rich, True)):
        async with playing(agent) as client:
            new = await client.result("session/new", {"cwd": "/tmp"})
            again = {"sessionId": new["sessionId"], "cwd": "/tmp"}
            resumed = await client.result("session/resume", again)
            for result in (new, resumed):
                for key in ("configOptions", "availableCommands"):
                    assert isinstance(result[key], list) if has else key not in result


@pytest.mark.rule("V2-SESS-05")
@pytest.mark.parametrize(
    ("method", "params"),
    [
        ("session/prompt", {"prompt": text("hi")}),
        ("session/resume", {"cwd": "/tmp"}),
        ("session/set_config_option", {"configId": "model", "type": "id", "value": "x"}),
        ("tool_call/cancel", {"toolCallId": "c"}),
        ("terminal/cancel", {"terminalId": "t"}),
    ],
)
async def test_an_unknown_session_is_named(method: str, params: dict[str, Any]) -> None:
    """Spec: -32002 with `data.sessionId`."""
    async with playing(made()) as client:
        error = await client.error(method, {"sessionId": "nope", **params})
        assert error["code"] == -32002
        assert error["data"]["sessionId"] == "nope"


@pytest.mark.rule("V2-SESS-05", "V2-SESS-15")
async def test_a_closed_session_is_as_unknown_as_any_until_it_is_resumed() -> None:
    """Spec: inactive is -32002 too."""
    async with playing(made()) as client:
        session_id = await client.new_session()
        await client.result("session/close", {"sessionId": session_id})
        params = {"sessionId": session_id, "prompt": text("hi")}
        assert (await client.error("session/prompt", params))["code"] == -32002
        await client.result("session/resume", {"sessionId": session_id, "cwd": "/tmp"})
        client.unread.clear()
        assert (await turn(client, session_id))["stopReason"] == "end_turn"


async def talk(client: Any, words: tuple[str, ...] = ("one", "two")) -> str:
    """A session with some turns behind it."""
    session_id: str = await client.new_session()
    for word in words:
        await turn(client, session_id, word)
    return session_id


@pytest.mark.rule("V2-SESS-09", "V2-SESS-11")
@pytest.mark.parametrize("more", [{}, {"replayFrom": None}])
async def test_resume_without_a_cursor_replays_nothing_but_tells_the_state(
    more: dict[str, Any],
) -> None:
    """Spec: no history, and still one current `state_update` before the result."""
    store = MemoryStore()
    async with playing(made(store=store)) as client:
        session_id = await talk(client)
    async with playing(made(store=store)) as client:
        await client.result("session/resume", {"sessionId": session_id, "cwd": "/tmp", **more})
        assert kinds(client)[1:] == ["state_update idle", "result 2"]


@pytest.mark.rule("V2-SESS-10", "V2-SESS-11", "V2-SESS-28")
async def test_resume_from_the_start_tells_everything_again_with_its_ids() -> None:
    """Spec: all retained history before the result, the state last; also in another process."""
    store = MemoryStore()

    async def work(turn: Turn) -> None:
        await turn.think("hm")
        async with turn.message() as message:
            await message.write("a")
            await message.write("b")
        async with turn.tool_call("Look", kind="read", content=["seen"]) as call:
            await call.show("more")
        await turn.say("seen")
        await turn.plan("one", "two")
        await turn.notice("info", "not for the record")

    async with playing(made(work, store=store)) as client:
        session_id = await talk(client)
        live = [one for one in client.updates() if one["sessionUpdate"] != "notice"]
        live = [one for one in live if one["sessionUpdate"] != "state_update"]
    async with playing(made(work, store=store)) as client:
        params = {"sessionId": session_id, "cwd": "/tmp", "replayFrom": {"type": "start"}}
        await client.result("session/resume", params)
        *told, state = client.updates()
        messages = [one for one in told if "messageId" in one and one.get("content") != []]
        assert messages == [one for one in live if "messageId" in one]
        # A call is told once, as it is now, and so is the plan.
        calls = [one for one in told if "toolCallId" in one]
        assert [(one["title"], one["status"], len(one["content"])) for one in calls] == [
            ("Look", "completed", 2),
            ("Look", "completed", 2),
        ]
        assert told[-1] == live[-1]
        assert [one["sessionUpdate"] for one in told].count("plan_update") == 1
        assert state == {"sessionUpdate": "state_update", "state": "idle"}
        assert kinds(client)[-1] == "result 2"
        # And it goes on where it was, with new ids.
        before = {one["messageId"] for one in live if "messageId" in one}
        assert await insert(client, session_id) not in before
        await idle(client)


@pytest.mark.rule("V2-SESS-10", "V2-SESS-27")
async def test_a_replay_doubles_nothing_that_the_client_still_holds() -> None:
    """Issue 13: what is told in pieces is first said to be empty, once in each replay."""

    async def work(turn: Turn) -> None:
        await turn.think("hm")
        async with turn.message() as message:
            await message.write("a")
            async with turn.tool_call("Look", kind="read") as call:
                await call.show("seen")
                await call.show("more")
            await message.write("b")
        async with turn.compaction() as compaction:
            await compaction.write("short")
        await turn.run("echo up")

    async with playing(made(work)) as client:
        allow(client)
        session_id = await talk(client)
        once = held(client.updates())
        assert sorted(once.values())[-4:] == ["short", "short", "up\n", "up\n"]
        for _ in range(2):
            params = {"sessionId": session_id, "cwd": "/tmp", "replayFrom": {"type": "start"}}
            before = len(client.updates())
            await client.result("session/resume", params)
            assert held(client.updates()) == once
            told = [one for one in client.updates()[before:] if one.get("content") == []]
            assert len(told) == len({json.dumps(one) for one in told}) > 0


def held(updates: list[dict[str, Any]]) -> dict[tuple[str, str], str]:
    """What a client holds of all that was told in pieces, by kind and id."""
    pieces = {"agent_message_chunk": "agent_message", "tool_call_content_chunk": "tool_call_update"}
    pieces |= {"terminal_output_chunk": "terminal_update"}
    pieces |= {"compaction_summary_chunk": "compaction_update"}
    texts: dict[tuple[str, str], str] = {}
    for update in updates:
        kind = update["sessionUpdate"]
        name = {"terminal_update": "output", "compaction_update": "summary"}.get(kind, "content")
        ids = ("messageId", "toolCallId", "terminalId", "compactionId")
        named = next((update[one] for one in ids if one in update), "")
        if kind in pieces:
            key = (pieces[kind], named)
            texts[key] = texts.get(key, "") + said(update)
        elif kind in pieces.values() and name in update:
            texts[kind, named] = said(update[name])
    return texts


def said(value: Any) -> str:
    """The text in content, whatever is around it."""
    if isinstance(value, list):
        return "".join(map(said, value))
    if "data" in value:
        return b64decode(value["data"]).decode()
    return value["text"] if "text" in value else said(value.get("content", []))


async def test_what_a_resumed_session_says_by_itself_comes_before_the_answer() -> None:
    """Issue 13: nothing but states follows the answer, and the state is the last before it."""
    store = MemoryStore()
    async with playing(made(store=store)) as client:
        session_id = await talk(client)
    agent = made(store=store)

    @agent.on_session
    async def begin(session: AgentSession) -> None:
        await session.set_title("mended")

    for more in ({}, {"replayFrom": {"type": "start"}}):
        async with playing(agent) as client:
            await client.result("session/resume", {"sessionId": session_id, "cwd": "/tmp", **more})
            await settle(client)
            told = kinds(client)
            assert "session_info_update" in told
            assert told[-3:] == ["state_update idle", "result 2", "result 3"]


@pytest.mark.rule("V2-SESS-11")
async def test_resume_in_the_same_connection_tells_how_the_last_work_ended() -> None:
    """Spec: the snapshot is the current state, with its stop reason."""
    async with playing(made()) as client:
        session_id = await talk(client)
        await client.result("session/resume", {"sessionId": session_id, "cwd": "/tmp"})
        state = client.updates("state_update")[-1]
        assert (state["state"], state["stopReason"]) == ("idle", "end_turn")


@pytest.mark.rule("V2-SESS-11")
async def test_resume_of_a_busy_session_says_that_it_runs_and_leaves_it_alone() -> None:
    """Spec: the current state; ours: what is new comes after all that is old."""

    async def wait(turn: Turn) -> None:
        await turn.ask_to_visit("Look", "https://example.com")
        await turn.say("done")

    async with playing(made(wait), {"elicitation": {"url": {}}}) as client:
        session_id = await client.new_session()
        await insert(client, session_id)
        page = await client.next("elicitation/create")
        params = {"sessionId": session_id, "cwd": "/tmp", "replayFrom": {"type": "start"}}
        await client.result("session/resume", params)
        assert client.updates("state_update")[-1]["state"] == "requires_action"
        client.reply(page, {"action": "accept"})
        assert (await idle(client))["stopReason"] == "end_turn"
        assert client.updates("agent_message")[-1]["content"] == text("done")


@pytest.mark.rule("V2-SESS-10", "V2-CANCEL-19")
async def test_what_the_past_left_open_is_ended_when_it_is_told_again() -> None:
    """Ours: no spinner and no button for work that went away with its client, and only once."""
    store = MemoryStore()

    async def work(turn: Turn) -> None:
        await turn.run("echo up; sleep 60")

    async with playing(made(work, store=store)) as client:
        allow(client)
        session_id = await client.new_session()
        await insert(client, session_id)
        await client.update("terminal_output_chunk")
    params = {"sessionId": session_id, "cwd": "/tmp", "replayFrom": {"type": "start"}}
    for _ in range(2):
        async with playing(made(work, store=store)) as client:
            await client.result("session/resume", params)
            call, terminal = client.updates("tool_call_update"), client.updates("terminal_update")
            assert (call[-1]["status"], call[-1]["capabilities"]) == ("cancelled", None)
            assert (terminal[-1]["exitStatus"], terminal[-1]["capabilities"]) == ({}, None)
            assert [one.get("output") for one in terminal] == [None, {"data": ""}, None]
            assert kinds(client)[-2:] == ["state_update idle", "result 2"]


@pytest.mark.rule("V2-SESS-12")
@pytest.mark.parametrize(
    "cursor", [{"type": "_x"}, {"type": "later"}, 5, {}, "start", {"type": 5}, []]
)
async def test_a_cursor_that_we_do_not_have_is_refused(cursor: Any) -> None:
    """Spec: -32602, never another cursor and never no replay instead."""
    async with playing(made()) as client:
        session_id = await talk(client)
        told = len(client.updates())
        params = {"sessionId": session_id, "cwd": "/tmp", "replayFrom": cursor}
        assert (await client.error("session/resume", params))["code"] == -32602
        assert len(client.updates()) == told


@pytest.mark.rule("V2-SESS-08")
async def test_servers_and_folders_are_those_of_the_latest_request() -> None:
    """Spec: complete sets each time; nothing of before comes back by itself."""
    seen: list[tuple[int, tuple[str, ...]]] = []

    async def look(turn: Turn) -> None:
        seen.append((len(turn.mcp_servers), turn.session.roots))

    async with playing(made(look)) as client:
        first = {"cwd": "/tmp", "mcpServers": [STDIO], "additionalDirectories": ["/usr"]}
        session_id = (await client.result("session/new", first))["sessionId"]
        await turn(client, session_id)
        await client.result("session/resume", {"sessionId": session_id, "cwd": "/tmp"})
        client.unread.clear()
        await turn(client, session_id)
        await client.result("session/close", {"sessionId": session_id})
        await client.result("session/resume", {"sessionId": session_id, "cwd": "/tmp"})
        client.unread.clear()
        await turn(client, session_id)
    assert seen == [(1, ("/tmp", "/usr")), (0, ("/tmp",)), (0, ("/tmp",))]


@pytest.mark.rule("V2-SESS-18", "V2-SESS-22")
async def test_closing_and_deleting_what_is_not_there_succeeds() -> None:
    """Spec: twice is as good as once."""
    async with playing(made()) as client:
        session_id = await client.new_session()
        for method in ("session/close", "session/close", "session/delete", "session/delete"):
            assert await client.result(method, {"sessionId": session_id}) == {}
            assert await client.result(method, {"sessionId": "never was"}) == {}
        resume = {"sessionId": session_id, "cwd": "/tmp"}
        assert (await client.error("session/resume", resume))["code"] == -32002


@pytest.mark.rule("V2-SESS-19")
async def test_the_list_is_empty_at_first_and_knows_one_folder_from_another() -> None:
    """Spec: `cwd` matches that directory alone, no subtree."""
    async with playing(made()) as client:
        assert (await client.result("session/list", {})) == {"sessions": []}
        upper = await client.new_session("/tmp", additionalDirectories=["/usr"])
        lower = await client.new_session("/tmp/sub")
        of_upper = (await client.result("session/list", {"cwd": "/tmp"}))["sessions"]
        assert [one["sessionId"] for one in of_upper] == [upper]
        assert of_upper[0]["additionalDirectories"] == ["/usr"]
        everything = (await client.result("session/list", {"cwd": None}))["sessions"]
        assert {one["sessionId"] for one in everything} == {upper, lower}
        relative = await client.error("session/list", {"cwd": "tmp"})
        assert relative["code"] == -32602


@pytest.mark.rule("V2-SESS-19")
async def test_pages_follow_each_other_by_cursors_that_only_we_hand_out() -> None:
    """Spec: opaque cursors; ours: one that we never gave is -32602."""
    async with playing(made(store=MemoryStore(page_sessions=2))) as client:
        made_ids = [await client.new_session() for _ in range(5)]
        found: list[str] = []
        cursor: dict[str, Any] = {}
        while True:
            page = await client.result("session/list", cursor)
            found += [one["sessionId"] for one in page["sessions"]]
            if page.get("nextCursor") is None:
                break
            cursor = {"cursor": page["nextCursor"]}
        assert found == made_ids[::-1]
        for wrong in ("made up", ""):
            assert (await client.error("session/list", {"cursor": wrong}))["code"] == -32602


@pytest.mark.rule("V2-SESS-24")
@pytest.mark.parametrize(
    "servers",
    [
        [{"type": "http", "name": "web", "url": "https://example.com"}],
        [{"type": "sse", "name": "old", "url": "https://example.com"}],
        [{"type": "_own", "name": "mine"}],
        [{"name": "untyped", "command": "/bin/true"}],
        [STDIO | {"command": "relative"}],
        [STDIO, STDIO | {"command": "/bin/false"}],
    ],
)
@pytest.mark.parametrize("method", ["session/new", "session/resume"])
async def test_servers_that_were_not_offered_are_refused(method: str, servers: Any) -> None:
    """Spec: -32602 for a transport, and for two servers of one name; the session is not made."""
    async with playing(made()) as client:
        session_id = await client.new_session()
        params = {"cwd": "/tmp", "mcpServers": servers, "sessionId": session_id}
        error = await client.error(method, params)
        assert error["code"] == -32602
        assert "mcpServers" in error["data"]["path"]
        assert len((await client.result("session/list", {}))["sessions"]) == 1


@pytest.mark.rule("V2-SESS-24")
async def test_servers_that_were_offered_reach_the_agent() -> None:
    """Spec: what is advertised works, in the form of v2."""
    agent: Agent = made(mcp=["http"])
    seen: list[AgentSession] = []

    @agent.on_session
    async def look(session: AgentSession) -> None:
        seen.append(session)

    web = {"type": "http", "name": "web", "url": "https://example.com"}
    async with playing(agent) as client:
        await client.result("session/new", {"cwd": "/tmp", "mcpServers": [STDIO, web]})
    servers: Any = seen[0].mcp_servers
    assert [server.name for server in servers] == ["tools", "web"]


@pytest.mark.rule("V2-SESS-24")
async def test_a_transport_that_only_v1_has_is_refused_by_an_agent_that_takes_it_there() -> None:
    """Spec: what a v2 agent did not advertise gives -32602, and v2 has no word for `sse`."""
    server = {"type": "sse", "name": "old", "url": "https://example.com"}
    async with playing(made(mcp=["http", "sse"])) as client:
        error = await client.error("session/new", {"cwd": "/tmp", "mcpServers": [server]})
        assert error["code"] == -32602


@pytest.mark.parametrize("cwd", ["relative", "", None, 5])
async def test_a_working_folder_is_absolute(cwd: Any) -> None:
    """Spec: AbsolutePath."""
    async with playing(made()) as client:
        error = await client.error("session/new", {"cwd": cwd})
        assert error["code"] == -32602
        assert error["data"]["path"] == "$.cwd"
