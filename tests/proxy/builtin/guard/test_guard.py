"""A policy and redaction for agents that never ask."""

from typing import Any

import pytest

from accord.client.permissions.rules import Rule
from accord.proxy.builtin.guard.guard import guard
from tests.proxy.builtin.opened import VERSIONS, opened, prompt, said, text, update
from tests.proxy.wires import Json, Wire, around

pytestmark = pytest.mark.anyio

KEY = "sk-" + "abcdefghijklmnop1234"
RULES = (
    Rule(effect="reject", kind="delete"),
    Rule(effect="reject", path="/w/secret/**"),
    Rule(effect="allow", kind="edit", path="/w/src/**"),
    Rule(effect="reject", command="rm"),
    Rule(effect="allow", command="make test"),
)
OPTIONS = [
    {"optionId": "y", "name": "Yes", "kind": "allow_once"},
    {"optionId": "n", "name": "No", "kind": "reject_once"},
]


def asks(agent: Wire, version: int, request_id: str, **call: Any) -> None:
    """The agent asks for a permission."""
    call = {"toolCallId": "c", "title": "a call", **call}
    params: Json = {"sessionId": "s", "options": OPTIONS}
    if version == 1:
        params["toolCall"] = call
    else:
        params |= {"title": "May I?", "subject": {"type": "tool_call", "toolCall": call}}
    agent.request(request_id, "session/request_permission", params)


@pytest.mark.parametrize("version", VERSIONS)
async def test_rules_answer_permissions_and_the_user_the_rest(version: int) -> None:
    """Issue 5: a permission policy."""
    async with around(guard(RULES)) as (client, agent, _, _):
        await opened(client, agent, version)
        asks(agent, version, "a", kind="edit", locations=[{"path": "/w/src/x.py"}])
        answer = await agent.hear()
        assert answer["result"]["outcome"] == {"outcome": "selected", "optionId": "y"}
        asks(agent, version, "b", toolCallId="d", kind="delete")
        answer = await agent.hear()
        assert answer["result"]["outcome"] == {"outcome": "selected", "optionId": "n"}
        asks(agent, version, "c", toolCallId="e", kind="execute", rawInput={"command": "ls"})
        asked = await client.hear()
        assert asked["method"] == "session/request_permission"
        outcome = {"outcome": {"outcome": "selected", "optionId": "n"}}
        client.answer(asked["id"], outcome)
        assert (await agent.hear())["result"] == outcome


@pytest.mark.parametrize("version", VERSIONS)
async def test_a_forbidden_call_that_runs_unasked_has_its_turn_cancelled(version: int) -> None:
    """Issue 5: cancels the turn when a tool call of a forbidden kind is reported as in progress."""
    async with around(guard(RULES)) as (client, agent, _, _):
        await opened(client, agent, version)
        kind = "tool_call" if version == 1 else "tool_call_update"
        for status in ("pending", "in_progress", "in_progress"):
            update(
                agent, sessionUpdate=kind, toolCallId="x", title="rm", kind="delete", status=status
            )
        assert (await client.hear())["params"]["update"]["status"] == "pending"
        assert "not permitted: rm" in said(await client.hear())
        cancel = await agent.hear()
        assert (cancel["method"], cancel["params"]) == ("session/cancel", {"sessionId": "s"})
        for _ in range(2):
            assert (await client.hear())["params"]["update"]["status"] == "in_progress"
        update(
            agent, sessionUpdate=kind, toolCallId="y", title="y", kind="read", status="completed"
        )
        assert (await client.hear())["params"]["update"]["toolCallId"] == "y"
        assert not agent.unheard()


async def test_a_call_that_the_user_permitted_may_run() -> None:
    """Ours: the user's word beats the guess."""
    rules = (Rule(effect="ask", kind="execute"), Rule(effect="reject", path="/w/secret/**"))
    async with around(guard(rules)) as (client, agent, _, _):
        await opened(client, agent, 1)
        asks(agent, 1, "a", toolCallId="x", kind="execute", rawInput={"command": ["make", "it"]})
        outcome = {"outcome": {"outcome": "selected", "optionId": "y"}}
        client.answer((await client.hear())["id"], outcome)
        await agent.hear()
        update(
            agent,
            sessionUpdate="tool_call_update",
            toolCallId="x",
            status="in_progress",
            locations=[{"path": "/w/secret/x"}],
        )
        assert (await client.hear())["params"]["update"]["toolCallId"] == "x"
        # And a terminal for the very same command needs no second question.
        agent.request("t", "terminal/create", {"sessionId": "s", "command": "make", "args": ["it"]})
        assert (await client.hear())["method"] == "terminal/create"


async def test_files_and_terminals_are_granted_or_refused() -> None:
    """Issue 5: it answers or denies fs and terminal requests."""
    async with around(guard(RULES, otherwise="reject")) as (client, agent, _, _):
        await opened(client, agent, 1)
        cases: list[tuple[str, Json, bool]] = [
            ("fs/read_text_file", {"path": "/w/x"}, True),
            ("fs/read_text_file", {"path": "/w/secret/x"}, False),
            ("fs/write_text_file", {"path": "/w/src/x", "content": ""}, True),
            ("fs/write_text_file", {"path": "/w/x", "content": ""}, False),
            ("terminal/create", {"command": "make", "args": ["test"]}, True),
            ("terminal/create", {"command": "make test && rm x"}, False),
            ("terminal/create", {"command": "ls", "env": [{"name": "LANG", "value": "C"}]}, False),
        ]
        for number, (method, params, is_fine) in enumerate(cases):
            agent.request(number, method, {"sessionId": "s", **params})
            if is_fine:
                asked = await client.hear()
                assert asked["method"] == method
                client.answer(asked["id"], {"content": "", "terminalId": "t"})
                assert "result" in await agent.hear()
            else:
                error = (await agent.hear())["error"]
                assert error["code"] == -32052
                assert "guard" in error["message"]
        assert not client.unheard()


