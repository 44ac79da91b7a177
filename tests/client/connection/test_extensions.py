"""Methods and notifications beyond the protocol, both ways."""

from __future__ import annotations

from typing import Any

import anyio
import pytest

from accord.client import Extensions
from accord.errors import LocalProtocolError, MethodMissing, RemoteProtocolError, RequestError
from accord.schema.v2 import TextContent
from tests.client.scripted_agent import V1_ANSWER, ScriptedAgent, connected, playing_with

VERSIONS = pytest.mark.parametrize("version", [1, 2])


@VERSIONS
@pytest.mark.rule("V1-EXT-04", "V1-EXT-05")
async def test_registered_methods_are_advertised_typed_and_answered(version: int) -> None:
    """D1 extensibility: custom requests are answered, unknown ones -32601."""
    extensions = Extensions()
    told: list[Any] = []
    all_told = anyio.Event()

    @extensions.method("_x/shout")
    async def shout(params: TextContent) -> dict[str, str]:
        return {"text": params.text.upper()}

    @extensions.method("_x/plain")
    def plain(params: dict[str, int]) -> Any:
        if not params:
            raise RequestError.invalid_params("nothing given")
        return sum(params.values())

    @extensions.notification("_x/told")
    def tell(params: dict[str, int]) -> None:
        told.append(params)

    @extensions.notification("_x/slowly")
    async def tell_slowly(params: dict[str, int]) -> None:
        told.append(params)
        all_told.set()
        raise KeyError("a mistake of the program")

    async def script(agent: ScriptedAgent) -> None:
        key = "clientCapabilities" if version == 1 else "capabilities"
        meta = agent.received[0]["params"][key]["_meta"]
        assert "_x/shout" in meta["accord.extensions"]["methods"]
        calls: list[tuple[str, Any, Any]] = [
            ("_x/shout", {"type": "text", "text": "hi"}, {"text": "HI"}),
            ("_x/plain", {"a": 1, "b": 2}, 3),
        ]
        for method, params, result in calls:
            assert (await agent.answer_to(agent.request(method, params)))["result"] == result
        refused: list[tuple[str, Any, int]] = [
            ("_x/shout", {"type": "text"}, -32602),
            ("_x/plain", None, -32602),
            ("_x/none", {}, -32601),
        ]
        for method, params, code in refused:
            answer = await agent.answer_to(agent.request(method, params))
            assert answer["error"]["code"] == code
        for method in ("_x/told", "_x/unknown", "_x/told", "_x/slowly"):
            agent.write({"jsonrpc": "2.0", "method": method, "params": {"n": 1}})
        agent.write({"jsonrpc": "2.0", "method": "_x/told", "params": {"n": "bad"}})

    async with connected(script, version, extensions=extensions):
        await all_told.wait()
        await anyio.wait_all_tasks_blocked()
        assert told == [{"n": 1}, {"n": 1}, {"n": 1}]


async def test_the_agents_extensions_are_readable_and_callable() -> None:
    """Issue 2: the peer's are readable."""
    meta = {"accord.extensions": {"methods": ["_a/b", 5]}}
    answer = {**V1_ANSWER, "agentCapabilities": {"_meta": meta}}

    async def script(agent: ScriptedAgent) -> None:
        request = await agent.expect("_a/b")
        assert request["params"] == {"x": 1}
        agent.result(request, {"type": "text", "text": "y"})
        agent.result(await agent.expect("_a/b"), {"type": "text", "text": "z"})
        agent.result(await agent.expect("_a/b"), 5)
        agent.error(await agent.expect("_a/c"), -32601)
        note = await agent.expect("_a/note")
        assert (note["params"], "id" in note) == ({}, False)

    async with playing_with(answer, script) as (client, _):
        assert client.extensions == {"_a/b"}
        assert await client.call_extension("_a/b", {"x": 1}) == {"type": "text", "text": "y"}
        assert await client.call_extension("_a/b", result=TextContent) == TextContent(text="z")
        with pytest.raises(RemoteProtocolError, match="_a/b is invalid"):
            await client.call_extension("_a/b", result=TextContent)
        with pytest.raises(MethodMissing):
            await client.call_extension("_a/c")
        await client.notify_extension("_a/note")
        await anyio.wait_all_tasks_blocked()


@pytest.mark.parametrize("meta", [None, 5, {"accord.extensions": 5}, {"accord.extensions": {}}])
async def test_odd_advertisements_say_nothing(meta: Any) -> None:
    """N1 _meta: no assumptions about foreign keys."""

    async def script(agent: ScriptedAgent) -> None:
        pass

    answer = {**V1_ANSWER, "agentCapabilities": {"_meta": meta}}
    async with playing_with(answer, script) as (client, _):
        assert client.extensions == frozenset()


async def test_the_type_of_a_result_is_the_type_of_the_answer() -> None:
    """Ours: a type checker knows what came back; this is checked by reading it."""

    async def script(agent: ScriptedAgent) -> None:
        for _ in range(3):
            agent.result(await agent.expect("_count"), {"a": 1})

    async with connected(script) as (client, _):
        counts: dict[str, int] = await client.call_extension("_count", {"x": 1}, dict[str, int])
        again: dict[str, int] = await client.call_extension("_count", result=dict[str, int])
        plain = await client.call_extension("_count")
        assert counts == again == plain == {"a": 1}


async def test_names_without_an_underscore_are_refused() -> None:
    """D1 extensibility: the others belong to the protocol."""

    async def script(agent: ScriptedAgent) -> None:
        pass

    extensions = Extensions()
    extensions.method("_mine")(lambda params: None)
    with pytest.raises(LocalProtocolError, match="already"):
        extensions.notification("_mine")
    async with connected(script) as (client, agent):
        for name in ("session/new", "_", ""):
            with pytest.raises(LocalProtocolError, match="starts with"):
                extensions.method(name)
            with pytest.raises(LocalProtocolError):
                await client.call_extension(name)
            with pytest.raises(LocalProtocolError):
                await client.notify_extension(name)
        assert len(agent.received) == 1
