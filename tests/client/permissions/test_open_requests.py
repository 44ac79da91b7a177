"""Permission requests: asked in neutral words, always answered, never by mistake with yes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import anyio
import pytest

from accord.client.permissions.permissions import Permissions
from accord.client.permissions.request import PermissionRequest
from accord.errors import ConnectionLost
from tests.client.deciders import Decider, Undecided
from tests.client.scripted_agent import Hearing, Json, ScriptedAgent, connected
from tests.hang_limit import HANG_SECONDS

VERSIONS = pytest.mark.parametrize("version", [1, 2])
CANCELLED = {"outcome": {"outcome": "cancelled"}}


def selected(option_id: str) -> Json:
    """The answer that names an option."""
    return {"outcome": {"outcome": "selected", "optionId": option_id}}


@VERSIONS
@pytest.mark.rule("V1-PERM-02", "V1-PERM-03", "V2-PERM-04", "V2-PERM-05")
@pytest.mark.parametrize(
    ("choice", "answer", "by"),
    [
        ("reject_always", selected("reject_always"), "user"),
        ("allow_once", selected("allow_once"), None),
        ("never offered", CANCELLED, "user"),
        (None, CANCELLED, "user"),
    ],
)
async def test_a_request_is_answered_by_an_offered_option_or_not_at_all(
    version: int, choice: str | None, answer: Json, by: str | None
) -> None:
    """N1, N2 RequestPermissionOutcome; the tool call is known before anybody is asked."""

    async def script(agent: ScriptedAgent) -> None:
        await agent.open_session()
        prompt = await agent.begin_turn()
        tool = {"sessionUpdate": "tool_call_update", "toolCallId": "t1", "title": "Known"}
        agent.update(tool)
        asked = agent.ask_permission(title="Known" if version == 1 else "Please")
        result = (await agent.answer_to(asked))["result"]
        assert {"outcome": result["outcome"]} == answer
        assert result.get("_meta") == (by and {"accord.decidedBy": by})
        agent.end_turn(prompt)

    decider = Decider(lambda request: choice)
    async with connected(script, version, permissions=decider) as (client, _):
        session = await client.new_session()
        await session.ask("go")
        [request] = decider.asked
        assert request.title == ("Known" if version == 1 else "Please")
        assert (request.session_id, request.kind, request.origin) == ("s1", "edit", "agent")
        assert request.tool_call is not None
        assert request.tool_call.tool_call_id == "t1"
        assert session.transcript.tool_calls[0].title == "Known"
        assert [option.kind for option in request.options][:2] == ["allow_once", "allow_always"]


@VERSIONS
@pytest.mark.rule("V1-CANCEL-03", "V1-PERM-05", "V1-CANCEL-02", "V2-CANCEL-12", "V1-CANCEL-08")
async def test_cancelling_answers_every_open_request_as_cancelled(version: int) -> None:
    """D1 prompt-turn; the unfinished tool calls are marked at once, late updates still count."""
    undecided = Undecided()

    async def script(agent: ScriptedAgent) -> None:
        await agent.open_session()
        prompt = await agent.begin_turn()
        first, second = agent.ask_permission("t1"), agent.ask_permission("t2")
        await agent.expect("session/cancel")
        answers = [await agent.next(), await agent.next()]
        assert sorted(answer["id"] for answer in answers) == [first, second]
        assert [answer["result"] for answer in answers] == [CANCELLED, CANCELLED]
        agent.update(
            {"sessionUpdate": "tool_call_update", "toolCallId": "t1", "status": "completed"}
        )
        agent.end_turn(prompt, "cancelled")

    async with connected(script, version, permissions=undecided) as (client, _):
        session = await client.new_session()
        async with session.prompt("go") as turn:
            while len(undecided.asked) < 2:
                await undecided.asking.wait()
                await anyio.lowlevel.checkpoint()
            await turn.cancel()
            assert [call.cancelled for call in session.transcript.tool_calls] == [True, True]
            await turn.wait()
        assert session.transcript.tool_calls[0].status == "completed"
        assert session._state.questions == set()


@VERSIONS
@pytest.mark.rule("V1-PERM-05")
async def test_a_request_behind_the_cancel_is_cancelled_and_one_of_the_next_turn_is_not(
    version: int,
) -> None:
    """V1-PERM-05: also where a policy would allow it at once."""

    begun = anyio.Event()

    async def script(agent: ScriptedAgent) -> None:
        await agent.open_session()
        prompt = await agent.begin_turn()
        begun.set()
        await agent.expect("session/cancel")
        agent.ask_permission("t1")
        assert (await agent.next())["result"] == CANCELLED
        agent.end_turn(prompt, "cancelled")
        prompt = await agent.begin_turn()
        agent.ask_permission("t2")
        assert (await agent.next())["result"] == selected("allow_once")
        agent.end_turn(prompt)

    yes = Decider(lambda _request: "allow_once")
    async with connected(script, version, permissions=yes) as (client, _):
        session = await client.new_session()
        async with session.prompt("go") as turn:
            await begun.wait()
            await turn.cancel()
            await turn.wait()
        async with session.prompt("again") as turn:
            await turn.wait()
    assert [request.tool_call and request.tool_call.tool_call_id for request in yes.asked] == ["t2"]


@VERSIONS
@pytest.mark.rule(
    "V2-CANCEL-10", "V2-CANCEL-13", "V2-CANCEL-14", "V2-CANCEL-15", "V1-CREQ-02", "V1-CREQ-05"
)
async def test_a_request_that_the_agent_takes_back_is_answered_cancelled_once(
    version: int,
) -> None:
    """N2 RequestPermissionOutcome: outcome `cancelled`, not an error, and one answer only."""
    undecided = Undecided()

    async def script(agent: ScriptedAgent) -> None:
        await agent.open_session()
        prompt = await agent.begin_turn()
        asked = agent.ask_permission()
        await undecided.asking.wait()
        for request_id in (999, str(asked), asked, asked):
            params = {"requestId": request_id}
            agent.write({"jsonrpc": "2.0", "method": "$/cancel_request", "params": params})
        assert (await agent.answer_to(asked))["result"] == CANCELLED
        agent.write(
            {"jsonrpc": "2.0", "method": "$/cancel_request", "params": {"requestId": asked}}
        )
        agent.end_turn(prompt)

    async with connected(script, version, permissions=undecided) as (client, agent):
        session = await client.new_session()
        assert (await session.ask("go")).stop_reason == "end_turn"
        assert len([m for m in agent.received if "result" in m]) == 1


@pytest.mark.rule("V2-CANCEL-11")
async def test_requests_of_background_work_survive_a_cancel() -> None:
    """N2 RequestPermissionOutcome: answered unasked only for the work that was cancelled."""
    undecided, seen = Undecided(), anyio.Event()

    async def script(agent: ScriptedAgent) -> None:
        await agent.open_session()
        await agent.begin_turn()
        agent.update({"sessionUpdate": "tool_call_update", "toolCallId": "behind"})
        agent.state("running", background=[{"type": "tool_call", "toolCallId": "behind"}])
        behind, front = agent.ask_permission("behind"), agent.ask_permission("front")
        await agent.expect("session/cancel")
        assert (await agent.answer_to(front))["result"] == CANCELLED
        background = [{"type": "tool_call", "toolCallId": "behind"}]
        agent.state("idle", stopReason="cancelled", background=background)
        await seen.wait()
        agent.write(
            {"jsonrpc": "2.0", "method": "$/cancel_request", "params": {"requestId": behind}}
        )
        assert (await agent.answer_to(behind))["result"] == CANCELLED
        agent.say("done")

    async with connected(script, 2, permissions=undecided) as (client, _):
        session = await client.new_session()
        stream = session.updates()
        async with session.prompt("go") as turn:
            while len(undecided.asked) < 2:
                await undecided.asking.wait()
                await anyio.lowlevel.checkpoint()
            await turn.cancel()
            assert (await turn.wait()).stop_reason == "cancelled"
        assert len(session._state.questions) == 1
        seen.set()
        while (await anext(stream)).text != "done":
            pass
        assert session._state.questions == set()


async def test_an_agent_of_an_older_draft_never_takes_its_questions_back() -> None:
    """v2's pages 10: answer `cancelled` yourself when idle arrives."""
    undecided = Undecided()

    async def script(agent: ScriptedAgent) -> None:
        await agent.open_session()
        await agent.begin_turn()
        agent.update({"sessionUpdate": "tool_call_update", "toolCallId": "t"})
        agent.state("running", background=[{"type": "tool_call", "toolCallId": "t"}])
        asked = agent.ask_permission("t")
        await agent.expect("session/cancel")
        agent.state("idle", stopReason="cancelled")
        assert (await agent.answer_to(asked))["result"] == CANCELLED
        agent.say("done")

    async with connected(script, 2, permissions=undecided) as (client, _):
        session = await client.new_session()
        stream = session.updates()
        async with session.prompt("go") as turn:
            await undecided.asking.wait()
            await turn.cancel()
            await turn.wait()
        while (await anext(stream)).text != "done":
            pass


