"""v1 on the line: ids, envelopes, arrays, unknown keys, and strict mode."""

from __future__ import annotations

import re
from typing import Any

import pytest

from accord.agent import Agent, Turn
from tests.agent.raw_client import initialize_params, raw_client

CAMEL = re.compile(r"[a-z][a-zA-Z0-9]*|_meta")


def talking_agent(**options: Any) -> Agent:
    """An agent that uses most kinds of updates."""
    agent = Agent("talker", version="1", **options)
    agent.add_mode("ask", "Ask")
    agent.add_option("model", "Model", ["big", "small"], category="model")

    @agent.command("go", "Go", hint="where")
    async def go(turn: Turn, argument: str) -> None:
        await turn.say(argument)

    @agent.on_prompt
    async def answer(turn: Turn) -> None:
        await turn.think("hm")
        plan = await turn.plan("one", "two")
        await plan.complete(0)
        async with turn.tool_call("Look", kind="read", locations=["a.py"], raw_input={"a_b": 1}):
            pass
        await turn.usage(5, 10, cost=0.5)
        await turn.set_title("A title")
        await turn.say("yes")

    return agent


@pytest.mark.rule("V1-GEN-01", "V1-GEN-03", "V1-GEN-05", "V1-GEN-09", "V1-SESS-23")
async def test_every_message_of_a_session_has_the_right_shape() -> None:
    """Schema: the raw client holds each against the official one, unknown keys forbidden."""
    async with raw_client(talking_agent()) as client:
        session_id = await client.new_session()
        client.serve["session/request_permission"] = lambda _params: {
            "outcome": {"outcome": "cancelled"}
        }
        await client.prompt(session_id)
        await client.prompt(session_id, "/go home")
        load = {"sessionId": session_id, "cwd": "/tmp", "mcpServers": []}
        await client.result("session/load", load)
        await client.error("session/prompt", {"sessionId": "no", "prompt": []})
    assert len(client.frames) > 20
    for frame in client.frames:
        assert frame["jsonrpc"] == "2.0"
        assert "method" in frame or ("result" in frame) != ("error" in frame)
        if "method" in frame:
            assert frame["params"]["sessionId"] == session_id


@pytest.mark.rule("V1-GEN-08")
async def test_keys_are_camel_case_and_tags_snake_case() -> None:
    """Spec: conventions; raw tool data is the agent's own."""
    async with raw_client(talking_agent()) as client:
        await client.prompt(await client.new_session())

    def walk(value: Any) -> None:
        if isinstance(value, list):
            for item in value:
                walk(item)
        elif isinstance(value, dict):
            for key, item in value.items():
                assert CAMEL.fullmatch(key), key
                if key in ("sessionUpdate", "type", "kind", "status", "stopReason", "priority"):
                    assert item == item.lower()
                if key not in ("_meta", "rawInput", "rawOutput"):
                    walk(item)

    walk(client.frames)


@pytest.mark.rule("V1-GEN-02")
async def test_an_answer_repeats_the_id_in_value_and_type() -> None:
    """Schema: RequestId; the two sevens are two requests."""
    async with raw_client(talking_agent()) as client:
        for request_id in (7, "7", "abc", 0, -3, 2**53 + 1):
            client.start("session/list", {}, id_=request_id)
            assert "result" in await client.answer(request_id)


@pytest.mark.rule("V1-GEN-04", "V1-CREQ-01", "V1-EXT-05")
async def test_no_notification_is_ever_answered() -> None:
    """JSON-RPC: known, unknown and malformed ones alike."""
    async with raw_client(talking_agent()) as client:
        seen = len(client.frames)
        client.notify("session/cancel", {"sessionId": "nobody"})
        client.notify("session/cancel", {"sessionId": 5})
        client.notify("session/cancel")
        client.notify("_x/z", {"a": 1})
        client.notify("nonsense", [1])
        client.notify("$/foo", {})
        client.notify("$/cancel_request", {"requestId": "nope"})
        client.notify("$/cancel_request", {"requestId": {"a": 1}})
        await client.result("session/list", {})
        assert len(client.frames) == seen + 1


@pytest.mark.rule("V1-GEN-06")
@pytest.mark.parametrize("cwd", ["src", "./src", "", "~/src"])
async def test_a_relative_cwd_is_refused_with_its_path_and_reason(cwd: str) -> None:
    """Spec: all paths are absolute."""
    async with raw_client(talking_agent()) as client:
        error = await client.error("session/new", {"cwd": cwd, "mcpServers": []})
        assert error["code"] == -32602
        assert error["data"]["path"] == "$.cwd"
        assert "absolute" in error["data"]["reason"]
        assert (await client.result("session/list", {}))["sessions"] == []


