"""A chain of proxies from outside and from inside: routing, initialize, death, larger chains."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import anyio
import pytest
from anyio.abc import TaskGroup

from accord.proxy import Proxy
from accord.proxy.chain.component import RESTARTS_MAX, in_process
from accord.proxy.chain.conductor import Component, OnDeath, Outcome, conduct
from accord.transport.transport import Transport
from tests.proxy.wires import Json, Wire, settled, wire

pytestmark = pytest.mark.anyio

INIT = {"protocolVersion": 1, "clientCapabilities": {}}
ABLE = {"protocolVersion": 1, "agentCapabilities": {"x": 1}}


class Raw:
    """Components whose wires a test has in its own hands; each start makes a new wire."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.wires: list[Wire] = []

    @property
    def component(self) -> Component:
        return Component(self.name, self._connect)

    def _connect(self, tasks: TaskGroup) -> Transport:
        from accord.transport.memory import memory_pair

        mine, other = memory_pair()
        made = Wire(mine)
        tasks.start_soon(mine.start, made, tasks)
        self.wires.append(made)
        return other

    async def now(self, count: int = 1) -> Wire:
        await settled(lambda: len(self.wires) >= count)
        return self.wires[count - 1]


def adding(name: str) -> Proxy:
    """A proxy that leaves its name on requests and on updates."""
    proxy = Proxy(name)

    @proxy.on_request("session/prompt")
    def prompt(message: Any) -> None:
        message.params.setdefault("way", []).append(name)

    @proxy.on_notification("session/update")
    def update(message: Any) -> None:
        message.params.setdefault("way", []).append(name)

    return proxy


@asynccontextmanager
async def chain(
    *components: Component, on_death: OnDeath = "fail", has_agent: bool = True
) -> AsyncIterator[tuple[Wire, list[Outcome]]]:
    async with anyio.create_task_group() as tasks:
        client, other = await wire(tasks)
        outcomes: list[Outcome] = []

        async def serve() -> None:
            outcomes.append(
                await conduct(components, other, on_death=on_death, has_agent=has_agent)
            )

        tasks.start_soon(serve)
        yield client, outcomes
        tasks.cancel_scope.cancel()


async def initialized(client: Wire, agent: Wire) -> Json:
    """Initialize through the chain; what the agent was sent."""
    client.request("init", "initialize", INIT)
    asked = await agent.hear()
    agent.answer(asked["id"], ABLE)
    assert await client.hear() == {"jsonrpc": "2.0", "id": "init", "result": ABLE}
    return asked


@pytest.mark.rule("V1-PROXY-01", "V1-PROXY-02", "V1-PROXY-03")
async def test_components_with_a_successor_are_initialized_as_proxies_the_last_as_an_agent() -> (
    None
):
    """The protocol: the method tells a component its place."""
    one, two, agent = Raw("one"), Raw("two"), Raw("agent")
    async with chain(one.component, two.component, agent.component) as (client, _):
        client.request(1, "initialize", INIT)
        answers = []
        for raw in (one, two):
            proxy = await raw.now()
            asked = await proxy.hear()
            assert (asked["method"], asked["params"]) == ("proxy/initialize", INIT)
            proxy.request("s", "proxy/successor", {"method": "initialize", "params": INIT})
            answers.append((proxy, asked["id"]))
        last = await agent.now()
        asked = await last.hear()
        assert (asked["method"], asked["params"]) == ("initialize", INIT)
        odd = {**ABLE, "odd": {"n": [1.5, None]}}
        last.answer(asked["id"], odd)
        for proxy, request_id in reversed(answers):
            assert await proxy.hear() == {"jsonrpc": "2.0", "id": "s", "result": odd}
            proxy.answer(request_id, odd)
        assert await client.hear() == {"jsonrpc": "2.0", "id": 1, "result": odd}


