"""What `guard` lets pass as an edit, and what an answer "always" to its questions covers."""

import pytest

from accord.client.permissions.rules import Rule
from accord.proxy.builtin.guard.guard import guard
from tests.proxy.builtin.guard.test_guard import asks
from tests.proxy.builtin.opened import VERSIONS, opened, update
from tests.proxy.wires import Json, around

pytestmark = pytest.mark.anyio

EDIT = Rule(effect="allow", kind="edit")


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize(
    ("call", "passes"),
    [
        ({"locations": [{"path": "/w/a.py"}]}, True),
        ({"rawInput": {"file_path": "/w/a.py"}}, True),
        ({"locations": [{"path": "/w/.git/hooks/pre-commit"}]}, False),
        ({"rawInput": {"file_path": "/w/.envrc"}}, False),
        ({"rawInput": {"file_path": "/home/me/.bashrc"}}, False),
        ({"locations": [{"path": "/w/a.py"}], "rawInput": {"path": "/etc/passwd"}}, False),
        ({}, False),
    ],
)
async def test_a_rule_for_edits_means_ordinary_files_of_the_session(
    version: int, call: Json, passes: bool
) -> None:
    """Issue 12: the same list of executing files is used by guard."""
    async with around(guard([EDIT])) as (client, agent, _, _):
        await opened(client, agent, version)
        asks(agent, version, "a", kind="edit", **call)
        if not passes:
            asked = await client.hear()
            assert asked["method"] == "session/request_permission"
            client.answer(asked["id"], {"outcome": {"outcome": "selected", "optionId": "n"}})
        chosen = (await agent.hear())["result"]["outcome"]["optionId"]
        assert chosen == ("y" if passes else "n")


async def test_an_always_of_a_command_is_for_its_folder() -> None:
    """Issue 12: the option says what it covers, and that is what is stored."""
    async with around(guard()) as (client, agent, _, _):
        await opened(client, agent, 1)

        async def run(cwd: str) -> bool:
            """Whether the user is asked."""
            agent.request(cwd, "terminal/create", {"sessionId": "s", "command": "make", "cwd": cwd})
            asked = await client.hear()
            is_asked = bool(asked["method"] == "session/request_permission")
            if not is_asked:
                client.answer(asked["id"], {"terminalId": "t"})
            else:
                names = {one["optionId"]: one["name"] for one in asked["params"]["options"]}
                assert names["allow_always"] == f"Always allow `make` in {cwd} for this session"
                outcome = {"outcome": "selected", "optionId": "allow_always"}
                client.answer(asked["id"], {"outcome": outcome})
                client.answer((await client.hear())["id"], {"terminalId": "t"})
            assert "result" in await agent.hear()
            return is_asked

        assert await run("/w")
        assert not await run("/w")
        assert await run("/w/sub")


RAN_BY_SOME = (
    ("terminal/create", '"command": "rm", "command": "echo"', '"command":"echo"'),
    ("terminal/create", '"command": "echo", "args": ["rm"], "args": ["x"]', '"args":["x"]'),
    ("fs/write_text_file", '"path": "/w/.envrc", "path": "/w/a", "content": "x"', '"path":"/w/a"'),
)


@pytest.mark.parametrize(("method", "params", "left"), RAN_BY_SOME)
async def test_a_client_reads_what_was_judged(method: str, params: str, left: str) -> None:
    """Issue 12: of two equal keys some readers take the first, and some the last."""
    rules = (EDIT, Rule(effect="allow", command="echo"))
    async with around(guard(rules, otherwise="reject")) as (client, agent, _, _):
        await opened(client, agent, 1)
        line = f'{{"jsonrpc": "2.0", "id": 1, "method": "{method}", "params": {{{params}'
        agent.write(line.encode() + b', "sessionId": "s"}}')
        raw = (await client.line()).decode()
        assert left in raw.replace(": ", ":")
        assert '"rm"' not in raw
        assert ".envrc" not in raw


@pytest.mark.parametrize("redact", [True, False])
async def test_a_client_is_told_what_was_judged_and_cleaned(redact: bool) -> None:
    """Issue 12: a secret behind a key that comes again went on as it was."""
    first, last = "ghp_" + "a1" * 18, "harmless"
    async with around(guard(redact=redact)) as (client, agent, _, _):
        await opened(client, agent, 1)
        update = f'"sessionUpdate": "tool_call", "toolCallId": "t", "title": "{first}"'
        line = f'{{"jsonrpc": "2.0", "method": "session/update", "params": {{"update": {{{update}'
        agent.write(line.encode() + f', "title": "{last}"}}, "sessionId": "s"}}}}'.encode())
        raw = (await client.line()).decode()
        assert last in raw
        assert first not in raw