@VERSIONS
async def test_an_agent_that_dies_in_a_permission_request_frees_whoever_decides(
    version: int,
) -> None:
    """Issue 2: the agent dies in a permission request."""
    freed = anyio.Event()

    async def callback(request: Any) -> bool:
        try:
            dying.set()
            await anyio.sleep_forever()
        finally:
            freed.set()
        return True

    dying = anyio.Event()

    async def script(agent: ScriptedAgent) -> None:
        await agent.open_session()
        await agent.begin_turn()
        agent.ask_permission()
        await dying.wait()
        await agent.transport.aclose()

    permissions = Permissions.ask(callback)
    async with connected(script, version, permissions=permissions) as (client, _):
        session = await client.new_session()
        with pytest.raises(ConnectionLost):
            await session.ask("go")
        await freed.wait()


@VERSIONS
@pytest.mark.rule("V1-EXT-07", "V1-GEN-02", "V1-GEN-03")
async def test_requests_that_cannot_be_read_are_refused_with_the_place(version: int) -> None:
    """S001 error mapping: -32602 with the path and why; unknown sessions -32002."""

    async def script(agent: ScriptedAgent) -> None:
        await agent.open_session()
        asked = agent.request("session/request_permission", {"sessionId": 5})
        error = (await agent.answer_to(asked))["error"]
        assert error["code"] == -32602
        assert error["data"]["path"].startswith("$")
        agent.session_id = "nobody's"
        error = (await agent.answer_to(agent.ask_permission()))["error"]
        assert (error["code"], error["data"]) == (-32002, {"sessionId": "nobody's"})
        agent.session_id = "s1"
        agent.say("done")

    async with connected(script, version) as (client, _):
        hearing = Hearing()
        await client.new_session(on_update=hearing)
        await hearing.done.wait()


