"""Whose folders and approvals count: sessions that nobody opened, turns that are cancelled."""

from typing import Any

import pytest

from accord.client.permissions.rules import Rule
from accord.proxy.builtin.guard import guard as module
from accord.proxy.builtin.guard.guard import guard
from tests.proxy.builtin.opened import opened, prompt, session, update
from tests.proxy.wires import Json, Wire, around

pytestmark = pytest.mark.anyio

EDITS = (Rule(effect="allow", kind="edit"),)
OPTIONS = [
    {"optionId": "y", "name": "Yes", "kind": "allow_once"},
    {"optionId": "n", "name": "No", "kind": "reject_once"},
]


def outcome(option_id: str) -> Json:
    return {"outcome": {"outcome": "selected", "optionId": option_id}}


async def heard_for(client: Wire, agent: Wire, method: str, params: Json) -> str:
    """The method that the client hears when the agent asks for this; refused if it is asked."""
    agent.request("r", method, params)
    heard = await client.hear()
    is_question = heard["method"] == "session/request_permission"
    client.answer(heard["id"], outcome("reject_once") if is_question else {"terminalId": "t"})
    await agent.hear()
    found: str = heard["method"]
    return found


async def writes(client: Wire, agent: Wire, session_id: str | None, path: str) -> bool:
    """Whether the agent may write a file without a question."""
    params = {"sessionId": session_id, "path": path, "content": ""}
    return await heard_for(client, agent, "fs/write_text_file", params) == "fs/write_text_file"


async def runs(client: Wire, agent: Wire) -> bool:
    """Whether the agent may start `make` without a question."""
    params = {"sessionId": "s", "command": "make"}
    return await heard_for(client, agent, "terminal/create", params) == "terminal/create"


async def asks(client: Wire, agent: Wire, answer: str, **call: Any) -> None:
    call = {"toolCallId": "c", "kind": "execute", "rawInput": {"command": "make"}, **call}
    params = {"sessionId": "s", "options": OPTIONS, "toolCall": call}
    agent.request("p", "session/request_permission", params)
    client.answer((await client.hear())["id"], outcome(answer))
    await agent.hear()


@pytest.mark.parametrize("path", ["/w/x", "/home/me/x"])
async def test_a_session_that_nobody_opened_has_no_folders(path: str) -> None:
    """Issue 12: its folder was the root, so that a rule to edit covered every file there is."""
    async with around(guard(EDITS)) as (client, agent, _, _):
        await opened(client, agent, 1)
        assert await writes(client, agent, "s", "/w/x")
        assert not await writes(client, agent, "s", "/home/me/x")
        assert not await writes(client, agent, "made-up", path)
        call = {"toolCallId": "c", "kind": "edit", "locations": [{"path": path}]}
        params = {"sessionId": "made-up", "options": OPTIONS, "toolCall": call}
        method = "session/request_permission"
        assert await heard_for(client, agent, method, params) == method


async def test_rules_of_a_folder_are_asked_for_without_one() -> None:
    """Ours: whoever gives rules by folder is told that there is none."""
    folders: list[str | None] = []

    def rules_in(folder: str | None) -> tuple[Rule, ...]:
        folders.append(folder)
        return EDITS

    async with around(guard(rules_in)) as (client, agent, _, _):
        await opened(client, agent, 1)
        assert not await writes(client, agent, "made-up", "/w/x")
        assert await writes(client, agent, "s", "/w/x")
        assert folders == [None, "/w"]


async def test_a_child_session_works_where_its_parent_does() -> None:
    """Ours: an agent that announces it cannot say so itself."""
    async with around(guard(EDITS)) as (client, agent, _, _):
        await opened(client, agent, 1)
        update(agent, sessionUpdate="subagent_update", sessionId="child", cwd="/")
        await client.hear()
        assert await writes(client, agent, "child", "/w/x")
        assert not await writes(client, agent, "child", "/home/me/x")
        # One that is known stays where it is, and a stranger has no children.
        await session(client, agent, "other", "/v")
        update(agent, sessionUpdate="subagent_update", sessionId="other")
        await client.hear()
        assert not await writes(client, agent, "other", "/w/x")
        told = {"sessionUpdate": "subagent_update", "sessionId": "grandchild"}
        agent.notify("session/update", {"sessionId": "made-up", "update": told})
        await client.hear()
        assert not await writes(client, agent, "grandchild", "/w/x")


@pytest.mark.parametrize("method", ["session/load", "session/resume"])
async def test_the_answer_to_loading_moves_no_other_session(method: str) -> None:
    """Ours: it is the client that has named the session."""
    async with around(guard(EDITS)) as (client, agent, _, _):
        await opened(client, agent, 1)
        client.request("l", method, {"sessionId": "old", "cwd": "/v", "mcpServers": []})
        agent.answer((await agent.hear())["id"], {"sessionId": "s"})
        await client.hear()
        assert await writes(client, agent, "old", "/v/x")
        assert not await writes(client, agent, "s", "/v/x")
        assert await writes(client, agent, "s", "/w/x")