async def test_messages_travel_the_whole_chain_both_ways() -> None:
    """Issue 5: prompt, update, permission and file requests, cancellation."""
    agent = Raw("agent")
    parts = [in_process(lambda name=name: adding(name)) for name in "abc"]  # type: ignore[misc]
    async with chain(*parts, agent.component) as (client, _):
        last = await agent.now()
        assert (await initialized(client, last))["method"] == "initialize"
        client.request("p", "session/prompt", {"sessionId": "s"})
        prompt = await last.hear()
        assert prompt["params"] == {"sessionId": "s", "way": ["a", "b", "c"]}
        last.notify("session/update", {"sessionId": "s"})
        assert (await client.hear())["params"] == {"sessionId": "s", "way": ["c", "b", "a"]}
        for method in ("session/request_permission", "fs/write_text_file", "terminal/create"):
            last.request(method, method, {"of": method})
            asked = await client.hear()
            assert (asked["method"], asked["params"]) == (method, {"of": method})
            client.answer(asked["id"], {"to": method})
            answer = await last.hear()
            assert answer == {"jsonrpc": "2.0", "id": method, "result": {"to": method}}
        client.notify("$/cancel_request", {"requestId": "p"})
        cancel = await last.hear()
        assert cancel["method"] == "$/cancel_request"
        assert cancel["params"] == {"requestId": prompt["id"]}
        client.notify("session/cancel", {"sessionId": "s"})
        assert (await last.hear())["method"] == "session/cancel"
        last.answer(prompt["id"], {"stopReason": "cancelled"})
        assert (await client.hear())["result"] == {"stopReason": "cancelled"}


async def test_a_proxy_of_the_rust_sdk_is_spoken_to_in_its_words() -> None:
    """The Rust SDK 2.0 puts an underscore before the names."""
    one, agent = Raw("rusty"), Raw("agent")
    async with chain(one.component, agent.component) as (client, _):
        client.request(1, "initialize", INIT)
        proxy = await one.now()
        asked = await proxy.hear()
        error = {"code": -32601, "message": "Method not found"}
        proxy.say({"id": asked["id"], "error": error})
        asked = await proxy.hear()
        assert (asked["method"], asked["params"]) == ("_proxy/initialize", INIT)
        proxy.request(1, "_proxy/successor", {"method": "initialize", "params": INIT})
        last = await agent.now()
        last.answer((await last.hear())["id"], ABLE)
        assert (await proxy.hear())["result"] == ABLE
        proxy.answer(asked["id"], ABLE)
        assert (await client.hear())["result"] == ABLE
        last.notify("session/update", {"n": 1})
        heard = await proxy.hear()
        assert heard["method"] == "_proxy/successor"
        assert heard["params"] == {"method": "session/update", "params": {"n": 1}}


async def test_a_component_that_is_no_proxy_is_named() -> None:
    """Ours: an agent in the middle of a chain is a mistake that has a sentence."""
    one, agent = Raw("an agent"), Raw("agent")
    async with chain(one.component, agent.component) as (client, _):
        client.request(1, "initialize", INIT)
        proxy = await one.now()
        for _ in range(2):
            asked = await proxy.hear()
            proxy.say({"id": asked["id"], "error": {"code": -32601, "message": "no"}})
        error = (await client.hear())["error"]
        assert "an agent is not a proxy" in error["message"]
        assert error["data"] == {"component": "an agent"}


async def test_a_component_that_dies_ends_its_open_requests_and_the_chain() -> None:
    """Issue 5: a clear error that names the hop."""
    one, agent = Raw("the middle"), Raw("agent")
    first = in_process(lambda: adding("a"))
    async with chain(first, one.component, agent.component) as (client, outcomes):
        client.request(1, "initialize", INIT)
        middle = await one.now()
        await middle.hear()
        await middle.transport.aclose()
        error = (await client.hear())["error"]
        assert "the middle is gone" in error["message"]
        assert error["data"]["component"] == "the middle"
        await client.close()
        await settled(lambda: outcomes)
        assert outcomes[0].failed is not None
        assert "the middle is gone" in outcomes[0].failed


