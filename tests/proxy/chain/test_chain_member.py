"""A proxy as a member of a chain: wrapped messages, and its place in it."""

import pytest

from accord.proxy import Proxy
from accord.proxy.message import Message
from tests.proxy.wires import around, chunk, member

pytestmark = pytest.mark.anyio


@pytest.mark.rule("V1-PROXY-02", "V1-PROXY-03", "V1-PROXY-05")
@pytest.mark.parametrize("prefix", ["", "_"])
async def test_as_a_member_of_a_chain_it_forwards_initialize_before_it_answers(prefix: str) -> None:
    """The protocol, and the Rust SDK, which puts an underscore before the names."""
    async with member(Proxy("m")) as conductor:
        params = {"protocolVersion": 1, "clientCapabilities": {}, "_meta": {"x": 1}}
        conductor.request("i", f"{prefix}proxy/initialize", params)
        asked = await conductor.hear()
        assert asked["method"] == f"{prefix}proxy/successor"
        assert asked["params"] == {"method": "initialize", "params": params}
        odd = {"protocolVersion": 1, "agentCapabilities": {}, "odd": [1, {"x": None}]}
        conductor.answer(asked["id"], odd)
        assert await conductor.hear() == {"jsonrpc": "2.0", "id": "i", "result": odd}
        successor = f"{prefix}proxy/successor"
        conductor.notify(successor, {"method": "session/update", "params": chunk("a"), "_meta": {}})
        heard = await conductor.hear()
        assert (heard["method"], heard["params"]) == ("session/update", chunk("a"))
        conductor.say({"method": "session/cancel", "params": {"sessionId": "s"}})
        heard = await conductor.hear()
        assert heard["params"] == {"method": "session/cancel", "params": {"sessionId": "s"}}
        conductor.say({"method": "_bare"}, {"method": "_null", "params": None})
        assert (await conductor.hear())["params"] == {"method": "_bare"}
        assert (await conductor.hear())["params"] == {"method": "_null"}


@pytest.mark.rule("V1-PROXY-04", "V1-PROXY-06")
async def test_as_a_member_requests_of_both_sides_and_cancellations_find_their_way() -> None:
    """The protocol: outer ids, from hop to hop."""
    proxy = Proxy("m")

    @proxy.on_request("session/prompt")
    def prompt(message: Message) -> None:
        assert message.sender == "client"
        message.params["seen"] = True

    @proxy.on_request("fs/read_text_file")
    def read(message: Message) -> None:
        assert message.sender == "agent"

    async with member(proxy) as conductor:
        conductor.request("p", "session/prompt", {})
        asked = await conductor.hear()
        assert asked["params"] == {"method": "session/prompt", "params": {"seen": True}}
        conductor.request("r", "proxy/successor", {"method": "fs/read_text_file", "params": {}})
        inner = await conductor.hear()
        assert inner["method"] == "fs/read_text_file"
        conductor.answer(inner["id"], {"content": "x"})
        assert await conductor.hear() == {"jsonrpc": "2.0", "id": "r", "result": {"content": "x"}}
        conductor.notify("$/cancel_request", {"requestId": "p"})
        cancel = await conductor.hear()
        assert (cancel["method"], cancel["params"]) == (
            "$/cancel_request",
            {"requestId": asked["id"]},
        )
        wrapped = {"method": "$/cancel_request", "params": {"requestId": 1}}
        conductor.notify("proxy/successor", wrapped)
        conductor.notify("proxy/successor", {"params": {}})
        conductor.request("bad", "proxy/successor", {"params": {}})
        answer = await conductor.hear()
        assert (answer["id"], answer["error"]["code"]) == ("bad", -32602)


async def test_a_member_without_a_conductor_says_so() -> None:
    """Ours: a clear error instead of silence."""
    async with member(Proxy("alone")) as client:
        client.request(1, "initialize", {"protocolVersion": 1})
        error = (await client.hear())["error"]
        assert "has no agent" in error["message"]
    async with around(Proxy("whole")) as (client, _, _, _):
        client.request(1, "proxy/initialize", {"protocolVersion": 1})
        assert "has its own agent" in (await client.hear())["error"]["message"]
