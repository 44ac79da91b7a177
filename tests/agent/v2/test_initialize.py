"""`initialize` in v2: versions, what may come before, repeats, markers."""

from __future__ import annotations

from typing import Any

import anyio
import pytest

from accord.agent import Turn
from accord.agent.tools.elicitation import FormField
from tests.agent.raw_client import initialize_params
from tests.agent.v2.play import idle, insert, made, playing, text, turn

INFO = {"name": "raw", "version": "1.0"}


@pytest.mark.rule("V2-INIT-01")
async def test_the_answer_says_who_the_agent_is() -> None:
    """Spec: `info` is required on both sides."""
    async with playing(made(title="The Player"), initialize=False) as client:
        result = await client.result("initialize", initialize_params(2, {}))
    assert result["info"] == {"name": "player", "title": "The Player", "version": "1.0"}


@pytest.mark.rule("V2-INIT-01")
@pytest.mark.parametrize("info", [None, 5, {"name": "no version"}])
async def test_asking_for_exactly_2_without_a_good_info_is_refused(info: Any) -> None:
    """Spec: version 2 is read strictly."""
    params = {"protocolVersion": 2, "capabilities": {}}
    async with playing(made(), initialize=False) as client:
        error = await client.error(
            "initialize", params if info is None else params | {"info": info}
        )
        assert error["code"] == -32602
        assert error["data"]["path"].startswith("$.info")
        # A failed first one may be sent again.
        await client.result("initialize", initialize_params(2, {}))


@pytest.mark.rule("V2-INIT-02", "V2-GEN-05")
@pytest.mark.parametrize(("asked", "answered"), [(2, 2), (3, 2), (9, 2), (65535, 2), (1, 1)])
async def test_the_highest_served_version_at_or_below_the_asked_one_is_chosen(
    asked: int, answered: int
) -> None:
    """Spec: an agent of v1 and v2 answers 2 to everything above 1, and 1 to 1."""
    async with playing(made(), initialize=False, validate=asked != 1) as client:
        params = initialize_params(asked, {}) if asked > 1 else {"protocolVersion": 1}
        result = await client.result("initialize", params)
        assert result["protocolVersion"] == answered
        assert ("agentCapabilities" in result) == (answered == 1)


@pytest.mark.rule("V2-INIT-03")
@pytest.mark.parametrize("asked", [0, 1])
async def test_an_agent_of_v2_alone_refuses_older_clients_with_what_it_has(asked: int) -> None:
    """Spec: -32022 with `requested` and `supported`."""
    async with playing(made(versions=[2]), initialize=False) as client:
        error = await client.error("initialize", {"protocolVersion": asked})
        assert error["code"] == -32022
        assert error["data"] == {"requested": asked, "supported": [2]}
        await client.result("initialize", initialize_params(2, {}))


@pytest.mark.rule("V2-INIT-05")
async def test_what_comes_before_initialize_is_refused_or_dropped() -> None:
    """Spec: -32600 for requests, nothing for the rest, and the connection lives."""
    async with playing(made(), initialize=False) as client:
        client.notify("session/cancel", {"sessionId": "x"})
        client.send({"jsonrpc": "2.0", "id": 77, "result": {}})
        for method in ("session/new", "session/list", "auth/login", "_own/thing"):
            error = await client.error(method, {"cwd": "/tmp"})
            assert error["code"] == -32600
        await client.result("initialize", initialize_params(2, {}))
        assert await client.new_session()
    assert len(client.frames) == 6


@pytest.mark.rule("V2-INIT-06", "V2-INIT-07")
async def test_the_latest_successful_initialize_counts() -> None:
    """Spec: repeated before any other request it is authoritative."""

    async def ask(turn: Turn) -> None:
        answer = await turn.ask("Who?", name=FormField())
        await turn.say(answer.action)

    async with playing(made(ask), {"elicitation": {"form": {}}}) as client:
        await client.result("initialize", initialize_params(2, {}))
        session_id = await client.new_session()
        await turn(client, session_id)
        assert client.updates("agent_message")[0]["content"] == text("unsupported")
    assert "elicitation/create" not in client.methods()


@pytest.mark.rule("V2-INIT-07")
async def test_a_repeat_that_fails_changes_nothing() -> None:
    """Spec: a lower version is -32600, and the old state stays."""
    lower: list[dict[str, Any]] = [
        {"protocolVersion": 1, "clientCapabilities": {}},
        {"protocolVersion": 1, "capabilities": {}, "info": INFO},
    ]
    async with playing(made()) as client:
        for params in lower:
            assert (await client.error("initialize", params))["code"] == -32600
        wrong = {"protocolVersion": "two", "info": INFO}
        assert (await client.error("initialize", wrong))["code"] == -32602
        session_id = await client.new_session()
        assert (await turn(client, session_id))["stopReason"] == "end_turn"


