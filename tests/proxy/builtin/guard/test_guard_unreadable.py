"""What `guard` cannot read does not pass it, whichever way an agent tries."""

from typing import Any

import pytest

from accord.client.permissions.rules import Rule
from accord.proxy.builtin.guard.guard import guard
from tests.proxy.builtin.opened import VERSIONS, opened, prompt, said, update
from tests.proxy.wires import Json, Wire, around

pytestmark = pytest.mark.anyio

NO_EXECUTE = (Rule(effect="reject", kind="execute"), Rule(effect="reject", path="/w/secret/**"))
OPTIONS = [
    {"optionId": "y", "name": "Yes", "kind": "allow_once"},
    {"optionId": "n", "name": "No", "kind": "reject_once"},
]
RUN = {"toolCallId": "c", "kind": "execute", "rawInput": {"command": "rm x"}}
LOOK = {"toolCallId": "c", "kind": "read", "title": "Look"}


async def refused(agent: Wire, client: Wire, method: str, params: Json) -> Json:
    """The error of a request of the agent, of which the client hears nothing."""
    agent.request("r", method, params)
    answer = await agent.hear()
    assert not client.unheard()
    error: Json = answer["error"]
    return error


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("method", ["_vendor/run", "fs/delete", "terminal/input", "session/new"])
async def test_a_method_that_is_not_the_protocols_is_refused(version: int, method: str) -> None:
    """Issue 12: it may write files or run commands, and nobody here can tell."""
    async with around(guard()) as (client, agent, _, _):
        await opened(client, agent, version)
        error = await refused(agent, client, method, {"sessionId": "s", "command": "rm x"})
        assert error["code"] == -32601
        assert "--pass" in error["message"]


async def test_a_method_that_was_named_passes() -> None:
    async with around(guard(passing=["_vendor/*"])) as (client, agent, _, _):
        await opened(client, agent, 1)
        agent.request(1, "_vendor/run", {})
        assert (await client.hear())["method"] == "_vendor/run"
        agent.notify("_vendor/tell", {})
        assert (await client.hear())["method"] == "_vendor/tell"
        agent.request(2, "_other/run", {})
        client.answer("stray", {})
        assert (await agent.hear())["error"]["code"] == -32601


UNREADABLE: tuple[tuple[str, Any], ...] = (
    ("_vendor/run", {"command": "rm x"}),
    ("session/update", {"sessionId": "s", "type": "tool_call", "data": {"id": "c"}}),
    ("session/update", {"sessionId": "s", "update": {"kind": "execute"}}),
    ("session/update", {"sessionId": "s", "update": []}),
    ("session/update", [1]),
)


@pytest.mark.parametrize("redact", [True, False])
@pytest.mark.parametrize(("method", "params"), UNREADABLE)
async def test_a_notification_that_cannot_be_read_is_dropped(
    method: str, params: Any, redact: bool
) -> None:
    async with around(guard(redact=redact)) as (client, agent, _, _):
        await opened(client, agent, 1)
        agent.notify(method, params)
        agent.notify("elicitation/complete", {"elicitationId": "e"})
        assert (await client.hear())["method"] == "elicitation/complete"


PERMISSIONS: tuple[tuple[int, Json], ...] = (
    (1, {}),
    (1, {"toolCall": "rm x"}),
    (1, {"toolCall": {"kind": "execute"}}),
    (1, {"operation": "terminal_execute", "resource": "rm x"}),
    (1, {"subject": {"type": "tool_call", "toolCall": LOOK}}),
    (1, {"subject": {"type": "tool_call", "toolCall": LOOK}, "toolCall": RUN}),
    (2, {"title": "May I?", "subject": {"type": "tool_call", "toolCall": LOOK}, "toolCall": RUN}),
    (2, {"title": "May I?", "subject": {"type": "_vendor", "command": "rm x"}}),
    (2, {"title": "May I?", "subject": {"type": "command"}}),
    (2, {"title": "May I?", "subject": {"type": "tool_call"}}),
    (2, {"title": "May I?", "subject": "rm x"}),
)


@pytest.mark.parametrize(("version", "params"), PERMISSIONS)
async def test_a_permission_for_nobody_knows_what_is_refused(version: int, params: Json) -> None:
    """Issue 12: permission requests in a shape that it cannot read."""
    async with around(guard(NO_EXECUTE)) as (client, agent, _, _):
        await opened(client, agent, version)
        asked = {"sessionId": "s", "options": OPTIONS, **params}
        error = await refused(agent, client, "session/request_permission", asked)
        assert error["code"] == -32602


