"""Secrets that stream in pieces through `guard`."""

from base64 import b64decode, b64encode
from typing import Any

import pytest

from accord.client.permissions.rules import Rule
from accord.proxy.builtin.guard.guard import guard
from tests.proxy.builtin.opened import opened, prompt, said, text, update
from tests.proxy.wires import Json, Wire, around

pytestmark = pytest.mark.anyio

VALUE = "hunter2-hunter2"
KEY = "sk-abcdefghijklmnop"


def pieces(agent: Wire, *words: str, **more: Any) -> None:
    for one in words:
        update(agent, sessionUpdate="agent_message_chunk", content=text(one), **more)


async def heard(client: Wire, until: str) -> str:
    """What the client is told of messages, up to a piece that ends so."""
    whole = ""
    while not whole.endswith(until):
        whole += said(await client.hear())
    return whole


@pytest.mark.parametrize("secret", [VALUE, KEY, "Bearer abcdefg1", "ghp_" + "a1" * 12])
async def test_a_secret_in_pieces_is_taken_out_wherever_it_is_cut(secret: str) -> None:
    """Issue 5: redaction; models stream a word or less at a time."""
    async with around(guard(secrets=[VALUE])) as (client, agent, _, _):
        await opened(client, agent, 1)
        for cut in range(1, len(secret)):
            pieces(agent, "it is ", secret[:cut], secret[cut:], " then.")
            assert "[secret]" in (whole := await heard(client, "then."))
            assert whole.removeprefix("it is ").removeprefix("Bearer ") == "[secret] then."
        pieces(agent, "it is ", *secret, " then.")
        assert secret not in await heard(client, "then.")


async def test_a_private_key_in_many_pieces_is_taken_out() -> None:
    lines = [
        "-----BEGIN RSA ",
        "PRIVATE KEY-----\n",
        "MIIEow",
        "IBAAKC\n",
        "-----END RSA PRIVATE KEY",
    ]
    async with around(guard()) as (client, agent, _, _):
        await opened(client, agent, 1)
        pieces(agent, *lines, "-----\n", "then.")
        assert "MIIE" not in (whole := await heard(client, "then."))
        assert "[secret]" in whole


async def test_what_waits_is_said_before_what_a_reader_sees_behind_it() -> None:
    """Nothing is lost: another message, a tool call, a question, the answer, also a bad one."""
    async with around(guard(otherwise="allow")) as (client, agent, _, _):
        await opened(client, agent, 1)
        prompt(client, 1, "go")
        asked = (await agent.hear())["id"]
        pieces(agent, "so s", messageId="a")
        assert said(await client.hear()) == "so "
        pieces(agent, "other", messageId="b")
        assert (await client.hear())["params"]["update"] == {
            "sessionUpdate": "agent_message_chunk",
            "content": text("s"),
            "messageId": "a",
        }
        assert said(await client.hear()) == "other"
        pieces(agent, " sk", messageId="b")
        assert said(await client.hear()) == " "
        update(agent, sessionUpdate="tool_call", toolCallId="t", title="T")
        assert said(await client.hear()) == "sk"
        assert (await client.hear())["params"]["update"]["toolCallId"] == "t"
        for method in ("elicitation/create", "session/request_permission"):
            pieces(agent, "s")
            form: Json = {"mode": "form", "message": "?", "requestedSchema": {"properties": {}}}
            asks: Json = {"options": [], "toolCall": {"toolCallId": "t"}}
            agent.request(method, method, {"sessionId": "s", **form, **asks})
            assert said(await client.hear()) == "s"
            assert (await client.hear())["method"] == method
        pieces(agent, "s")
        agent.say({"jsonrpc": "2.0", "id": asked, "error": {"code": -32603, "message": "no"}})
        assert said(await client.hear()) == "s"
        assert (await client.hear())["error"]["message"] == "no"


async def test_what_serves_the_agent_does_not_let_a_secret_through() -> None:
    """Files and terminals are not a question to the user; one that `guard` asks itself is."""
    async with around(guard(secrets=[VALUE])) as (client, agent, _, _):
        await opened(client, agent, 1)
        pieces(agent, VALUE[:6])
        agent.request(1, "fs/read_text_file", {"sessionId": "s", "path": "/w/x"})
        client.answer((await client.hear())["id"], {"content": ""})
        await agent.hear()
        pieces(agent, VALUE[6:], " hunt")
        assert await heard(client, " ") == "[secret] "
        agent.request(2, "fs/write_text_file", {"sessionId": "s", "path": "/w/x", "content": ""})
        assert said(await client.hear()) == "hunt"
        assert (await client.hear())["method"] == "session/request_permission"


