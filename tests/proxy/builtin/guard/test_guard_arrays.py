"""An array of messages passes `guard` no other way than its entries would alone."""

import json
from typing import Any

import pytest

from accord.client.permissions.rules import Rule
from accord.proxy import Proxy
from accord.proxy.builtin.guard.guard import guard
from tests.proxy.builtin.opened import opened, update
from tests.proxy.wires import Json, around, chunk

pytestmark = pytest.mark.anyio

NO_EXECUTE = (Rule(effect="reject", kind="execute"),)
OPTIONS = [
    {"optionId": "y", "name": "Yes", "kind": "allow_once"},
    {"optionId": "n", "name": "No", "kind": "reject_once"},
]
RUN = {"toolCallId": "c", "kind": "execute", "rawInput": {"command": "rm x"}}
LOOK = {"toolCallId": "d", "kind": "read", "title": "Look"}
ERASE = {"sessionId": "s", "command": "rm x"}


def array(*entries: Json) -> bytes:
    """A line with an array of these messages."""
    return json.dumps([{"jsonrpc": "2.0", **entry} for entry in entries]).encode()


def permission(request_id: int, call: Json) -> Json:
    """A request for permission, in the words of v2."""
    subject = {"type": "tool_call", "toolCall": call}
    params = {"sessionId": "s", "title": "May I?", "subject": subject, "options": OPTIONS}
    return {"id": request_id, "method": "session/request_permission", "params": params}


def told(**fields: Any) -> Json:
    """A notification of the session."""
    return {"method": "session/update", "params": {"sessionId": "s", "update": fields}}


@pytest.mark.rule("TR-BATCH-04", "V2-GEN-06")
async def test_each_request_of_an_array_is_judged() -> None:
    """Issue 13: what is refused alone is refused in company, and the answers come as one array."""
    async with around(guard(NO_EXECUTE)) as (client, agent, _, _):
        await opened(client, agent, 2)
        agent.write(
            array(
                permission(1, RUN),
                permission(2, LOOK),
                {"id": 3, "method": "_vendor/run", "params": ERASE},
                told(sessionUpdate="agent_message_chunk", messageId="m", content=text("hello")),
            )
        )
        asked = await client.hear()
        assert asked["params"]["subject"]["toolCall"]["toolCallId"] == "d"
        assert (await client.hear())["params"]["update"]["messageId"] == "m"
        chosen = {"outcome": {"outcome": "selected", "optionId": "y"}}
        client.answer(asked["id"], chosen)
        answers = {one["id"]: one for one in json.loads(await agent.line())}
        assert answers[1]["result"]["outcome"] == {"outcome": "selected", "optionId": "n"}
        assert answers[2]["result"] == chosen
        assert answers[3]["error"]["code"] == -32601
        assert not client.unheard()
        assert not agent.unheard()


@pytest.mark.rule("V2-GEN-06")
async def test_what_runs_unasked_in_an_array_is_stopped() -> None:
    """Issue 13: an update is looked at wherever it stands."""
    async with around(guard(NO_EXECUTE)) as (client, agent, _, _):
        await opened(client, agent, 2)
        running = told(sessionUpdate="tool_call_update", **RUN, status="in_progress")
        agent.write(array(told(sessionUpdate="tool_call_update", **LOOK), running))
        assert (await agent.hear())["method"] == "session/cancel"


@pytest.mark.rule("V2-GEN-06")
async def test_a_secret_in_an_array_is_taken_out() -> None:
    """Issue 13: also one that is told in pieces."""
    async with around(guard(secrets=["hunter2hunter2"])) as (client, agent, _, _):
        await opened(client, agent, 2)
        pieces = [
            told(sessionUpdate="agent_message_chunk", messageId="m", content=text(words))
            for words in ("it is hunter2", "hunter2, yes")
        ]
        agent.write(array(*pieces))
        update(agent, sessionUpdate="state_update", state="idle", stopReason="end_turn")
        heard = b""
        while b"idle" not in heard:
            heard += await client.line()
        assert b"hunter2" not in heard
        assert b", yes" in heard


@pytest.mark.rule("V1-GEN-14")
async def test_in_v1_an_array_reaches_nobody() -> None:
    """Issue 12: it is not a message, whatever is in it."""
    async with around(guard(NO_EXECUTE)) as (client, agent, _, _):
        await opened(client, agent, 1)
        agent.write(array({"id": 1, "method": "terminal/create", "params": ERASE}))
        assert (await agent.hear())["error"]["code"] == -32600
        assert not client.unheard()


@pytest.mark.rule("V2-GEN-06", "TR-BATCH-05", "TR-BATCH-06")
async def test_a_proxy_passes_the_entries_on_one_by_one() -> None:
    """We send no array but the one that answers an array."""
    async with around(Proxy("plain")) as (client, agent, _, _):
        await opened(client, agent, 2)
        agent.write(array({"method": "session/update", "params": chunk("a")}) + b"\n[1,2]")
        assert (await client.hear())["params"] == chunk("a")
        assert [one["error"]["code"] for one in json.loads(await agent.line())] == [-32600] * 2
        first = {"id": 7, "method": "session/list", "params": {}}
        cancel = {"method": "$/cancel_request", "params": {"requestId": 7}}
        client.write(array(first, {**first, "id": 8}, cancel))
        asked = [await agent.hear() for _ in range(3)]
        assert [one["method"] for one in asked[:2]] == ["session/list"] * 2
        assert asked[2]["params"]["requestId"] == asked[0]["id"]
        agent.answer(asked[1]["id"], {"sessions": []})
        agent.say({"id": asked[0]["id"], "error": {"code": -32800, "message": "cancelled"}})
        answers = json.loads(await client.line())
        assert {one["id"]: "result" in one for one in answers} == {7: False, 8: True}


def text(words: str) -> Json:
    return {"type": "text", "text": words}