ENV = {"name": "LANG", "value": "C"}
MALFORMED: tuple[tuple[str, Any], ...] = (
    ("terminal/create", {"command": "make", "env": {"LD_PRELOAD": "/w/x.so"}}),
    ("terminal/create", {"command": "make", "env": [ENV, "LD_PRELOAD=/w/x.so"]}),
    ("terminal/create", {"command": "make", "env": [{**ENV, "Name": "LD_PRELOAD"}]}),
    ("terminal/create", {"command": "make", "args": [["rm"]]}),
    ("terminal/create", {"command": "make", "args": "clean"}),
    ("terminal/create", {"command": ["make"]}),
    ("terminal/create", {"command": "make", "cwd": 1}),
    ("terminal/create", ["s", "make"]),
    ("fs/read_text_file", {"command": "rm x"}),
    ("fs/read_text_file", {"path": ["/w/x"]}),
    ("fs/write_text_file", {"path": "/w/x"}),
    ("fs/write_text_file", {"path": "/w/x", "content": {"text": "x"}}),
    ("session/request_permission", {"toolCall": LOOK}),
    ("session/request_permission", {"toolCall": LOOK, "options": [{**OPTIONS[0], "Kind": "x"}]}),
    ("elicitation/create", {"message": "May I?"}),
    ("elicitation/create", {"message": "May I?", "mode": "form", "requestedSchema": "rm x"}),
    ("terminal/output", {"terminalId": ["t"]}),
)


@pytest.mark.parametrize(("method", "params"), MALFORMED)
async def test_a_request_in_another_form_than_the_protocols_is_refused(
    method: str, params: Any
) -> None:
    """Issue 12: a client may read more in it than was judged."""
    async with around(guard(otherwise="allow")) as (client, agent, _, _):
        await opened(client, agent, 1)
        told = {"sessionId": "s", **params} if isinstance(params, dict) else params
        assert (await refused(agent, client, method, told))["code"] == -32602


REJECTED: tuple[tuple[int, Json], ...] = (
    (1, {"toolCall": RUN}),
    (1, {"toolCall": {**RUN, "kind": "shell"}}),
    (1, {"toolCall": {**RUN, "kind": None}}),
    (1, {"toolCall": {**RUN, "rawInput": {"command": ["rm", "x"]}}}),
    (2, {"toolCall": RUN}),
    (2, {"title": "May I?", "subject": {"type": "command", "command": "rm x", "cwd": "/w"}}),
    (2, {"title": "May I?", "subject": {"type": "tool_call", "toolCall": RUN, "command": "ls"}}),
    (1, {"toolCall": {"toolCallId": "c", "content": [{"type": "diff", "path": "/w/secret/x"}]}}),
)


@pytest.mark.parametrize(("version", "params"), REJECTED)
async def test_an_act_is_judged_however_the_permission_words_it(version: int, params: Json) -> None:
    """Issue 12: the first words of v2, kinds that nobody knows, and decoys beside the act."""
    async with around(guard(NO_EXECUTE)) as (client, agent, _, _):
        await opened(client, agent, version)
        asked = {"sessionId": "s", "options": OPTIONS, **params}
        agent.request(1, "session/request_permission", asked)
        outcome = (await agent.hear())["result"]["outcome"]
        assert outcome == {"outcome": "selected", "optionId": "n"}
        assert not client.unheard()


@pytest.mark.parametrize(
    "told",
    [
        [{"sessionUpdate": "tool_call", **RUN, "status": "running"}],
        [{"sessionUpdate": "tool_call_started", **RUN, "status": "in_progress"}],
        [{"sessionUpdate": "terminal_update", "terminalId": "t", "command": "rm x", "cwd": "/w"}],
        [
            {"sessionUpdate": "tool_call_update", "toolCallId": "c", "status": "in_progress"},
            {
                "sessionUpdate": "tool_call_content_chunk",
                "toolCallId": "c",
                "content": {"type": "diff", "changes": [{"path": "/w/secret/x"}]},
            },
        ],
    ],
)
async def test_what_runs_unasked_is_stopped_however_it_is_told(told: list[Json]) -> None:
    """Issue 12: updates and statuses of a kind that nobody knows; terminals of v2."""
    async with around(guard(NO_EXECUTE)) as (client, agent, _, _):
        await opened(client, agent, 2)
        for one in told:
            update(agent, **one)
        assert (await agent.hear())["method"] == "session/cancel"
        heard = [await client.hear() for _ in range(len(told) + 1)]
        assert any("not permitted" in said(one) for one in heard if "content" in _update(one))


