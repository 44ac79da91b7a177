"""Updates in v2: messages, tool calls, terminals, usage, notices; the words they may use."""

from __future__ import annotations

import base64
from collections.abc import Awaitable, Callable
from typing import Any

import anyio
import pytest

from accord.agent import Agent, Turn
from accord.agent.tools.permission_request import PermissionOption
from accord.errors import LocalProtocolError
from accord.schema import v2
from tests.agent.v2.play import allow, idle, insert, made, playing, statuses, text, turn

Work = Callable[[Turn], Awaitable[None]]


async def played(work: Work, words: str = "go") -> Any:
    """The client after one turn of this work, with everything allowed."""
    async with playing(made(work)) as client:
        allow(client)
        session_id = await client.new_session("/tmp")
        await turn(client, session_id, words)
    return client


@pytest.mark.rule("V2-UPS-01")
async def test_every_message_and_every_piece_of_one_has_its_id() -> None:
    """Spec: `messageId` always; pieces of one message share it, two messages never do."""

    async def work(turn: Turn) -> None:
        await turn.say("one")
        await turn.think("two")
        async with turn.message() as message, turn.thought() as thought:
            await message.write("a")
            await thought.write("b")
            await message.write("c")
            await message.write("")
            await thought.write("d")
        await turn.say("three", v2.ImageContent(data=b"\0", mime_type="image/png"))

    client = await played(work)
    messages = [one for one in client.updates() if "message" in one["sessionUpdate"]]
    messages += [one for one in client.updates() if "thought" in one["sessionUpdate"]]
    assert all(one["messageId"] for one in messages)
    chunks = client.updates("agent_message_chunk")
    assert [one["content"]["text"] for one in chunks] == ["a", "c"]
    assert len({one["messageId"] for one in chunks}) == 1
    whole = client.updates("agent_message") + client.updates("agent_thought")
    streamed = {one["messageId"] for one in chunks + client.updates("agent_thought_chunk")}
    assert len({one["messageId"] for one in whole} | streamed) == 5
    assert client.updates("agent_message")[1]["content"][1]["data"] == "AA=="


@pytest.mark.rule("V2-UPS-06", "V2-UPS-09")
async def test_a_tool_call_is_told_at_once_with_its_title_and_goes_only_forward() -> None:
    """Spec: title in the first report; ours: announced, in progress, final, never back."""

    async def work(turn: Turn) -> None:
        async with turn.tool_call(
            "Look", kind="search", name="grep", raw_input={"q": 1}, locations=[("a.py", 3)]
        ) as call:
            await call.start()
            await call.show("found", v2.ResourceLink(name="x", uri="file:///x"))
            await call.set_title("Looked")
            await call.complete(raw_output=[1, 2])
            with pytest.raises(LocalProtocolError, match="cannot"):
                await call.fail()
            await call.show("an afterthought")

    client = await played(work)
    first, *rest = client.updates("tool_call_update")
    call_id = first.pop("toolCallId")
    assert first == {
        "sessionUpdate": "tool_call_update",
        "title": "Look",
        "name": "grep",
        "kind": "search",
        "status": "pending",
        "rawInput": {"q": 1},
        "locations": [{"path": "/tmp/a.py", "line": 3}],
    }
    assert statuses(client) == ["pending", "in_progress", "completed"]
    assert rest[-1]["rawOutput"] == [1, 2]
    chunks = client.updates("tool_call_content_chunk")
    assert {one["toolCallId"] for one in chunks} == {call_id}
    assert len(chunks) == 3


async def test_a_block_that_ends_well_is_completed() -> None:
    """Ours: leaving the block is the end of the work, on every event loop."""

    async def work(turn: Turn) -> None:
        async with turn.tool_call("Look", kind="read"):
            pass

    client = await played(work)
    assert statuses(client) == ["pending", "in_progress", "completed"]


async def test_an_exception_fails_the_call_and_a_deadline_of_ones_own_too() -> None:
    """Ours: what goes wrong inside is `failed`; `cancelled` is what the client did."""

    async def work(turn: Turn) -> None:
        with anyio.move_on_after(0.01):
            async with turn.tool_call("Late", kind="fetch"):
                await anyio.sleep_forever()
        try:
            async with turn.tool_call("Wrong", kind="fetch"):
                raise ValueError("no such page")
        except ValueError:
            pass

    client = await played(work)
    assert statuses(client) == ["pending", "failed", "pending", "failed"]
    shown = client.updates("tool_call_content_chunk")[0]["content"]
    assert "no such page" in str(shown)


@pytest.mark.rule("V2-UPS-12", "V2-UPS-16")
async def test_terminals_are_ours_with_command_and_folder_and_ids_of_their_own() -> None:
    """Spec: command and absolute cwd in the first update, bytes as they come, exit status."""

    async def work(turn: Turn) -> None:
        seen = [await turn.run("printf", "caf\\303\\251"), await turn.run("exit 3", cwd="..")]
        await turn.say(*(f"{done.exit_code} {done.output}" for done in seen))

    async with playing(made(work)) as client:
        allow(client)
        session_id = await client.new_session("/tmp")
        await turn(client, session_id)
        await turn(client, session_id)
    first = [one for one in client.updates("terminal_update") if "command" in one]
    assert [(one["command"], one["cwd"]) for one in first[:2]] == [
        ("printf 'caf\\303\\251'", "/tmp"),
        ("exit 3", "/"),
    ]
    assert len({one["terminalId"] for one in first}) == 4
    data = b"".join(
        base64.b64decode(one["data"])
        for one in client.updates("terminal_output_chunk")
        if one["terminalId"] == first[0]["terminalId"]
    )
    assert data.decode() == "café"
    ends = [one["exitStatus"] for one in client.updates("terminal_update") if "exitStatus" in one]
    assert ends[:2] == [{"exitCode": 0}, {"exitCode": 3}]
    said = client.updates("agent_message")[0]["content"]
    assert [one["text"] for one in said] == ["0 café", "3 "]
    assert statuses(client)[:6] == [
        *("pending", "in_progress", "completed"),
        *("pending", "in_progress", "failed"),
    ]