async def test_what_the_dead_one_had_asked_for_is_withdrawn_behind_it() -> None:
    """Ours: nobody works on for somebody who is gone."""
    one, agent = Raw("one"), Raw("agent")
    async with chain(one.component, agent.component, on_death="bypass") as (client, _):
        proxy, last = await one.now(), await agent.now()
        await _through(client, proxy, last)
        client.request("p", "session/prompt", {})
        await proxy.hear()
        proxy.request(7, "proxy/successor", {"method": "session/prompt", "params": {}})
        prompt = await last.hear()
        await proxy.transport.aclose()
        assert "one is gone" in (await client.hear())["error"]["message"]
        cancel = await last.hear()
        assert cancel["params"] == {"requestId": prompt["id"]}
        last.say({"id": prompt["id"], "error": {"code": -32800, "message": "cancelled"}})
        # What comes after goes around it.
        client.request("q", "session/prompt", {"n": 2})
        prompt = await last.hear()
        assert (prompt["method"], prompt["params"]) == ("session/prompt", {"n": 2})
        last.notify("session/update", {"n": 3})
        assert (await client.hear())["params"] == {"n": 3}


async def _through(client: Wire, proxy: Wire, last: Wire) -> None:
    """Initialize a chain of one raw proxy and a raw agent."""
    client.request(0, "initialize", INIT)
    asked = await proxy.hear()
    proxy.request("i", "proxy/successor", {"method": "initialize", "params": INIT})
    last.answer((await last.hear())["id"], ABLE)
    await proxy.hear()
    proxy.answer(asked["id"], ABLE)
    await client.hear()


async def test_a_component_that_dies_may_be_started_again() -> None:
    """Issue 5: if told so, it is restarted; what comes meanwhile waits."""
    one, agent = Raw("one"), Raw("agent")
    async with chain(one.component, agent.component, on_death="restart") as (client, outcomes):
        last = await agent.now()
        await _through(client, await one.now(), last)
        for count in range(2, RESTARTS_MAX + 2):
            await one.wires[-1].transport.aclose()
            proxy = await one.now(count)
            asked = await proxy.hear()
            assert (asked["method"], asked["params"]) == ("proxy/initialize", INIT)
            client.notify("session/cancel", {"n": count})
            proxy.request("i", "proxy/successor", {"method": "initialize", "params": INIT})
            # The agent is not asked a second time.
            assert (await proxy.hear())["result"] == ABLE
            proxy.answer(asked["id"], ABLE)
            assert (await proxy.hear())["params"] == {"n": count}
        assert not last.unheard()
        await one.wires[-1].transport.aclose()
        await settled(lambda: outcomes)
        assert "after 5 restarts" in (outcomes[0].failed or "")


async def test_an_agent_that_dies_may_be_started_again_and_never_bypassed() -> None:
    """Issue 5: the agent is a hop too; a chain without one is none."""
    agent = Raw("agent")
    async with chain(agent.component, on_death="restart") as (client, _):
        await initialized(client, await agent.now())
        client.request("p", "session/prompt", {})
        await agent.wires[0].hear()
        await agent.wires[0].transport.aclose()
        assert "agent is gone" in (await client.hear())["error"]["message"]
        again = await agent.now(2)
        asked = await again.hear()
        assert asked["method"] == "initialize"
        again.answer(asked["id"], ABLE)
        client.request("q", "session/prompt", {})
        assert (await again.hear())["method"] == "session/prompt"
    agent = Raw("agent")
    async with chain(agent.component, on_death="bypass") as (client, outcomes):
        await initialized(client, await agent.now())
        await agent.wires[0].transport.aclose()
        await settled(lambda: outcomes)
        assert "agent is gone" in (outcomes[0].failed or "")