def _update(message: Json) -> Json:
    update: Json = message["params"]["update"]
    is_message = update["sessionUpdate"].startswith("agent_message")
    return update if is_message else {}


@pytest.mark.parametrize("status", ["pending", "failed", "cancelled", None])
async def test_a_call_that_does_nothing_is_not_stopped(status: str | None) -> None:
    async with around(guard(NO_EXECUTE)) as (client, agent, _, _):
        await opened(client, agent, 1)
        update(agent, sessionUpdate="tool_call", **RUN, status=status)
        assert (await client.hear())["params"]["update"]["toolCallId"] == "c"
        assert not agent.unheard()


async def test_an_agent_that_acts_before_it_has_introduced_itself_is_refused() -> None:
    async with around(guard(otherwise="allow")) as (client, agent, _, _):
        acts = ("fs/write_text_file", "terminal/create", "session/request_permission")
        for method in (*acts, "elicitation/create"):
            params = {"sessionId": "s", "path": "/w/x", "content": "", "command": "rm x"}
            assert (await refused(agent, client, method, params))["code"] == -32600
        update(agent, sessionUpdate="tool_call", **RUN)
        client.request(1, "initialize", {"protocolVersion": 1})
        agent.answer((await agent.hear())["id"], {"protocolVersion": 1, "agentCapabilities": {}})
        assert "result" in await client.hear()


@pytest.mark.parametrize(("tool", "passes"), [("read", True), ("wipe", False)])
async def test_tools_of_the_clients_own_servers_are_judged(tool: str, passes: bool) -> None:
    """Issue 12: unstable methods that do something."""
    rules = (Rule(effect="reject", mcp_tool="disk/wipe"),)
    async with around(guard(rules)) as (client, agent, _, _):
        await opened(client, agent, 1)
        params = {
            "serverId": "disk",
            "requestId": "q",
            "method": "tools/call",
            "params": {"name": tool},
        }
        if passes:
            agent.request(1, "mcp/message", params)
            assert (await client.hear())["method"] == "mcp/message"
            agent.request(2, "mcp/message", {**params, "method": "tools/list"})
            assert (await client.hear())["method"] == "mcp/message"
        else:
            assert (await refused(agent, client, "mcp/message", params))["code"] == -32052


# ---- one yes for one act


async def permits(client: Wire, agent: Wire, **call: Any) -> None:
    """The agent asks for a call, and the user says yes."""
    call = {"toolCallId": "c", **call}
    params = {"sessionId": "s", "options": OPTIONS, "toolCall": call}
    agent.request("p", "session/request_permission", params)
    asked = await client.hear()
    client.answer(asked["id"], {"outcome": {"outcome": "selected", "optionId": "y"}})
    await agent.hear()


async def starts(client: Wire, agent: Wire, *words: str) -> str:
    """The method that the client hears when the agent starts a command."""
    params = {"sessionId": "s", "command": words[0], "args": words[1:]}
    agent.request("t", "terminal/create", params)
    heard = await client.hear()
    client.answer(heard["id"], {"terminalId": "t"})
    await agent.hear()
    method: str = heard["method"]
    return method


async def test_a_command_that_the_user_permitted_by_its_text_is_started_once() -> None:
    """Issue 12: one yes for one act, in the order of kimi-code."""
    async with around(guard()) as (client, agent, _, _):
        await opened(client, agent, 1)
        words = "Requesting approval to perform: Run command `touch a`"
        shown = [{"type": "content", "content": {"type": "text", "text": words}}]
        await permits(client, agent, title="Shell", content=shown)
        late = {"sessionUpdate": "tool_call_update", "toolCallId": "c"}
        update(agent, **late, rawInput={"command": "touch a"})
        await client.hear()
        line = ("/bin/bash", "-c", "cd /w && touch a")
        assert await starts(client, agent, *line) == "terminal/create"
        assert await starts(client, agent, *line) == "session/request_permission"


async def test_what_was_permitted_ends_with_its_turn() -> None:
    """Ours: as in the client."""
    async with around(guard()) as (client, agent, _, _):
        await opened(client, agent, 1)
        prompt(client, 1, "go")
        asked = (await agent.hear())["id"]
        await permits(client, agent, kind="execute", rawInput={"command": "make"})
        agent.answer(asked, {"stopReason": "end_turn"})
        await client.hear()
        assert await starts(client, agent, "make") == "session/request_permission"
