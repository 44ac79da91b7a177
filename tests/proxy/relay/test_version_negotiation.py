"""How a relay finds out what an agent speaks, and whom it starts again."""

import json
from collections.abc import Callable
from typing import Any

import anyio
import pytest

from accord.proxy.relay.translated_transport import Translated
from accord.transport.memory import memory_pair
from tests.proxy.relay.scripted import ANSWERS, INITIALIZE, End, Json, speaking, staged

PROMPT = [{"type": "text", "text": "go"}]


@pytest.fixture(params=["asyncio", "trio"])
def anyio_backend(request: pytest.FixtureRequest) -> str:
    """Both loops."""
    return str(request.param)


@pytest.mark.parametrize("inside", ["v1", "v2"])
@pytest.mark.parametrize("outside", ["v1", "v2", "draft"])
async def test_the_agents_version_is_found_out_with_one_start(outside: str, inside: str) -> None:
    """The draft's table 1.2: the keys of v1 and v2 together, judged by the shape of the answer."""
    found: list[str] = []
    async with staged(speaking(inside), found=found.append) as stage:
        answer = await stage.opened(outside)
        assert answer["result"]["protocolVersion"] == (2 if outside == "v2" else 1)
        assert found == [inside]
        assert len(stage.agents) == 1
        asked = stage.agent.frames[0]["params"]
        assert asked["protocolVersion"] == 2
        assert {"info", "capabilities", "clientCapabilities"} <= asked.keys()


async def test_an_agent_that_echoes_the_number_is_judged_by_its_shape() -> None:
    """Issue 5: the shape wins."""
    echo = {**ANSWERS["v1"], "protocolVersion": 2}
    found: list[str] = []
    async with staged(lambda start, message: {"result": echo}, found=found.append) as stage:
        await stage.opened("v2")
        assert found == ["v1"]


def refusing_until(version: str, code: int, data: Any = None) -> Callable[[int, Json], Json | None]:
    def serve(start: int, message: Json) -> Json | None:
        if message["method"] != "initialize":
            return None
        if start == 0:
            return {"error": {"code": code, "message": "no", "data": data}}
        return {"result": ANSWERS[version]}

    return serve


@pytest.mark.parametrize("serve", [speaking("draft"), refusing_until("draft", -32602)])
async def test_an_agent_of_the_draft_is_started_again_and_asked_in_its_form(serve: Any) -> None:
    """The draft's table 1.2: nothing but the draft's own keys."""
    async with staged(serve) as stage:
        answer = await stage.opened("v1")
        assert "agentCapabilities" in answer["result"]
        assert len(stage.agents) == 2
        asked = stage.agent.frames[0]["params"]
        assert asked.keys() <= {"protocolVersion", "clientInfo", "capabilities", "_meta"}
        assert asked["protocolVersion"] == 1


async def test_an_agent_without_version_2_that_says_so_is_asked_for_1() -> None:
    serve = refusing_until("v1", -32022, {"supported": [1]})
    async with staged(serve) as stage:
        assert (await stage.opened("v2"))["result"]["protocolVersion"] == 2
        assert stage.agent.frames[0]["params"]["protocolVersion"] == 1


@pytest.mark.parametrize(
    ("code", "data", "starts"),
    [(-32602, None, 2), (-32022, {"supported": [7]}, 1), (-32603, {"a": 1}, 1)],
)
async def test_an_agent_that_refuses_for_good_is_reported_with_its_first_error(
    code: int, data: Any, starts: int
) -> None:
    """The draft's table 1.2: if that one is refused too, the first error is reported."""

    def serve(start: int, message: Json) -> Json | None:
        return {"error": {"code": code, "message": f"start {start}", "data": data}}

    async with staged(serve) as stage:
        error = (await stage.opened("v1"))["error"]
        assert (error["code"], error["message"]) == (code, "start 0")
        assert len(stage.agents) == starts


@pytest.mark.parametrize("version", [0, 7])
async def test_a_version_that_nobody_has_is_reported(version: int) -> None:
    odd = {**ANSWERS["v1"], "protocolVersion": version}
    async with staged(lambda start, message: {"result": odd}) as stage:
        assert (await stage.opened("v1"))["error"]["code"] == -32022


async def test_an_answer_that_cannot_be_read_is_reported() -> None:
    odd = {"protocolVersion": 2, "info": {"name": 5}}
    async with staged(lambda start, message: {"result": odd}) as stage:
        error = (await stage.opened("v1"))["error"]
        assert error["code"] == -32603
        assert "cannot be read" in error["message"]