async def test_a_program_that_is_not_there_fails_the_call_and_shows_no_terminal() -> None:
    """Ours: what never ran is never announced, so nothing waits for its exit."""

    async def work(turn: Turn) -> None:
        await turn.run("no-such-program-at-all", "x")

    async with playing(made(work)) as client:
        allow(client)
        session_id = await client.new_session("/tmp")
        state = await turn(client, session_id)
    assert state["stopReason"] == "error"
    assert "no-such-program-at-all" in state["error"]["message"]
    assert client.updates("terminal_update") == []
    assert statuses(client)[-1] == "failed"


async def test_a_command_that_takes_too_long_is_ended_and_failed() -> None:
    """Ours: a deadline of the agent itself is not a cancellation."""

    async def work(turn: Turn) -> None:
        done = await turn.run("sleep 60", timeout=0.05)
        await turn.say(f"{done.timed_out} {done.signal}")

    client = await played(work)
    assert client.updates("agent_message")[0]["content"] == text("True SIGTERM")
    assert statuses(client)[-1] == "failed"


@pytest.mark.rule("V2-UPS-22")
@pytest.mark.parametrize("line", [0, -1])
async def test_a_line_below_one_is_refused_before_it_is_sent(line: int) -> None:
    """Spec: lines count from one."""

    async def work(turn: Turn) -> None:
        with pytest.raises(LocalProtocolError, match="no line"):
            turn.tool_call("Look", locations=[("a.py", line)])
        async with turn.tool_call("Look", locations=["a.py", ("b.py", 1)]) as call:
            with pytest.raises(LocalProtocolError, match="no line"):
                await call.set_locations(("a.py", line))

    client = await played(work)
    assert client.updates("tool_call_update")[0]["locations"] == [
        {"path": "/tmp/a.py"},
        {"path": "/tmp/b.py", "line": 1},
    ]


@pytest.mark.rule("V2-UPS-11", "V2-GEN-08")
async def test_words_of_ones_own_start_with_an_underscore() -> None:
    """Spec: other unknown words belong to later versions; ours: an error before it is sent."""
    option = PermissionOption("x", "X", "allow_maybe")

    async def work(turn: Turn) -> None:
        with pytest.raises(LocalProtocolError, match="ToolKind"):
            turn.tool_call("Dance", kind="dance")
        async with turn.tool_call("Dance", kind="_dance") as call:
            with pytest.raises(LocalProtocolError, match="PermissionOptionKind"):
                await call.choose("May I?", options=[option])
        with pytest.raises(LocalProtocolError, match="NoticeSeverity"):
            await turn.notice("fatal", "It burns")
        entry = v2.PlanEntry(content="x", priority="urgent", status="pending")
        with pytest.raises(LocalProtocolError, match="PlanEntryPriority"):
            await turn.plan(entry)
        entry = v2.PlanEntry(content="x", priority="low", status="stuck")
        with pytest.raises(LocalProtocolError, match="PlanEntryStatus"):
            await turn.plan(entry)
        await turn.notice("_fatal", "It burns")

    agent = Agent("words", version="1")
    with pytest.raises(LocalProtocolError, match="SessionConfigOptionCategory"):
        agent.add_option("o", "O", ["a"], category="flavour")
    agent.add_option("o", "O", ["a"], category="_flavour")
    with pytest.raises(LocalProtocolError, match="must start with `_`"):
        agent.method("mine")
    client = await played(work)
    assert [one["kind"] for one in client.updates("tool_call_update") if "kind" in one] == [
        "_dance"
    ]
    assert [one["severity"] for one in client.updates("notice")] == ["_fatal"]


async def test_usage_notices_compaction_and_titles_are_said_as_v2_says_them() -> None:
    """Spec: no capability is needed for any of them; the schema judges the rest."""

    async def work(turn: Turn) -> None:
        await turn.usage(10, 100, cost=0.5, currency="credits")
        await turn.usage(20, 100)
        await turn.notice("warning", "Slow today", "The model is busy")
        async with turn.compaction() as compaction:
            await compaction.write("short")
        await turn.set_title("A talk")

    async with playing(made(work)) as client:
        session_id = await client.new_session("/tmp")
        await insert(client, session_id)
        await idle(client)
        listed = (await client.result("session/list", {}))["sessions"][0]
    usage = client.updates("usage_update")
    assert usage[0]["cost"] == {"amount": 0.5, "currency": "credits"}
    assert "cost" not in usage[1]
    assert [one["status"] for one in client.updates("compaction_update")] == [
        "in_progress",
        "completed",
    ]
    assert client.updates("session_info_update")[0]["title"] == "A talk" == listed["title"]
