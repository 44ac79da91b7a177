"""Secrets that stream in pieces through `guard`."""

from __future__ import annotations

from base64 import b64decode, b64encode
from typing import Any

import pytest

from accord.proxy.ready.guard import guard
from tests.proxy.ready.opening import opened, prompt, said, text, update
from tests.proxy.wires import Wire, around

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


@pytest.mark.parametrize("secret", [VALUE, KEY, "Bearer abcdefgh", "ghp_" + "a1" * 12])
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


async def test_what_waits_is_said_before_anything_else_of_its_session() -> None:
    """Nothing is lost: another message, a tool call, a request, the answer, also a bad one."""
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
        pieces(agent, "sk", messageId="b")
        update(agent, sessionUpdate="tool_call", toolCallId="t", title="T")
        assert said(await client.hear()) == "sk"
        assert (await client.hear())["params"]["update"]["toolCallId"] == "t"
        pieces(agent, "note:", messageId="c")
        agent.request(7, "terminal/create", {"sessionId": "s", "command": "ls"})
        assert said(await client.hear()) == "note:"
        assert (await client.hear())["method"] == "terminal/create"
        pieces(agent, "note:", messageId="d")
        agent.request(8, "elicitation/create", {"sessionId": "s"})
        assert said(await client.hear()) == "note:"
        assert (await client.hear())["method"] == "elicitation/create"
        pieces(agent, "note:", messageId="e")
        agent.say({"jsonrpc": "2.0", "id": asked, "error": {"code": -32603, "message": "no"}})
        assert said(await client.hear()) == "note:"
        assert (await client.hear())["error"]["message"] == "no"


@pytest.mark.parametrize("kind", ["terminal_output_chunk", "terminal_update"])
@pytest.mark.parametrize(
    ("shown", "told"),
    [(f"A={KEY}\n".encode() + b"\xff", b"A=[secret]\n\xff"), (b"\xffplain", b"\xffplain")],
)
async def test_the_output_of_a_terminal_has_no_secrets_in_base64(
    kind: str, shown: bytes, told: bytes
) -> None:
    """Version 2 writes bytes so; those that are no text stay as they are."""
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
