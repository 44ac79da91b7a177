"""Tool calls, permissions and plans in v1."""

from __future__ import annotations

import os
from typing import Any

import pytest

from accord.agent import Agent, Turn
from accord.agent.tools.permission_request import PermissionOption
from accord.errors import LocalProtocolError
from accord.schema import v2
from accord.translate.diffs import diff_of
from tests.agent.raw_client import RawClient, raw_client

STATUSES = {"pending": 0, "in_progress": 1, "completed": 2, "failed": 2}


def chosen(option_id: str) -> Any:
    """A client's answer."""
    return {"outcome": {"outcome": "selected", "optionId": option_id}}


def agent_of(handler: Any) -> Agent:
    """An agent with this handler."""
    agent = Agent("tools", version="1")
    agent.on_prompt(handler)
    return agent


def lives(client: RawClient) -> dict[str, list[dict[str, Any]]]:
    """The updates of every tool call, in order."""
    found: dict[str, list[dict[str, Any]]] = {}
    for update in client.updates():
        if "toolCallId" in update:
            found.setdefault(update["toolCallId"], []).append(update)
    return found


@pytest.mark.rule("V1-TOOL-01", "V1-TOOL-03", "V1-TOOL-11", "V1-PROMPT-10")
async def test_a_tool_call_is_announced_then_begun_then_final() -> None:
    """Spec: tool calls, with everything that one may carry."""

    async def answer(turn: Turn) -> None:
        call = turn.tool_call(
            "Look", kind="search", name="grep", locations=["a.py", ("b.py", 3)], raw_input={"q": 1}
        )
        async with call:
            await call.show("found ", v2.ResourceLink(uri="file:///x", name="x"))
            await call.start()
            await call.complete(raw_output=[1])

    async with raw_client(agent_of(answer)) as client:
        await client.prompt(await client.new_session("/project"))
    ((first, *rest),) = lives(client).values()
    assert first["sessionUpdate"] == "tool_call"
    assert (first["title"], first["kind"], first["name"]) == ("Look", "search", "grep")
    assert first["locations"] == [{"path": "/project/a.py"}, {"path": "/project/b.py", "line": 3}]
    assert first["rawInput"] == {"q": 1}
    assert first.get("status", "pending") == "pending"
    assert {one["sessionUpdate"] for one in rest} == {"tool_call_update"}
    assert [one["status"] for one in rest if "status" in one] == ["in_progress", "completed"]
    # Content is a whole list each time: the second time both pieces are in it.
    pieces = [one["content"] for one in rest if "content" in one]
    assert [len(piece) for piece in pieces] == [1, 2]
    assert rest[-1]["rawOutput"] == [1]


@pytest.mark.rule("V1-TOOL-02")
async def test_ids_of_tool_calls_are_unique_in_a_session_also_after_load() -> None:
    """Schema: ToolCallId."""

    async def answer(turn: Turn) -> None:
        for _ in range(20):
            async with turn.tool_call("Look", kind="read"):
                pass

    async with raw_client(agent_of(answer)) as client:
        session_id = await client.new_session()
        await client.prompt(session_id)
        await client.prompt(session_id)
        await client.result("session/close", {"sessionId": session_id})
        await client.result("session/resume", {"sessionId": session_id, "cwd": "/tmp"})
        await client.prompt(session_id)
    created = [one["toolCallId"] for one in client.updates("tool_call")]
    assert len(created) == len(set(created)) == 60