async def test_an_agent_that_ends_at_once_is_reported_and_may_be_tried_again() -> None:
    """Nothing hangs: the client is told why, and may ask once more."""
    async with staged(lambda start, message: None) as stage:
        stage.client.send({"id": 0, "method": "initialize", "params": INITIALIZE["v1"]})
        await anyio.wait_all_tasks_blocked()
        new = {"cwd": "/", "mcpServers": []}
        stage.client.send({"id": 1, "method": "session/new", "params": new})
        await stage.agent.transport.aclose()
        assert "the agent is gone" in (await stage.client.answer(0))["error"]["message"]
        assert (await stage.client.answer(1))["error"]["code"] == -32600
        stage.client.send({"id": 2, "method": "initialize", "params": INITIALIZE["v1"]})
        await anyio.wait_all_tasks_blocked()
        asked = await stage.agent.method("initialize")
        stage.agent.send({"id": asked["id"], "result": ANSWERS["v1"]})
        assert "result" in await stage.client.answer(2)
        assert len(stage.agents) == 2


@pytest.mark.parametrize(
    ("to", "params", "code"),
    [
        ("v1", INITIALIZE["draft"], -32602),
        ("draft", INITIALIZE["v1"], -32602),
        (None, {"protocolVersion": "x"}, -32602),
        (None, {"protocolVersion": 2, "info": {"name": 5}}, -32602),
    ],
)
async def test_a_client_of_another_version_is_told_so(to: Any, params: Json, code: int) -> None:
    """Issue 5: the error that the tables name, and no agent is started for it."""
    async with staged(speaking("v1"), to=to) as stage:
        answer = await stage.client.ask(0, "initialize", params)
        assert answer["error"]["code"] == code
        assert stage.agents == []


async def test_a_version_that_was_told_is_not_asked_for() -> None:
    async with staged(speaking("v1"), speaks="v1", to="v1") as stage:
        await stage.client.ask(0, "initialize", {**INITIALIZE["v1"], "info": {"a": 1}})
        assert stage.agent.frames[0]["params"].keys() <= INITIALIZE["v1"].keys()


async def test_a_transport_that_cannot_be_made_again_is_asked_again() -> None:
    """As a library: one class that wraps a transport."""
    ours, theirs = memory_pair()
    async with anyio.create_task_group() as tasks:
        agent = End(theirs)
        answers = iter([{"error": {"code": -32602, "message": "no"}}, {"result": ANSWERS["draft"]}])
        agent.on_request = lambda message: next(answers)
        await theirs.start(agent, tasks)
        translated = Translated(ours)
        client = End(translated)
        await translated.start(client, tasks)
        answer = await client.ask(0, "initialize", INITIALIZE["v1"])
        assert "agentCapabilities" in answer["result"]
        await translated.aclose()
        await theirs.aclose()
        tasks.cancel_scope.cancel()


async def test_an_agent_that_asks_before_it_has_answered_initialize_is_refused() -> None:
    """Nobody waits for ever: there is no version yet in which it could be passed on."""
    async with staged(lambda start, message: None) as stage:
        stage.client.send({"id": 0, "method": "initialize", "params": INITIALIZE["v1"]})
        while not stage.agents:
            await anyio.wait_all_tasks_blocked()
        asked = await stage.agent.method("initialize")
        stage.agent.send({"id": "early", "method": "_ask/first", "params": {}})
        refused = await stage.agent.answer("early")
        assert refused["error"]["code"] == -32600
        stage.agent.send({"id": asked["id"], "result": ANSWERS["v1"]})
        assert "result" in await stage.client.answer(0)


@pytest.mark.parametrize(("outside", "inside"), [("v1", "v1"), ("v2", "v1"), ("v1", "v2")])
async def test_what_an_agent_says_right_behind_its_answer_is_not_lost(
    outside: str, inside: str
) -> None:
    """Issue 5: nothing is lost silently; one write may hold the answer and more."""
    async with staged(lambda start, message: None) as stage:
        stage.client.send({"id": 0, "method": "initialize", "params": INITIALIZE[outside]})
        while not stage.agents:
            await anyio.wait_all_tasks_blocked()
        asked = await stage.agent.method("initialize")
        said = [
            {"jsonrpc": "2.0", "id": asked["id"], "result": ANSWERS[inside]},
            {"jsonrpc": "2.0", "method": "_vendor/hello", "params": {"n": 1}},
            {"jsonrpc": "2.0", "id": 5, "method": "_vendor/ask", "params": {}},
        ]
        stage.agent.send_bytes(b"".join(json.dumps(one).encode() + b"\n" for one in said))
        assert "result" in await stage.client.answer(0)
        assert (await stage.client.method("_vendor/hello"))["params"] == {"n": 1}
        passed = await stage.client.method("_vendor/ask")
        stage.client.send({"id": passed["id"], "result": {"ok": True}})
        assert (await stage.agent.answer(5))["result"] == {"ok": True}