async def test_made_up_sessions_are_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ours: an agent cannot fill the memory with names, and loses no approval of the others."""
    monkeypatch.setattr(module, "SESSIONS_MAX", 3)
    async with around(guard()) as (client, agent, _, _):
        await opened(client, agent, 1)
        await asks(client, agent, "y")
        for number in range(9):
            assert not await writes(client, agent, f"made-up {number}", "/w/x")
        assert await runs(client, agent)


async def refused(client: Wire, agent: Wire, method: str, params: Json) -> Json:
    """The answer to a request of the agent, of which the client hears nothing."""
    agent.request("r", method, params)
    answer = await agent.hear()
    assert not client.unheard()
    return answer


@pytest.mark.parametrize("redact", [True, False])
@pytest.mark.parametrize("is_error", [True, False])
async def test_after_a_cancel_nothing_is_asked_until_the_turn_is_over(
    is_error: bool, redact: bool
) -> None:
    """Issue 12: a command that was approved ran after the user had stopped the turn."""
    async with around(guard(redact=redact)) as (client, agent, _, _):
        await opened(client, agent, 1)
        prompt(client, 1, "go")
        asked = (await agent.hear())["id"]
        client.notify("session/cancel", {"sessionId": "nobody"})
        await agent.hear()
        await asks(client, agent, "y")
        client.notify("session/cancel", {"sessionId": "s"})
        assert (await agent.hear())["method"] == "session/cancel"
        run = {"sessionId": "s", "command": "make"}
        error = (await refused(client, agent, "terminal/create", run))["error"]
        assert (error["code"], "cancelled" in error["message"]) == (-32052, True)
        params = {"sessionId": "s", "options": OPTIONS, "toolCall": {"toolCallId": "c"}}
        answer = await refused(client, agent, "session/request_permission", params)
        assert answer["result"] == {"outcome": {"outcome": "cancelled"}}
        if is_error:
            error = {"code": -32800, "message": "cancelled"}
            agent.say({"jsonrpc": "2.0", "id": asked, "error": error})
        else:
            agent.answer(asked, {"stopReason": "cancelled"})
        await client.hear()
        # What the agent does later on is asked for as ever.
        await asks(client, agent, "y")
        assert await runs(client, agent)


async def test_cancelling_without_a_turn_ends_what_was_approved() -> None:
    async with around(guard()) as (client, agent, _, _):
        await opened(client, agent, 1)
        await asks(client, agent, "y")
        client.notify("session/cancel", {"sessionId": "s"})
        await agent.hear()
        assert not await runs(client, agent)
        await asks(client, agent, "y")
        assert await runs(client, agent)


async def test_what_was_approved_ends_with_a_turn_that_fails() -> None:
    """Ours: an error is the end of a turn too."""
    async with around(guard(redact=False)) as (client, agent, _, _):
        await opened(client, agent, 1)
        prompt(client, 1, "go")
        asked = (await agent.hear())["id"]
        await asks(client, agent, "y")
        error = {"code": -32603, "message": "no"}
        agent.say({"jsonrpc": "2.0", "id": asked, "error": error})
        assert (await client.hear())["error"] == error
        assert not await runs(client, agent)


@pytest.mark.parametrize("version", [1, 2])
async def test_the_past_of_a_session_is_not_stopped(version: int) -> None:
    """Issue 12: the user was told of a turn that was cancelled, and there was none."""
    rules = (Rule(effect="reject", kind="execute"),)
    async with around(guard(rules)) as (client, agent, _, _):
        await opened(client, agent, version)
        client.request("l", "session/load", {"sessionId": "s", "cwd": "/w", "mcpServers": []})
        asked = (await agent.hear())["id"]
        call = {"sessionUpdate": "tool_call_update", "title": "Make", "kind": "execute"}
        update(agent, **call, toolCallId="c", status="completed")
        update(agent, sessionUpdate="terminal_update", terminalId="t", command="make")
        agent.answer(asked, {})
        for _ in range(3):
            await client.hear()
        assert not agent.unheard()
        assert not client.unheard()
        # What runs now does.
        update(agent, **call, toolCallId="d", status="completed")
        assert (await agent.hear())["method"] == "session/cancel"


async def test_a_no_takes_an_earlier_yes_to_the_same_call_back() -> None:
    async with around(guard()) as (client, agent, _, _):
        await opened(client, agent, 1)
        await asks(client, agent, "y")
        await asks(client, agent, "n")
        assert not await runs(client, agent)
        await asks(client, agent, "y")
        await asks(client, agent, "n", toolCallId="d")
        assert await runs(client, agent)


async def test_in_v2_what_was_approved_ends_with_idle() -> None:
    """Ours: there the answer to a prompt does not end its turn."""
    async with around(guard()) as (client, agent, _, _):
        await opened(client, agent, 2)
        params: Json = {"sessionId": "s", "title": "May I?", "options": OPTIONS}
        call = {"toolCallId": "c", "kind": "execute", "rawInput": {"command": "make"}}
        params["subject"] = {"type": "tool_call", "toolCall": call}
        for state, may in (("running", True), ("idle", False)):
            agent.request("p", "session/request_permission", params)
            client.answer((await client.hear())["id"], outcome("y"))
            await agent.hear()
            update(agent, sessionUpdate="state_update", state=state)
            await client.hear()
            assert await runs(client, agent) is may