async def test_what_guard_says_itself_comes_behind_what_the_agent_said() -> None:
    async with around(guard([Rule(effect="reject", kind="delete")])) as (client, agent, _, _):
        await opened(client, agent, 1)
        pieces(agent, "s")
        call = {"toolCallId": "x", "title": "rm", "kind": "delete", "status": "in_progress"}
        update(agent, sessionUpdate="tool_call", **call)
        assert said(await client.hear()) == "s"
        assert "not permitted" in said(await client.hear())
        assert (await client.hear())["params"]["update"]["toolCallId"] == "x"


@pytest.mark.parametrize("method", ["session/load", "session/resume", "session/close"])
async def test_what_waits_is_said_before_a_session_is_there_again_or_gone(method: str) -> None:
    """A past is told before the answer."""
    async with around(guard()) as (client, agent, _, _):
        await opened(client, agent, 1)
        client.request(5, method, {"sessionId": "s"})
        asked = (await agent.hear())["id"]
        pieces(agent, "s")
        agent.answer(asked, {})
        assert said(await client.hear()) == "s"
        assert (await client.hear())["id"] == 5


async def test_a_turn_of_version_2_is_not_over_with_the_answer() -> None:
    async with around(guard(secrets=[VALUE])) as (client, agent, _, _):
        await opened(client, agent, 2)
        prompt(client, 1, "go")
        asked = (await agent.hear())["id"]
        pieces(agent, VALUE[:6], messageId="m")
        agent.answer(asked, {})
        assert (await client.hear())["id"] == 1
        pieces(agent, VALUE[6:], " s", messageId="m")
        update(agent, sessionUpdate="state_update", state="running")
        update(agent, sessionUpdate="state_update", state="idle", stopReason="end_turn")
        assert await heard(client, " ") == "[secret] "
        assert (await client.hear())["params"]["update"]["state"] == "running"
        assert said(await client.hear()) == "s"
        assert (await client.hear())["params"]["update"]["state"] == "idle"


async def test_what_waits_when_the_agent_dies_is_said() -> None:
    """Nothing is lost; in version 2 no request is open then."""
    async with around(guard()) as (client, agent, _, _):
        await opened(client, agent, 2)
        pieces(agent, "so s", messageId="m")
        assert said(await client.hear()) == "so "
        await agent.transport.aclose()
        assert said(await client.hear()) == "s"


async def test_a_look_at_a_command_that_runs_shows_no_half_of_a_secret() -> None:
    """The next look shows the rest."""
    async with around(guard(secrets=[VALUE])) as (client, agent, _, _):
        await opened(client, agent, 1)
        ended = {"exitStatus": {"exitCode": 0}}
        looks: list[tuple[str, Any, str]] = [
            (f"it is {VALUE[:9]}", {}, "it is "),
            (f"it is {KEY}", {"exitStatus": None}, "it is [secret]"),
            (f"it is {VALUE}\ns", {}, "it is [secret]\n"),
            (f"it is {VALUE}\ns", ended, "it is [secret]\ns"),
        ]
        for number, (output, more, shown) in enumerate(looks):
            agent.request(number, "terminal/output", {"sessionId": "s", "terminalId": "t"})
            result = {"output": output, "truncated": False, **more}
            client.answer((await client.hear())["id"], result)
            assert (await agent.hear())["result"] == {**result, "output": shown}


@pytest.mark.parametrize("kind", ["terminal_output_chunk", "terminal_update"])
@pytest.mark.parametrize(
    ("shown", "told"),
    [(f"A={KEY}\n".encode() + b"\xff", b"A=[secret]\n\xff"), (b"\xffplain", b"\xffplain")],
)
async def test_the_output_of_a_terminal_has_no_secrets_in_base64(
    kind: str, shown: bytes, told: bytes
) -> None:
    """Version 2 writes bytes so; those that are not text stay as they are."""
    async with around(guard()) as (client, agent, _, _):
        await opened(client, agent, 2)
        data = {"data": b64encode(shown).decode()}
        output = data if kind == "terminal_output_chunk" else {"output": data}
        update(agent, sessionUpdate=kind, terminalId="t", **output)
        heard = (await client.hear())["params"]["update"]
        holder = heard if kind == "terminal_output_chunk" else heard["output"]
        assert b64decode(holder["data"]) == told


async def test_output_that_is_no_base64_passes() -> None:
    async with around(guard()) as (client, agent, _, _):
        await opened(client, agent, 2)
        update(agent, sessionUpdate="terminal_output_chunk", terminalId="t", data="?")
        assert (await client.hear())["params"]["update"]["data"] == "?"
        update(agent, sessionUpdate="terminal_update", terminalId="t", output=None)
        assert (await client.hear())["params"]["update"]["output"] is None


async def test_pieces_that_are_no_text_pass() -> None:
    async with around(guard()) as (client, agent, _, _):
        await opened(client, agent, 1)
        image = {"type": "image", "mimeType": "image/png", "data": "AAAA"}
        update(agent, sessionUpdate="agent_message_chunk", content=image)
        assert (await client.hear())["params"]["update"]["content"] == image