async def test_what_a_request_is_about_is_found_wherever_the_agent_put_it() -> None:
    """Ours: rules look at paths, commands, hosts and MCP tools."""
    option = {"optionId": "y", "name": "Yes", "kind": "_new"}

    async def script(agent: ScriptedAgent) -> None:
        await agent.open_session()
        calls: list[Json] = [
            {
                "toolCallId": "a",
                "kind": "edit",
                "content": [
                    {"type": "content", "content": {"type": "text", "text": "because"}},
                    {"type": "diff", "path": "/a", "newText": "x"},
                ],
                "locations": [{"path": "/b"}],
            },
            {"toolCallId": "b", "kind": "execute", "rawInput": {"command": ["ls", "-l; rm x"]}},
            {"toolCallId": "c", "kind": "fetch", "rawInput": {"url": "https://example.com/x"}},
            {"toolCallId": "d", "kind": "fetch", "rawInput": {"url": "https://["}},
            {"toolCallId": "e", "name": "mcp__git__log", "rawInput": [1]},
            {"toolCallId": "f", "rawInput": {"command": "make; make test"}},
            {"toolCallId": "g", "rawInput": {"server": "git", "tool": "log", "arguments": {}}},
            {"toolCallId": "h", "rawInput": {"server": "git", "tool": 5}},
        ]
        for call in calls:
            params = {"sessionId": "s1", "toolCall": call, "options": [option]}
            await agent.answer_to(agent.request("session/request_permission", params))
        agent.say("done")

    decider = Decider(lambda request: "y")
    async with connected(script, permissions=decider) as (client, _):
        hearing = Hearing()
        await client.new_session(on_update=hearing)
        await hearing.done.wait()
    edit, run, fetch, odd, tool, unnamed, called, not_called = decider.asked
    # An agent that knows no kinds still says what it would run.
    assert (unnamed.kind, unnamed.command) == ("execute", "make; make test")
    assert (edit.paths, edit.reason) == (("/a", "/b"), "because")
    assert edit.title == "Permission requested"
    assert (run.command, fetch.hosts) == ("ls '-l; rm x'", ("example.com",))
    # A URL that cannot be read is a host that no rule knows, not no host.
    assert odd.hosts == ("https://[",)
    assert tool.mcp_tool in ("git/log", None)
    # Versions without names say it in the input.
    assert (called.mcp_tool, not_called.mcp_tool) == ("git/log", None)


async def asked_with(raw_input: Json, folder: Path) -> PermissionRequest:
    """What the user is asked when a v1 agent wants to run something with this input."""

    async def script(agent: ScriptedAgent) -> None:
        await agent.open_session()
        prompt = await agent.begin_turn()
        call = {"toolCallId": "t1", "title": "Make", "kind": "execute", "rawInput": raw_input}
        params = {"sessionId": "s1", "toolCall": call, "options": []}
        await agent.answer_to(agent.request("session/request_permission", params))
        agent.end_turn(prompt)

    decider = Decider(lambda request: None)
    async with connected(script, 1, permissions=decider) as (client, _):
        session = await client.new_session(folder)
        await session.ask("go")
    return decider.asked[0]