async def test_it_asks_the_user_for_an_agent_that_does_not() -> None:
    """Issue 5: for agents that never ask; `always` is remembered for the session."""
    async with around(guard()) as (client, agent, _, _):
        await opened(client, agent, 1)
        params = {"sessionId": "s", "path": "/w/x", "content": "1"}

        async def write(chosen: str | None) -> Json:
            agent.request("w", "fs/write_text_file", params)
            asked = await client.hear()
            if chosen is not None:
                assert asked["method"] == "session/request_permission"
                assert asked["params"]["toolCall"]["locations"] == [{"path": "/w/x"}]
                outcome = {"outcome": "selected", "optionId": chosen}
                client.answer(asked["id"], {"outcome": outcome})
                if chosen.startswith("reject"):
                    return await agent.hear()
                asked = await client.hear()
            assert asked["method"] == "fs/write_text_file"
            client.answer(asked["id"], {})
            return await agent.hear()

        assert "error" in await write("reject_once")
        assert "result" in await write("allow_once")
        assert "result" in await write("allow_always")
        assert "result" in await write(None)


async def test_secrets_are_taken_out_of_what_the_agent_says_and_reads() -> None:
    """Issue 5: secret redaction in what the agent sends and reads."""
    proxy = guard(otherwise="allow", secrets=["hunter2-hunter2"])
    async with around(proxy) as (client, agent, _, _):
        await opened(client, agent, 1)
        update(agent, sessionUpdate="agent_message_chunk", content=text(f"it is {KEY} ok"))
        assert said(await client.hear()) == "it is [secret] ok"
        prompt(client, 1, f"use {KEY} and hunter2-hunter2")
        assert (await agent.hear())["params"]["prompt"] == [text("use [secret] and [secret]")]
        agent.request(1, "fs/read_text_file", {"sessionId": "s", "path": "/w/.env"})
        client.answer((await client.hear())["id"], {"content": f"A={KEY}\n"})
        assert (await agent.hear())["result"] == {"content": "A=[secret]\n"}
        agent.request(2, "terminal/output", {"sessionId": "s", "terminalId": "t"})
        client.answer((await client.hear())["id"], {"output": KEY, "truncated": False})
        assert (await agent.hear())["result"] == {"output": "[secret]", "truncated": False}
        # What was read with a mark in it is not written back with it.
        content = "A=[secret]\nB=1\n"
        params = {"sessionId": "s", "path": "/w/.env", "content": content}
        agent.request(3, "fs/write_text_file", params)
        assert "secrets removed" in (await agent.hear())["error"]["message"]
        asks(agent, 1, "p", kind="other", rawInput={"key": KEY})
        assert (await client.hear())["params"]["toolCall"]["rawInput"] == {"key": "[secret]"}


async def test_without_redaction_and_rules_everything_passes() -> None:
    """Ours: what was not asked for does not happen."""
    async with around(guard(otherwise="allow", redact=False)) as (client, agent, _, _):
        await opened(client, agent, 1)
        update(agent, sessionUpdate="agent_message_chunk", content=text(KEY))
        assert said(await client.hear()) == KEY
        agent.request(1, "fs/write_text_file", {"sessionId": "s", "path": "/x", "content": KEY})
        assert (await client.hear())["params"]["content"] == KEY


@pytest.mark.parametrize(
    ("call", "is_stopped"),
    [
        ({"kind": "read", "content": [{"type": "diff", "path": "/w/no", "newText": ""}]}, True),
        ({"content": [{"type": "diff", "changes": [{"path": "/w/x", "oldPath": "/w/no"}]}]}, True),
        ({"rawInput": {"command": ["rm", "-r", "x"]}}, True),
        ({"kind": "execute", "rawInput": {"command": "make && rm x"}}, True),
        ({"name": "mcp__files__wipe"}, True),
        ({"rawInput": {"server": "files", "tool": "wipe"}}, True),
        ({"kind": "fetch", "rawInput": {"url": "https://bad.example/x"}}, True),
        ({"kind": "fetch", "rawInput": {"url": "https://good.example/x"}}, False),
        ({"kind": "edit", "locations": [{"path": "/w/yes"}, None]}, False),
    ],
)
async def test_what_a_call_is_about_is_read_in_the_words_of_either_version(
    call: Json, is_stopped: bool
) -> None:
    """Ours: rules speak of files, commands, tools and hosts."""
    rules = (
        Rule(effect="reject", path="/w/no"),
        Rule(effect="reject", command="rm"),
        Rule(effect="reject", mcp_tool="files/wipe"),
        Rule(effect="reject", host="bad.example"),
    )
    async with around(guard(rules)) as (client, agent, _, _):
        await opened(client, agent, 1)
        update(agent, sessionUpdate="tool_call", toolCallId="x", status="in_progress", **call)
        if is_stopped:
            assert "not permitted" in said(await client.hear())
            assert (await agent.hear())["method"] == "session/cancel"
        assert (await client.hear())["params"]["update"]["toolCallId"] == "x"
