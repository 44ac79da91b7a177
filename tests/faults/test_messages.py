"""Messages that are JSON and still wrong, sent to a real agent process."""

from typing import Any

import pytest

from tests.faults.process import agent_process

HUGE = [2**53, 2**53 + 1, 2**63 - 1, -(2**53) - 1]


@pytest.mark.parametrize("request_id", [*HUGE, "text", "", "1", 0, -5])
async def test_an_id_of_any_legal_kind_comes_back_as_it_was(request_id: Any) -> None:
    """Issue 3: ids above 2^53 are not rounded, and a string is not a number."""
    async with agent_process() as agent:
        await agent.initialize()
        answer = await agent.answer(await agent.start("_echo", {"x": 1}, id_=request_id))
        assert answer["result"] == {"x": 1}


@pytest.mark.rule("V2-CANCEL-13", "V2-CANCEL-14", "V2-CANCEL-15", "V1-CREQ-02", "V1-CREQ-05")
@pytest.mark.parametrize("version", [1, 2])
async def test_a_withdrawn_request_is_answered_once_and_only_by_its_own_id(version: int) -> None:
    """Unknown ids, ids of another type, answered ids and repeats are ignored."""
    async with agent_process() as agent:
        await agent.initialize(version)
        await agent.start("_hold", {}, id_=77)
        await agent.start("_hold", {}, id_="77")
        for wanted in (78, 77.0, None, [77], {"id": 77}, True, "077"):
            params = {"requestId": wanted}
            await agent.send({"jsonrpc": "2.0", "method": "$/cancel_request", "params": params})
        await agent.send({"jsonrpc": "2.0", "method": "$/cancel_request"})
        await agent.send({"jsonrpc": "2.0", "method": "$/cancel_request", "params": [77]})
        await agent.result("_echo", {})
        assert agent.errors(77) == agent.errors("77") == []
        for _ in range(2):
            params = {"requestId": 77}
            await agent.send({"jsonrpc": "2.0", "method": "$/cancel_request", "params": params})
        assert (await agent.answer(77))["error"]["code"] == -32800
        await agent.result("_echo", {})
        assert agent.errors(77) == [-32800]
        assert agent.errors("77") == []
        await agent.result("_release", {})
        assert (await agent.answer("77"))["result"] == {}


@pytest.mark.rule("V1-CREQ-01")
async def test_other_dollar_notifications_and_unknown_ones_are_ignored() -> None:
    """No answer, no end."""
    async with agent_process() as agent:
        await agent.initialize()
        before = len(agent.messages)
        for method in ("$/foo", "session/unknown", "_vendor/unknown", "", "session/prompt"):
            await agent.send({"jsonrpc": "2.0", "method": method, "params": {"x": 1}})
        await agent.result("_echo", {})
        assert len(agent.messages) == before + 1


@pytest.mark.parametrize(
    "params", [None, 5, "text", [], {}, {"sessionId": 5}, {"sessionId": None}, {"sessionId": "no"}]
)
@pytest.mark.parametrize("version", [1, 2])
async def test_a_malformed_cancel_notification_is_survived_silently(
    version: int, params: Any
) -> None:
    """Issue 3: a notification that is malformed."""
    async with agent_process() as agent:
        await agent.initialize(version)
        session_id = await agent.new_session()
        await agent.send({"jsonrpc": "2.0", "method": "session/cancel", "params": params})
        answer = await agent.answer(await agent.prompt(session_id, "say hi"))
        assert "result" in answer
        assert agent.errors(None) == []


@pytest.mark.parametrize("method", ["session/unknown", "_vendor/unknown", "$/unknown", "", "😀"])
@pytest.mark.parametrize("version", [1, 2])
async def test_an_unknown_method_is_named_in_its_refusal(version: int, method: str) -> None:
    """Issue 4: `data.method` with -32601."""
    async with agent_process() as agent:
        await agent.initialize(version)
        answer = await agent.request(method, {})
        assert answer["error"]["code"] == -32601
        assert answer["error"]["data"]["method"] == method