@pytest.mark.rule("V2-INIT-07")
async def test_a_repeat_after_other_requests_is_refused_and_disturbs_nothing() -> None:
    """Spec: only before any other request."""
    async with playing(made()) as client:
        session_id = await client.new_session()
        error = await client.error("initialize", initialize_params(2, {}))
        assert error["code"] == -32600
        assert (await turn(client, session_id))["stopReason"] == "end_turn"


@pytest.mark.rule("V2-INIT-08")
@pytest.mark.parametrize(
    "params",
    [
        {"protocolVersion": 3},
        {"protocolVersion": 3, "info": {"name": "later"}},
        {"protocolVersion": 3, "info": INFO, "capabilities": [1], "novelty": {"x": 1}},
        {"protocolVersion": 3, "info": INFO | {"mood": 5}, "capabilities": {"dreams": True}},
    ],
)
async def test_a_newer_client_is_read_tolerantly(params: dict[str, Any]) -> None:
    """Spec: what is unknown is dropped, who is unknown is served as v2."""
    async with playing(made(strict=False), initialize=False) as client:
        result = await client.result("initialize", params)
        assert result["protocolVersion"] == 2
        session_id = await client.new_session()
        assert (await turn(client, session_id))["stopReason"] == "end_turn"


@pytest.mark.rule("V2-INIT-09")
@pytest.mark.parametrize(
    "capabilities",
    [{}, {"elicitation": {"form": True}}, {"elicitation": True}, {"elicitation": {"form": None}}],
)
async def test_only_objects_are_markers(capabilities: dict[str, Any]) -> None:
    """Spec: absent, null and malformed mean no support; `true` is v1's word."""

    async def ask(turn: Turn) -> None:
        await turn.say((await turn.ask("Who?", name=FormField())).action)

    async with playing(made(ask), capabilities) as client:
        session_id = await client.new_session()
        await insert(client, session_id)
        await idle(client)
    assert "elicitation/create" not in client.methods()


@pytest.mark.rule("V2-INIT-09", "V2-INIT-12")
async def test_what_the_agent_offers_is_marked_by_objects_and_the_rest_is_absent() -> None:
    """Spec: markers are objects; omitted is unsupported."""
    async with playing(made(), initialize=False) as client:
        plain = await client.result("initialize", initialize_params(2, {}))
    more = made(accepts=["image", "audio", "embedded_context"], mcp=["http"])
    async with playing(more, initialize=False) as client:
        rich = await client.result("initialize", initialize_params(2, {}))
    assert plain["capabilities"]["session"]["prompt"] == {}
    assert plain["capabilities"]["session"]["mcp"] == {"stdio": {}}
    assert rich["capabilities"]["session"]["prompt"] == {
        "image": {},
        "audio": {},
        "embeddedContext": {},
    }
    assert rich["capabilities"]["session"]["mcp"] == {"stdio": {}, "http": {}}
    assert "authMethods" not in plain


@pytest.mark.rule("V2-INIT-10")
async def test_every_method_of_the_baseline_works() -> None:
    """Spec: `session` promises new, list, resume, close, prompt, cancel and update."""

    async def wait(turn: Turn) -> None:
        await turn.say("working")
        await anyio.sleep_forever()

    async with playing(made(wait)) as client:
        session_id = await client.new_session()
        listed = await client.result("session/list", {})
        assert [one["sessionId"] for one in listed["sessions"]] == [session_id]
        await insert(client, session_id)
        await client.update("agent_message")
        client.cancel(session_id)
        assert (await idle(client))["stopReason"] == "cancelled"
        assert await client.result("session/close", {"sessionId": session_id}) == {}
        await client.result("session/resume", {"sessionId": session_id, "cwd": "/tmp"})


@pytest.mark.rule("V2-GEN-04")
@pytest.mark.parametrize(
    "method",
    ["session/load", "session/set_mode", "authenticate", "logout", "session/set_model", "nothing"],
)
async def test_methods_of_the_other_version_do_not_exist(method: str) -> None:
    """Spec: nothing of v1 is on a connection of v2; -32601 names the method."""
    async with playing(made()) as client:
        session_id = await client.new_session()
        error = await client.error(method, {"sessionId": session_id, "cwd": "/tmp"})
    assert error["code"] == -32601
    assert error["data"]["method"] == method
