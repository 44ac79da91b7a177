"""Places of a chain whose component comes back, does not come back, or is left out."""

import pytest

from accord.errors import SpawnFailed
from accord.machine.own_command_line import own_command
from accord.proxy.chain.component import program
from accord.proxy.chain.conductor import Component
from tests.proxy.chain.test_conductor import ABLE, INIT, Raw, _through, chain
from tests.proxy.wires import settled

pytestmark = pytest.mark.anyio


async def test_when_all_of_a_chain_is_bypassed_its_neighbours_speak_to_each_other() -> None:
    """Issue 5: bypassed, also as a proxy in a larger chain."""
    one = Raw("one")
    async with chain(one.component, has_agent=False, on_death="bypass") as (outer, _):
        outer.request("i", "proxy/initialize", INIT)
        proxy = await one.now()
        asked = await proxy.hear()
        proxy.request(1, "proxy/successor", {"method": "initialize", "params": INIT})
        outer.answer((await outer.hear())["id"], ABLE)
        await proxy.hear()
        proxy.answer(asked["id"], ABLE)
        await outer.hear()
        await proxy.transport.aclose()
        await settled(lambda: proxy.end is not None)
        outer.request("p", "session/prompt", {"n": 1})
        asked = await outer.hear()
        assert asked["method"] == "proxy/successor"
        assert asked["params"] == {"method": "session/prompt", "params": {"n": 1}}
        outer.answer(asked["id"], {})
        assert (await outer.hear())["id"] == "p"
        outer.notify("proxy/successor", {"method": "session/update", "params": {"n": 2}})
        heard = await outer.hear()
        assert (heard["method"], heard["params"]) == ("session/update", {"n": 2})


async def test_messages_of_both_sides_wait_for_a_component_that_is_started_again() -> None:
    """Issue 5: restarted for what comes after; nothing of that is lost."""
    one, agent = Raw("one"), Raw("agent")
    async with chain(one.component, agent.component, on_death="restart") as (client, _):
        last = await agent.now()
        await _through(client, await one.now(), last)
        await one.wires[0].transport.aclose()
        proxy = await one.now(2)
        asked = await proxy.hear()
        last.notify("session/update", {"n": 1})
        client.request("p", "session/prompt", {})
        last.request("f", "fs/read_text_file", {})
        error = {"code": -32601, "message": "Method not found"}
        proxy.say({"id": asked["id"], "error": error})
        asked = await proxy.hear()
        assert asked["method"] == "_proxy/initialize"
        proxy.answer(asked["id"], ABLE)
        heard = [await proxy.hear() for _ in range(3)]
        assert sorted(one["method"] for one in heard) == [
            "_proxy/successor",
            "_proxy/successor",
            "session/prompt",
        ]
        inner = [one["params"]["method"] for one in heard if one["method"] != "session/prompt"]
        assert inner == ["session/update", "fs/read_text_file"]


async def test_a_component_that_refuses_after_its_restart_ends_the_chain() -> None:
    """Ours: what cannot be helped has a sentence."""
    one, agent = Raw("one"), Raw("agent")
    async with chain(one.component, agent.component, on_death="restart") as (client, outcomes):
        await _through(client, await one.now(), await agent.now())
        await one.wires[0].transport.aclose()
        proxy = await one.now(2)
        asked = await proxy.hear()
        proxy.say({"id": asked["id"], "error": {"code": -32000, "message": "not again"}})
        await settled(lambda: outcomes)
        assert outcomes[0].failed == "one was restarted and refused to initialize: not again"


async def test_a_component_that_cannot_be_started_again_ends_the_chain() -> None:
    """Ours: the same for a program that has been removed meanwhile."""
    one, agent = Raw("one"), Raw("agent")

    def connect(tasks: object) -> object:
        if one.wires:
            raise SpawnFailed("cannot start 'one': no such program")
        return one.component.connect(tasks)  # type: ignore[arg-type]

    mortal = Component("one", connect)  # type: ignore[arg-type]
    async with chain(mortal, agent.component, on_death="restart") as (client, outcomes):
        await _through(client, await one.now(), await agent.now())
        await one.wires[0].transport.aclose()
        await settled(lambda: outcomes)
        assert "no such program" in (outcomes[0].failed or "")


async def test_a_request_that_a_dead_neighbour_cannot_take_is_answered_at_once() -> None:
    """Ours: nothing hangs while a chain ends."""
    agent = Raw("agent")
    async with chain(agent.component) as (client, _):
        last = await agent.now()
        client.request(1, "_slow", {})
        await last.hear()
        await last.transport.aclose()
        assert "agent is gone" in (await client.hear())["error"]["message"]
        client.request(2, "_late", {})
        await client.close()


def test_a_process_of_ours_is_named_as_a_user_would_start_it() -> None:
    """Ours: no path of this installation is in a sentence about a component."""
    assert program(own_command("connect", "wss://a/acp")).name == "accord connect wss://a/acp"
    assert program(["some-agent", "two words"]).name == "some-agent 'two words'"