@pytest.mark.parametrize("prefix", ["", "_"])
async def test_a_chain_may_be_a_proxy_in_a_larger_one(prefix: str) -> None:
    """Issue 5: itself usable as a proxy."""
    parts = [in_process(lambda name=name: adding(name)) for name in "ab"]  # type: ignore[misc]
    async with chain(*parts, has_agent=False, on_death="bypass") as (outer, _):
        successor = f"{prefix}proxy/successor"
        outer.request("i", f"{prefix}proxy/initialize", INIT)
        asked = await outer.hear()
        assert asked["method"] == successor
        assert asked["params"] == {"method": "initialize", "params": INIT}
        outer.answer(asked["id"], ABLE)
        assert await outer.hear() == {"jsonrpc": "2.0", "id": "i", "result": ABLE}
        outer.request("p", "session/prompt", {})
        asked = await outer.hear()
        assert asked["params"] == {"method": "session/prompt", "params": {"way": ["a", "b"]}}
        outer.notify("$/cancel_request", {"requestId": "p"})
        assert (await outer.hear())["params"] == {"requestId": asked["id"]}
        outer.notify(successor, {"method": "session/update", "params": {}})
        heard = await outer.hear()
        assert (heard["method"], heard["params"]) == ("session/update", {"way": ["b", "a"]})
        outer.request("f", successor, {"method": "fs/read_text_file", "params": {}})
        asked = await outer.hear()
        assert asked["method"] == "fs/read_text_file"
        outer.answer(asked["id"], {"content": ""})
        assert await outer.hear() == {"jsonrpc": "2.0", "id": "f", "result": {"content": ""}}


async def test_a_chain_without_an_agent_says_so_when_it_is_taken_for_one() -> None:
    """Ours: a clear error instead of silence."""
    async with chain(in_process(lambda: adding("a")), has_agent=False) as (client, _):
        client.request(1, "initialize", INIT)
        assert "no agent" in (await client.hear())["error"]["message"]


async def test_the_agent_of_a_chain_has_no_successor() -> None:
    """Ours: a wrapped request of the last one is refused, not lost."""
    agent = Raw("agent")
    async with chain(agent.component) as (client, _):
        last = await agent.now()
        await initialized(client, last)
        last.request(1, "proxy/successor", {"method": "session/prompt", "params": {}})
        assert (await last.hear())["error"]["code"] == -32601


async def test_proxies_may_say_their_last_word_when_the_agent_has_gone() -> None:
    """Ours: what one keeps back is told, through those before it."""

    def last(name: str) -> Proxy:
        proxy = adding(name)

        @proxy.on_end()
        def tell(client: Any) -> None:
            client.notify("session/update", {"of": name})

        return proxy

    agent = Raw("agent")
    proxies = in_process(lambda: last("one")), in_process(lambda: last("two"))
    async with chain(*proxies, agent.component) as (client, outcomes):
        await initialized(client, await agent.now())
        await agent.wires[0].transport.aclose()
        heard = [(await client.hear())["params"] for _ in range(2)]
        assert heard == [{"of": "two", "way": ["one"]}, {"of": "one"}]
        await settled(lambda: outcomes)
    assert outcomes[0].failed is not None


@pytest.mark.parametrize("steps", range(12))
async def test_what_is_asked_while_a_chain_ends_is_answered_with_the_reason(steps: int) -> None:
    """Ours: a proxy that ends with its chain is not the one that is to blame."""
    agent = Raw("agent")
    async with chain(in_process(lambda: adding("one")), agent.component) as (client, outcomes):
        await (await agent.now()).transport.aclose()
        for _ in range(steps):
            await anyio.lowlevel.checkpoint()
        client.request("i", "initialize", INIT)
        await settled(lambda: outcomes)
        errors = [one["error"] for one in client.unheard()]
        assert all("agent is gone" in one["message"] for one in errors)
        assert all(one["data"]["component"] == "agent" for one in errors)
    assert "agent is gone" in (outcomes[0].failed or "")


async def test_a_question_of_an_agent_that_dies_is_withdrawn_once() -> None:
    """Ours: also where every component withdraws it, the agent's end and its own."""
    agent = Raw("agent")
    proxies = [in_process(lambda name=name: adding(name)) for name in "abc"]  # type: ignore[misc]
    async with chain(*proxies, agent.component) as (client, outcomes):
        last = await agent.now()
        await initialized(client, last)
        last.request(1, "session/request_permission", {})
        asked = await client.hear()
        await last.transport.aclose()
        await settled(lambda: outcomes)
        heard = [(one["method"], one["params"]) for one in client.unheard()]
        assert heard == [("$/cancel_request", {"requestId": asked["id"]})]