@pytest.mark.rule("V1-GEN-13", "V1-SESS-08")
@pytest.mark.parametrize(
    ("key", "value", "path"),
    [
        ("mcpServers", "x", "$.mcpServers"),
        ("mcpServers", [{}], "$.mcpServers[0]"),
        ("mcpServers", [{"name": "n", "command": "/bin/x", "args": [], "env": 5}], "$.mcpServers"),
        ("additionalDirectories", "x", "$.additionalDirectories"),
        ("cwd", 5, "$.cwd"),
    ],
)
async def test_bad_params_are_refused_with_the_place(key: str, value: Any, path: str) -> None:
    """Schema: nothing is dropped where the schema does not say so."""
    async with raw_client(talking_agent()) as client:
        good: dict[str, Any] = {"cwd": "/tmp", "mcpServers": []}
        error = await client.error("session/new", good | {key: value})
        assert error["code"] == -32602
        assert error["data"]["path"].startswith(path)
        assert error["data"]["reason"]
        nulls = {"cwd": "/tmp", "mcpServers": None, "additionalDirectories": None}
        assert "result" in await client.request("session/new", nulls)


@pytest.mark.rule("V1-GEN-10", "V1-EXT-02")
async def test_unknown_keys_and_foreign_meta_change_nothing() -> None:
    """Spec: receivers ignore both; `_meta` never becomes an argument."""
    async with raw_client(talking_agent()) as client:
        meta = {"session_id": "EVIL", "sessionId": "EVIL", "self": 1, "traceparent": 5}
        new = {"cwd": "/tmp", "mcpServers": [], "surprise": {"a": [1]}, "_meta": meta}
        session_id = (await client.result("session/new", new))["sessionId"]
        prompt = {
            "sessionId": session_id,
            "prompt": [{"type": "text", "text": "x", "odd": 1, "_meta": {"y": 2}}],
            "_meta": meta,
        }
        assert (await client.result("session/prompt", prompt))["stopReason"] == "end_turn"
    told = {frame["params"]["sessionId"] for frame in client.frames if "method" in frame}
    assert told == {session_id}


@pytest.mark.rule("V1-EXT-01")
async def test_trace_context_keys_are_left_to_trace_context() -> None:
    """Spec: three keys of `_meta` are reserved; an agent of ours never fills them by itself."""
    agent = talking_agent()

    @agent.method("_own/method")
    async def own(params: dict[str, Any]) -> dict[str, Any]:
        return params

    async with raw_client(agent, initialize=False) as client:
        await client.result("initialize", initialize_params(1, {}))
        await client.prompt(await client.new_session())
    text = str(client.frames)
    assert "_meta" in text
    assert not any(key in text for key in ("traceparent", "tracestate", "baggage"))


@pytest.mark.rule("V1-GEN-14")
async def test_an_array_is_refused_whole() -> None:
    """SDK behaviour: one -32600 with a null id, and no effect of any entry."""
    async with raw_client(talking_agent()) as client:
        new = {"jsonrpc": "2.0", "id": 9, "method": "session/new"}
        new["params"] = {"cwd": "/tmp", "mcpServers": []}
        note = {"jsonrpc": "2.0", "method": "session/cancel", "params": {"sessionId": "x"}}
        for array in ([], [new], [note], [new, note]):
            client.send(array)
            refused = await client.take(lambda m: "error" in m)
            assert (refused["id"], refused["error"]["code"]) == (None, -32600)
        assert (await client.result("session/list", {}))["sessions"] == []


@pytest.mark.rule("V1-GEN-11")
async def test_an_error_code_nobody_knows_is_an_error_like_any_other() -> None:
    """Spec: generic errors; the handler can catch it and go on."""
    agent = Agent("reader", version="1")

    @agent.on_prompt
    async def answer(turn: Turn) -> None:
        try:
            await turn.read_text("a.txt")
        except Exception as error:
            await turn.say(f"{type(error).__name__} {getattr(error, 'code', None)}")

    async with raw_client(agent, capabilities={"fs": {"readTextFile": True}}) as client:
        turn = client.start_prompt(await client.new_session())
        client.refuse(await client.next("fs/read_text_file"), -32077, "odd")
        assert (await client.answer(turn))["result"] == {"stopReason": "end_turn"}
    assert client.text() == "RequestFailed -32077"


async def test_strict_mode_refuses_unknown_keys_and_unknown_variants() -> None:
    """Issue: for development; by default they are tolerated."""
    async with raw_client(talking_agent(strict=True)) as client:
        new = {"cwd": "/tmp", "mcpServers": []}
        error = await client.error("session/new", new | {"surprise": 1})
        assert error["code"] == -32602
        assert "surprise" in error["data"]["path"] + error["data"]["reason"]
        session_id = await client.new_session()
        block = {"type": "hologram", "text": "x"}
        error = await client.error("session/prompt", {"sessionId": session_id, "prompt": [block]})
        assert error["code"] == -32602
        assert await client.prompt(session_id) == {"stopReason": "end_turn"}


async def test_the_environment_turns_strict_mode_on(monkeypatch: pytest.MonkeyPatch) -> None:
    """Issue: `ACCORD_STRICT=1`."""
    monkeypatch.setenv("ACCORD_STRICT", "1")
    assert Agent("a", version="1")._definition.strict
    assert not Agent("a", version="1", strict=False)._definition.strict
    monkeypatch.delenv("ACCORD_STRICT")
    assert not Agent("a", version="1")._definition.strict