@pytest.mark.parametrize("key", ["Command", "COMMAND", "Args", "CWD"])
async def test_a_key_that_some_take_for_another_is_refused(key: str) -> None:
    """Issue 12: readers that ignore case would run the other command."""
    rules = (Rule(effect="allow", command="echo"),)
    async with around(guard(rules)) as (client, agent, _, _):
        await opened(client, agent, 1)
        params = {"sessionId": "s", "command": "echo", key: "rm"}
        agent.request("t", "terminal/create", params)
        assert "may be read as" in (await agent.hear())["error"]["message"]
        assert not client.unheard()


async def test_a_permitted_call_that_becomes_another_one_is_judged_again() -> None:
    """Issue 12: a yes to `make` is none to what the call is changed to, or to a later call."""
    rules = (Rule(effect="reject", command="rm"),)
    async with around(guard(rules)) as (client, agent, _, _):
        await opened(client, agent, 1)
        asks(agent, 1, "a", toolCallId="x", kind="execute", rawInput={"command": "make"})
        outcome = {"outcome": {"outcome": "selected", "optionId": "y"}}
        client.answer((await client.hear())["id"], outcome)
        await agent.hear()
        for command, is_stopped in (("make", False), ("rm x", True)):
            told = {"sessionUpdate": "tool_call_update", "toolCallId": "x", "status": "in_progress"}
            update(agent, **told, rawInput={"command": command})
            heard = await client.hear()
            is_said = heard["params"]["update"]["sessionUpdate"] == "agent_message_chunk"
            assert is_said == is_stopped
        assert (await agent.hear())["method"] == "session/cancel"


async def test_the_question_for_a_write_shows_what_would_be_written() -> None:
    """Issue 12: what you are asked is what you see."""
    async with around(guard()) as (client, agent, _, _):
        await opened(client, agent, 1)
        params = {"sessionId": "s", "path": "/w/a", "content": "all of it"}
        agent.request("w", "fs/write_text_file", params)
        asked = (await client.hear())["params"]["toolCall"]
        assert asked["content"][0]["content"]["text"] == "all of it"
        agent.request("t", "terminal/create", {"sessionId": "s", "command": "ls", "cwd": "/w/b"})
        asked = (await client.hear())["params"]["toolCall"]
        assert asked["rawInput"] == {"command": "ls", "cwd": "/w/b"}


async def test_a_call_that_changes_while_the_user_is_asked_covers_nothing() -> None:
    """Issue 12: nobody can tell which of the two the user has seen."""
    async with around(guard()) as (client, agent, _, _):
        await opened(client, agent, 1)
        asks(agent, 1, "a", toolCallId="x", kind="execute", rawInput={"command": "ls"})
        asked = await client.hear()
        told = {"sessionUpdate": "tool_call_update", "toolCallId": "x"}
        update(agent, **told, rawInput={"command": "make"})
        await client.hear()
        outcome = {"outcome": {"outcome": "selected", "optionId": "y"}}
        client.answer(asked["id"], outcome)
        await agent.hear()
        for command in ("ls", "make"):
            agent.request(command, "terminal/create", {"sessionId": "s", "command": command})
            assert (await client.hear())["method"] == "session/request_permission"


@pytest.mark.parametrize(
    ("method", "more"),
    [
        ("terminal/create", {"command": "rm"}),
        ("fs/write_text_file", {"path": "/w/a", "content": "x"}),
        ("session/request_permission", {}),
        ("mcp/message", {"method": "tools/call", "params": {"name": "rm"}}),
    ],
)
async def test_a_request_without_an_id_does_not_pass(method: str, more: Json) -> None:
    """Issue 12: what a proxy cannot judge it does not let pass; some clients do it all the same."""
    async with around(guard([], otherwise="reject")) as (client, agent, _, _):
        await opened(client, agent, 1)
        agent.notify(method, {"sessionId": "s", **more})
        # What is a notification passes.
        agent.notify("mcp/message", {"serverId": "x", "method": "notifications/cancelled"})
        assert (await client.hear())["params"]["method"] == "notifications/cancelled"


async def test_a_notification_with_an_id_does_not_pass() -> None:
    """Issue 12: an update that is asked for is read by nobody here, and shown by some."""
    async with around(guard()) as (client, agent, _, _):
        await opened(client, agent, 1)
        agent.request("u", "session/update", {"sessionId": "s", "update": {}})
        assert "not a request of the protocol" in (await agent.hear())["error"]["message"]
        assert not client.unheard()