async def test_a_second_request_with_an_open_id_is_refused_and_leaves_the_first_alone() -> None:
    """Issue 3: duplicate ids."""
    async with agent_process() as agent:
        await agent.initialize()
        await agent.start("_hold", {"n": 1}, id_="same")
        await agent.start("_hold", {"n": 2}, id_="same")
        await agent.until(lambda: agent.errors("same"))
        assert agent.errors("same") == [-32600]
        await agent.result("_release", {})
        await agent.until(lambda: [m for m in agent.messages if m.get("result") == {"n": 1}])
        assert {"n": 2} not in [message.get("result") for message in agent.messages]
        assert (await agent.request("_echo", {}))["result"] == {}


@pytest.mark.parametrize(
    "answer",
    [
        {"id": 999, "result": {}},
        {"id": "999", "result": {}},
        {"id": 999, "error": {"code": 1, "message": "x"}},
        {"id": 999, "error": "boom"},
        {"id": 999, "result": {}, "error": {"code": 1, "message": "x"}},
        {"id": [1], "result": {}},
        {"id": {"a": 1}, "result": {}},
        {"id": None, "error": {"code": -32700, "message": "x"}},
        {"id": True, "result": {}},
        {"id": 1.5, "result": {}},
        {"result": {}},
    ],
)
async def test_an_answer_to_nothing_is_survived(answer: dict[str, Any]) -> None:
    """Issue 3: unknown ids, ids that are none, answers that are both; never answered in turn."""
    async with agent_process() as agent:
        await agent.initialize()
        await agent.start("_hold", {}, id_="open")
        await agent.send({"jsonrpc": "2.0", **answer})
        await agent.result("_release", {})
        assert (await agent.answer("open"))["result"] == {}
        assert [one for one in agent.messages if "error" in one and one.get("id") is not None] == []


@pytest.mark.parametrize("version", [1, 2])
async def test_an_unforeseen_exception_tells_the_peer_an_id_and_stderr_the_rest(
    version: int,
) -> None:
    """Issue: -32603, a generic text, `data.correlationId`; the traceback never leaves."""
    async with agent_process() as agent:
        await agent.initialize(version)
        session_id = await agent.new_session()
        prompt = await agent.prompt(session_id, "fail us")
        if version == 1:
            error = (await agent.answer(prompt))["error"]
        else:
            await agent.until(lambda: b"secret of us" in agent.stderr)
            await agent.until(lambda: b'"idle"' in agent.stdout)
            [error] = [
                one["params"]["update"]["error"]
                for one in agent.messages
                if one.get("method") == "session/update"
                and one["params"]["update"].get("state") == "idle"
            ]
        assert error["code"] == -32603
        assert error["data"]["correlationId"].encode() in agent.stderr
        assert b"secret of us" in agent.stderr
        assert b"secret of us" not in bytes(agent.stdout)
        assert (await agent.request("_echo", {}))["result"] == {}


async def test_a_result_that_is_not_json_is_an_internal_error_and_no_silence() -> None:
    """A fault of others: the peer waits for ever."""
    async with agent_process() as agent:
        await agent.initialize()
        error = (await agent.request("_unsayable", {}))["error"]
        assert error["code"] == -32603
        assert error["data"]["correlationId"]


async def test_what_a_request_carries_in_its_meta_changes_nothing() -> None:
    """A fault of others: `_meta` that overrides arguments."""
    async with agent_process() as agent:
        await agent.initialize()
        session_id = await agent.new_session()
        params = {
            "sessionId": session_id,
            "prompt": [{"type": "text", "text": "say hi"}],
            "_meta": {"session_id": "EVIL", "self": 1, "sessionId": "EVIL"},
        }
        assert (await agent.request("session/prompt", params))["result"]["stopReason"] == "end_turn"
        said = [one["params"] for one in agent.messages if one.get("method") == "session/update"]
        assert {one["sessionId"] for one in said} == {session_id}
