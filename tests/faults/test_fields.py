"""Wrong types in every field of every request: refused with path and reason, or tolerated.

Made from the method tables, so a method that is added is tried too.
"""

from typing import Any

import pytest

from accord import Agent, Turn
from accord.schema.codec import Invalid, encode
from accord.schema.method import Method
from accord.schema.v1 import methods as v1_methods
from accord.schema.v2 import methods as v2_methods
from tests.agent.raw_client import RawClient, raw_client
from tests.faults.wrong_types import spoilt, whole

REQUESTS = [
    pytest.param(version, method, id=f"v{version} {method.name}")
    for version, table in ((1, v1_methods.AGENT_METHODS), (2, v2_methods.AGENT_METHODS))
    for method in table.values()
    if method.kind == "request"
]


def make_agent() -> Agent:
    """An agent that has all there is, so that every method goes as far as it can."""
    agent = Agent(
        "fields",
        version="1",
        accepts=["image", "audio", "embedded_context"],
        mcp=["http", "sse", "acp"],
        unstable=True,
        strict=False,
    )
    agent.add_mode("text", "Mode")
    agent.add_option("model", "Model", ["text", "other"], category="model")
    agent.add_switch("fast", "Fast")
    agent.add_auth_method("text", "Login", required=False)

    @agent.on_prompt
    async def answer(turn: Turn) -> None:
        await turn.say("hi")

    return agent


def expected(method: Method, params: Any) -> Invalid | None:
    """What the types themselves say: nothing, or what is wrong and where."""
    try:
        method.decode_params(encode(params))
    except Invalid as invalid:
        return invalid
    return None


@pytest.mark.parametrize(("version", "method"), REQUESTS)
async def test_one_wrong_thing_in_a_request_is_named_or_tolerated(
    version: int, method: Method
) -> None:
    """Issue 3 and 4: -32602 with path and reason; never -32603, never silence."""
    base = whole(method.params)
    problems: list[str] = []
    async with raw_client(make_agent(), version=version, validate=False) as client:
        if "sessionId" in base:
            base["sessionId"] = await client.new_session()
        # Of the stable methods none may be missing, or this test would show nothing.
        code = (await client.request(method.name, base)).get("error", {}).get("code")
        assert method.unstable or code != -32601, method.name
        for what, params in spoilt(base):
            problem = await tried(client, method, what, params)
            if problem:
                problems.append(problem)
    assert problems[:10] == []


async def tried(client: RawClient, method: Method, what: str, params: Any) -> str | None:
    """Send it; what is wrong with the answer, if anything."""
    answer = await client.request(method.name, params)
    client.frames.clear()
    client.unread.clear()
    wrong = expected(method, params)
    error = answer.get("error")
    if error is None:
        return None if wrong is None else f"{what}: taken, although {wrong}"
    if error["code"] == -32603:
        return f"{what}: {error}"
    if error["code"] == -32601:
        return None if error["data"]["method"] == method.name else f"{what}: {error}"
    if wrong is None or method.name == "initialize":
        return None
    data = error.get("data", {})
    if error["code"] == -32602 and data.get("path") and data.get("reason"):
        return None if data["path"] == wrong.path else f"{what}: {error}, not {wrong}"
    return f"{what}: {error}, not {wrong}"


@pytest.mark.parametrize("params", [5, "text", True, 1.5, [], [1], None])
@pytest.mark.parametrize("version", [1, 2])
async def test_params_that_are_no_object_are_refused(version: int, params: Any) -> None:
    """JSON-RPC: params are an object here; null and nothing are read as none."""
    async with raw_client(make_agent(), version=version, validate=False) as client:
        client.send({"jsonrpc": "2.0", "id": "x", "method": "session/new", "params": params})
        error = (await client.answer("x"))["error"]
        assert error["code"] in (-32600, -32602)
        client.send({"jsonrpc": "2.0", "id": "y", "method": "session/list", "params": None})
        assert "result" in await client.answer("y")
        client.send({"jsonrpc": "2.0", "id": "z", "method": "session/list"})
        assert "result" in await client.answer("z")


def test_the_tables_hold_what_the_agent_serves() -> None:
    """Ours: the list above is not empty by accident."""
    names = {param.values[1].name for param in REQUESTS if isinstance(param.values[1], Method)}
    assert {"initialize", "session/new", "session/prompt", "session/set_mode"} <= names
