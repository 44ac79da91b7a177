"""Wrong types in every field of every request and update that an agent may send to our client."""

from pathlib import Path
from typing import Any, get_args

import anyio
import pytest

from accord.schema import v1, v2
from accord.schema.codec import Invalid, encode
from accord.schema.method import Method
from accord.schema.v1 import methods as v1_methods
from accord.schema.v2 import methods as v2_methods
from tests.client.scripted_agent import ScriptedAgent, connected
from tests.faults.wrong_types import spoilt, whole

TABLES = ((1, v1_methods.CLIENT_METHODS), (2, v2_methods.CLIENT_METHODS))
REQUESTS = [
    pytest.param(version, method, id=f"v{version} {method.name}")
    for version, table in TABLES
    for method in table.values()
    if method.kind == "request"
]
UPDATES = [
    pytest.param(version, table["session/update"], id=f"v{version}") for version, table in TABLES
]


@pytest.mark.parametrize(("version", "method"), REQUESTS)
async def test_one_wrong_thing_in_a_request_is_named_or_tolerated(
    version: int, method: Method, tmp_path: Path
) -> None:
    """Issue 3 and 4: -32602 with path and reason; never -32603, never silence."""
    problems: list[str] = []
    done = anyio.Event()
    base = whole(method.params)
    for key, value in (("path", str(tmp_path / "file")), ("cwd", str(tmp_path))):
        if key in base:
            base[key] = value
    (tmp_path / "file").write_text("text\n")

    async def script(agent: ScriptedAgent) -> None:
        await agent.open_session()
        if "sessionId" in base:
            base["sessionId"] = agent.session_id
        for what, params in spoilt(base):
            answer = await agent.answer_to(agent.request(method.name, params))
            problem = judged(method, what, params, answer)
            if problem:
                problems.append(problem)
        done.set()

    async with connected(script, version, files=True, terminals=True, permissions=None) as (
        client,
        _,
    ):
        await client.new_session(tmp_path)
        await done.wait()
    assert problems[:10] == []


def judged(method: Method, what: str, params: Any, answer: dict[str, Any]) -> str | None:
    """What is wrong with an answer, if anything."""
    try:
        method.decode_params(encode(params))
        wrong = None
    except Invalid as invalid:
        wrong = invalid
    error = answer.get("error")
    if error is None:
        return None if wrong is None else f"{what}: taken, although {wrong}"
    if error["code"] == -32603:
        return f"{what}: {error}"
    if error["code"] == -32601:
        return None if error["data"]["method"] == method.name else f"{what}: {error}"
    data = error.get("data") or {}
    if wrong is None:
        return None
    if error["code"] == -32602 and data.get("path") == wrong.path and data.get("reason"):
        return None
    return f"{what}: {error}, not {wrong}"


@pytest.mark.parametrize(("version", "method"), UPDATES)
async def test_one_wrong_thing_in_an_update_never_ends_a_turn(version: int, method: Method) -> None:
    """Issue 3: wrong types in every field of every kind of update; what follows still arrives."""
    kinds = _kinds(version)
    assert len(kinds) > 10

    async def script(agent: ScriptedAgent) -> None:
        await agent.open_session()
        request = await agent.begin_turn()
        for kind in kinds:
            base = whole(kind)
            if base["sessionUpdate"] == "state_update":
                continue
            for _, update in spoilt(base):
                agent.update(update)
        agent.say("done", "last")
        agent.end_turn(request)

    async with connected(script, version) as (client, _):
        session = await client.new_session()
        reply = await session.ask("go")
        assert reply.stop_reason == "end_turn"
        assert reply.text.endswith("done")


def _kinds(version: int) -> list[Any]:
    union: Any = v1.SessionUpdate if version == 1 else v2.SessionUpdate
    return list(get_args(union))
