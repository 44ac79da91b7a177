"""Clients of a gateway on a real socket, and what one of them may send."""

from __future__ import annotations

from typing import Any

import pytest

from accord import Client, Permissions
from tests.gateway.scripted_agent import scripted
from tests.gateway.served_gateway import key_of, served_gateway
from tests.gateway.sessions.test_hosted_session import texts, until

pytestmark = pytest.mark.anyio


def client(port: int, scheme: str, name: str, version: int) -> Any:
    """Connect somebody by a URL."""
    return Client.connect(
        f"{scheme}://127.0.0.1:{port}/acp",
        token=key_of(name),
        permissions=Permissions.allow_all(),
        versions=(version,),
    )


@pytest.mark.parametrize("version", [1, 2])
@pytest.mark.parametrize("scheme", ["ws", "http"])
async def test_r1_two_people_share_a_session_over_a_network(scheme: str, version: int) -> None:
    """R1, R4, R6; every kind of request, also those after the server has paused a socket."""
    async with (
        served_gateway() as port,
        client(port, scheme, "ann", version) as ann,
        client(port, "ws", "bob", 2) as bob,
    ):
        hers = await ann.new_session(cwd="/")
        await hers.ask("one")
        params = {"sessionId": hers.id, "user": "bob", "role": "editor"}
        await ann.call_extension("_accord.session/set_role", params)
        assert [info.session_id async for info in bob.list_sessions()] == [hers.id]
        his = await bob.load_session(hers.id, cwd="/")
        assert texts(his) == ["one", "you said one"]
        await his.ask("two")
        await until(hers, "one", "you said one", "two", "you said two")
        assert (await hers.ask("ask")).text == "allowed"
        await until(his, "ask", "allowed")


async def test_the_gateway_says_what_it_understands() -> None:
    """Beside the extensions of the agent, in the capabilities."""
    async with scripted() as one:
        wire = await one.raw("ann")
        capabilities = wire.first["agentCapabilities"]
        assert capabilities["_meta"]["accord.extensions"]["methods"] == [
            "_accord.session/invite",
            "_accord.session/join",
            "_accord.session/members",
            "_accord.session/presence",
            "_accord.session/remove",
            "_accord.session/rename",
            "_accord.session/set_role",
        ]
        assert capabilities["loadSession"] is True


@pytest.mark.parametrize(
    "method",
    ["session/load", "session/resume", "session/close", "session/delete", "session/fork"]
    + [f"_accord.session/{name}" for name in ("members", "set_role", "remove", "invite", "join")],
)
@pytest.mark.parametrize("params", [[], None, {}, {"sessionId": 5}, {"sessionId": "nowhere"}])
async def test_params_that_make_no_sense_are_refused(method: str, params: Any) -> None:
    """One answer, and the connection goes on."""
    async with scripted() as one:
        ann = await one.person("ann")
        answer = await ann.call(method, params)
        assert answer["error"]["code"] in (-32602, -32600, -32002)
        assert "result" in await ann.call("session/list", {})


async def test_forks_are_refused_with_a_sentence() -> None:
    async with scripted() as one:
        ann = await one.person("ann")
        session_id = await ann.new()
        error = (await ann.call("session/fork", {"sessionId": session_id, "cwd": "/"}))["error"]
        assert error["message"] == "test cannot fork sessions; start a new one"


async def test_a_request_that_is_taken_back_is_taken_back_at_the_agent() -> None:
    async with scripted() as one:
        ann = await one.person("ann")
        session_id = await ann.new()
        request_id = ann.ask("session/set_mode", {"sessionId": session_id, "modeId": "m"})
        asked = await one.agent_wire.hears("session/set_mode")
        ann.wire.notify("$/cancel_request", {"requestId": request_id})
        taken = await one.agent_wire.hears("$/cancel_request")
        assert taken["params"]["requestId"] == asked["id"]
        error = {"code": -32800, "message": "Request cancelled"}
        one.agent_wire.say({"id": asked["id"], "error": error})
        assert (await ann.answer_to(request_id))["error"] == error


async def test_extensions_of_the_agent_pass_in_both_directions() -> None:
    """R2: an editor's; a viewer's are refused, since the gateway does not know what they do."""
    async with scripted() as one:
        ann, bob, session_id = await one.pair("viewer")
        request_id = ann.ask("_example/count", {"sessionId": session_id})
        asked = await one.agent_wire.hears("_example/count")
        one.agent_wire.answer(asked["id"], 3)
        assert (await ann.answer_to(request_id))["result"] == 3
        refused = await bob.call("_example/count", {"sessionId": session_id})
        assert refused["error"]["data"]["reason"] == "role"
        one.agent_wire.notify("_example/news", {"sessionId": session_id, "n": 1})
        assert (await ann.hears("_example/news"))["params"]["n"] == 1
        assert (await bob.hears("_example/news"))["params"]["n"] == 1
        one.agent_wire.request("x", "_example/ask", {"sessionId": session_id})
        his = await ann.hears("_example/ask")
        ann.wire.answer(his["id"], "yes")
        assert (await one.agent_wire.hears(None))["result"] == "yes"