@pytest.mark.rule("V1-PROMPT-12")
async def test_a_tool_that_fails_is_failed_and_not_the_turn() -> None:
    """Seed: error mapping; the handler may go on."""

    async def answer(turn: Turn) -> None:
        try:
            async with turn.tool_call("Divide", kind="other") as call:
                await call.run(lambda: 1 // 0)
        except ZeroDivisionError:
            await turn.say("went on")

    async with raw_client(agent_of(answer)) as client:
        assert await client.prompt(await client.new_session()) == {"stopReason": "end_turn"}
    (life,) = lives(client).values()
    assert life[-1]["status"] == "failed"
    assert "ZeroDivisionError" in str(life)
    assert client.text() == "went on"


@pytest.mark.rule("V1-TOOL-13")
async def test_the_life_of_a_tool_call_never_goes_back() -> None:
    """Issue: misuse is an error of ours, before anything is sent."""

    async def answer(turn: Turn) -> None:
        call = turn.tool_call("Work", kind="edit")
        for misuse in (call.complete, call.fail, call.cancel, call.set_locations):
            with pytest.raises(LocalProtocolError, match="not announced"):
                await misuse()
        async with call:
            with pytest.raises(LocalProtocolError, match="announced already"):
                await call.announce()
            await call.start()
            await call.start()
            with pytest.raises(LocalProtocolError, match="before the work"):
                await call.ask()
            await call.complete()
            for misuse in (call.start, call.complete, call.fail, call.cancel):
                with pytest.raises(LocalProtocolError, match="is completed"):
                    await misuse()
            for late in (
                call.set_title("x"),
                call.set_locations("/x"),
                call.run(print),
                call.ask(),
            ):
                with pytest.raises(LocalProtocolError, match="is completed"):
                    await late
            await call.show("one more thing")
        await turn.say("done")

    async with raw_client(agent_of(answer)) as client:
        await client.prompt(await client.new_session())
    (life,) = lives(client).values()
    ranks = [STATUSES[one["status"]] for one in life if "status" in one]
    assert ranks == [0, 1, 2]
    assert "status" not in life[-1]
    assert life[-1]["content"]
    assert client.text() == "done"


@pytest.mark.rule("V1-TOOL-10")
async def test_paths_that_are_shown_are_absolute() -> None:
    """Spec: diffs and locations; relative ones start at the session's folder."""

    async def answer(turn: Turn) -> None:
        async with turn.tool_call("Edit", kind="edit", locations=["../up.py"]) as call:
            await call.show_diff("sub/a.py", "old", "new")
            await call.set_locations("sub/a.py")
            with pytest.raises(LocalProtocolError, match="absolute"):
                await call.show(diff_of("rel.py", None, "x"))
        with pytest.raises(LocalProtocolError, match="count from 1"):
            turn.tool_call("Bad", locations=[("a.py", 0)])

    async with raw_client(agent_of(answer)) as client:
        assert await client.prompt(await client.new_session("/project/here")) == {
            "stopReason": "end_turn"
        }
    paths = [place["path"] for one in client.updates() for place in one.get("locations", [])]
    assert paths == ["/project/up.py", "/project/here/sub/a.py"]
    diffs = [item for one in client.updates() for item in one.get("content", [])]
    assert diffs[0] == {
        "type": "diff",
        "path": "/project/here/sub/a.py",
        "oldText": "old",
        "newText": "new",
    }
    assert all(os.path.isabs(path) for path in paths)


async def test_a_kind_that_nobody_knows_is_refused_and_an_own_one_is_other() -> None:
    """Schema: a closed set in v1; names of one's own are shown as `other`."""

    async def answer(turn: Turn) -> None:
        with pytest.raises(LocalProtocolError, match="ToolKind"):
            turn.tool_call("x", kind="juggle")
        async with turn.tool_call("Own", kind="_juggle"):
            pass

    async with raw_client(agent_of(answer)) as client:
        assert await client.prompt(await client.new_session()) == {"stopReason": "end_turn"}
    assert client.updates("tool_call")[0].get("kind", "other") == "other"


@pytest.mark.rule("V1-PERM-01", "V1-PERM-06", "V1-TOOL-03")
@pytest.mark.parametrize(
    ("answer", "consent"),
    [
        (chosen("allow_once"), True),
        (chosen("allow_always"), True),
        (chosen("reject_once"), False),
        (chosen("reject_always"), False),
        (chosen("never offered"), False),
        (chosen(""), False),
        ({"outcome": {"outcome": "cancelled"}}, False),
        ({"outcome": {"outcome": "_later"}}, False),
        ({"outcome": {"outcome": "selected"}}, False),
        ({"outcome": "selected"}, False),
        ({}, False),
        (None, False),
    ],
)
async def test_only_an_offered_choice_that_allows_is_consent(answer: Any, consent: bool) -> None:
    """Spec: permissions; what is not understood is never approval."""
    ran: list[bool] = []

    async def work(turn: Turn) -> None:
        async with turn.tool_call("Delete", kind="delete") as call:
            if await call.ask("It is old"):
                await call.run(lambda: ran.append(True))
            else:
                with pytest.raises(LocalProtocolError, match="is failed"):
                    await call.run(lambda: ran.append(True))

    async with raw_client(agent_of(work)) as client:
        session_id = await client.new_session()
        turn = client.start_prompt(session_id)
        request = await client.next("session/request_permission")
        client.reply(request, answer)
        assert (await client.answer(turn))["result"] == {"stopReason": "end_turn"}
    params = request["params"]
    assert params["sessionId"] == session_id
    assert [one["kind"] for one in params["options"]] == [
        "allow_once",
        "allow_always",
        "reject_once",
        "reject_always",
    ]
    # The reason is the first text of the tool call.
    assert params["toolCall"]["content"][0]["content"]["text"] == "It is old"
    assert ran == ([True] if consent else [])
    (life,) = lives(client).values()
    told = [one["status"] for one in life if "status" in one]
    assert told == (["pending", "in_progress", "completed"] if consent else ["pending", "failed"])
    assert client.frames.index(request) > 0


@pytest.mark.parametrize("code", [-32800, -32601])
async def test_a_permission_request_that_fails_is_no_consent(code: int) -> None:
    """Ours: withdrawn counts as no; any other failure is raised where it was asked."""
    ran: list[bool] = []

    async def work(turn: Turn) -> None:
        async with turn.tool_call("Delete", kind="delete") as call:
            if await call.ask():
                ran.append(True)

    async with raw_client(agent_of(work)) as client:
        turn = client.start_prompt(await client.new_session())
        client.refuse(await client.next("session/request_permission"), code)
        answer = await client.answer(turn)
    assert ran == []
    assert ("result" in answer) == (code == -32800)
    (life,) = lives(client).values()
    assert life[-1]["status"] == "failed"


@pytest.mark.parametrize(("option", "allowed"), [("allow_always", True), ("reject_always", False)])
async def test_always_is_remembered_for_the_same_call_in_this_session_only(
    option: str, allowed: bool
) -> None:
    """Issue 12: a lasting answer covers what was asked; allow and reject are remembered alike."""
    decided: list[bool] = []

    async def work(turn: Turn) -> None:
        async with turn.tool_call("Edit", kind=turn.text) as call:
            decided.append(await call.ask())

    async with raw_client(agent_of(work)) as client:
        client.serve["session/request_permission"] = lambda _params: chosen(option)
        one, other = await client.new_session(), await client.new_session()
        await client.prompt(one, "edit")
        await client.prompt(one, "edit")
        assert client.methods().count("session/request_permission") == 1
        await client.prompt(one, "fetch")
        await client.prompt(other, "edit")
        assert client.methods().count("session/request_permission") == 3
    assert decided == [allowed] * 4


async def test_own_options_are_offered_and_bad_ones_refused() -> None:
    """Ours: ids are unique, kinds are the protocol's."""
    picked: list[Any] = []

    async def work(turn: Turn) -> None:
        call = turn.tool_call("Pick", kind="other")
        twice = [PermissionOption("x", "X", "allow_once")] * 2
        for bad in ([], twice, [PermissionOption("x", "X", "maybe")]):
            with pytest.raises(LocalProtocolError):
                await call.choose(options=bad)
        picked.append(
            await call.choose(
                "why",
                options=[
                    PermissionOption("a", "A", "allow_once"),
                    PermissionOption("b", "B", "reject_once"),
                ],
            )
        )

    async with raw_client(agent_of(work)) as client:
        client.serve["session/request_permission"] = lambda _params: chosen("b")
        await client.prompt(await client.new_session())
    assert picked[0].option_id == "b"
    assert client.methods()[0] == "session/update"


async def test_a_mode_may_allow_a_kind_without_asking() -> None:
    """Ours: `add_mode(allow=...)`."""
    agent = Agent("modes", version="1")
    agent.add_mode("ask", "Ask")
    agent.add_mode("code", "Code", allow=("edit",))

    @agent.on_prompt
    async def work(turn: Turn) -> None:
        for kind in ("edit", "delete"):
            async with turn.tool_call(kind, kind=kind) as call:
                await turn.say(f"{kind}={await call.ask()} ")

    async with raw_client(agent) as client:
        client.serve["session/request_permission"] = lambda _params: chosen("reject_once")
        session_id = await client.new_session()
        await client.prompt(session_id)
        await client.result("session/set_mode", {"sessionId": session_id, "modeId": "code"})
        await client.prompt(session_id)
    assert client.text() == "edit=False delete=False edit=True delete=False "


@pytest.mark.rule("V1-PLAN-02", "V1-PLAN-04", "V1-PLAN-05")
@pytest.mark.parametrize("capabilities", [{}, {"plan": {}}])
async def test_every_plan_update_has_all_entries(capabilities: dict[str, Any]) -> None:
    """Spec: agent plans; the unstable forms are not used unless asked for."""

    async def work(turn: Turn) -> None:
        plan = await turn.plan(
            "one", v2.PlanEntry(content="two", priority="high", status="pending")
        )
        await plan.start(0)
        await plan.complete(0)
        await plan.drop(1)
        await plan.replace(["three"])
        with pytest.raises(LocalProtocolError, match="none has index 1"):
            await plan.complete(1)

    async with raw_client(agent_of(work), capabilities=capabilities) as client:
        assert await client.prompt(await client.new_session()) == {"stopReason": "end_turn"}
    assert {one["sessionUpdate"] for one in client.updates()} == {"plan"}
    told = [[(e["content"], e["status"]) for e in one["entries"]] for one in client.updates()]
    assert told == [
        [("one", "pending"), ("two", "pending")],
        [("one", "in_progress"), ("two", "pending")],
        [("one", "completed"), ("two", "pending")],
        # v1 has no word for an entry that will not be done, so that there is nothing to tell.
        [("three", "pending")],
    ]
    assert client.updates()[0]["entries"][1]["priority"] == "high"