@pytest.mark.parametrize(
    ("given", "where"),
    [
        ({"cwd": "/elsewhere"}, "/elsewhere"),
        ({"workdir": "sub"}, "{work}/sub"),
        ({"directory": ""}, "{work}"),
        ({"cwd": 5}, "{work}"),
    ],
)
async def test_where_a_command_would_run_is_what_its_input_says(
    given: Json, where: str, tmp_path: Path
) -> None:
    """Issue 6: the exact command and folder; v1 has no field for it."""
    asked = await asked_with({"command": "make", **given}, tmp_path)
    assert asked.cwd == where.format(work=tmp_path)


@pytest.mark.parametrize(
    ("given", "command"),
    [
        ({"command": ["a b", "c;d"]}, "'a b' 'c;d'"),
        ({"command": "sh", "args": ["-c", "rm x"]}, "sh -c 'rm x'"),
        ({"command": "sh", "args": []}, "sh"),
        ({"command": "sh", "args": [1]}, "sh 1"),
    ],
)
async def test_the_arguments_of_a_command_are_part_of_it(
    given: Json, command: str, tmp_path: Path
) -> None:
    """Ours: `sh` with `args` of its own was shown, and judged, as `sh`."""
    asked = await asked_with(given, tmp_path)
    assert asked.command == command


async def test_a_v2_command_is_asked_for_as_a_command() -> None:
    """N2 CommandPermissionSubject; and the first drafts' form, v2's pages 11."""
    option = {"optionId": "y", "name": "Yes", "kind": "allow_once"}

    async def script(agent: ScriptedAgent) -> None:
        await agent.open_session()
        subject = {"type": "command", "command": "make test", "cwd": "/src", "toolCallId": "t"}
        params: Json = {"sessionId": "s1", "title": "Run it?", "options": [option]}
        request = {**params, "subject": subject, "description": "to be sure"}
        await agent.answer_to(agent.request("session/request_permission", request))
        request = {**params, "subject": {"type": "_odd"}}
        await agent.answer_to(agent.request("session/request_permission", request))
        early = {"sessionId": "s1", "options": [option], "toolCall": {"toolCallId": "e"}}
        await agent.answer_to(agent.request("session/request_permission", early))
        text = [{"type": "content", "content": {"type": "text", "text": "It is old."}}]
        called = {"type": "tool_call", "toolCall": {"toolCallId": "t", "content": text}}
        for more in ({}, {"description": "Said."}):
            request = {**params, "subject": called, **more}
            await agent.answer_to(agent.request("session/request_permission", request))
        agent.say("done")

    decider = Decider(lambda request: "y")
    async with connected(script, 2, permissions=decider) as (client, _):
        hearing = Hearing()
        await client.new_session(on_update=hearing)
        await hearing.done.wait()
    command, odd, early, *called = decider.asked
    assert [one.reason for one in called] == ["It is old.", "Said."]
    assert (command.command, command.cwd, command.kind) == ("make test", "/src", "execute")
    assert (command.title, command.reason) == ("Run it?", "to be sure")
    assert (odd.kind, odd.tool_call) == ("other", None)
    assert (early.title, early.tool_call and early.tool_call.tool_call_id) == (
        "Permission requested",
        "e",
    )


async def test_a_request_shows_its_call_as_it_was_when_it_was_asked_for() -> None:
    """Issue 12: an update that comes while the user looks changes nothing about the question."""

    async def script(agent: ScriptedAgent) -> None:
        await agent.open_session()
        prompt = await agent.begin_turn()
        agent.update({"sessionUpdate": "tool_call", "toolCallId": "t1", "title": "Before"})
        asked = agent.ask_permission(title="Before")
        with anyio.fail_after(HANG_SECONDS):
            await shown.wait()
        agent.update({"sessionUpdate": "tool_call_update", "toolCallId": "t1", "title": "After"})
        await agent.answer_to(asked)
        agent.end_turn(prompt)

    async def decide(request: Any) -> bool:
        shown.set()
        with anyio.fail_after(HANG_SECONDS):
            while "After" not in [call.title for call in session.transcript.tool_calls]:
                await anyio.lowlevel.checkpoint()
        titles.append(request.tool_call.title)
        return False

    shown, titles = anyio.Event(), list[str]()
    async with connected(script, permissions=Permissions.ask(decide)) as (client, _):
        session = await client.new_session()
        await session.ask("go")
    assert titles == ["Before"]
