"""A proxy whose neighbours go, or that is cancelled itself, at every step of a conversation."""

from collections.abc import Awaitable, Callable
from typing import Any

import anyio
import pytest
from hypothesis import given
from hypothesis import strategies as st

from accord.proxy import Proxy
from accord.proxy.direction_queue import HELD_BYTES_MAX
from accord.proxy.message import Message, Response
from tests.hang_limit import HANG_SECONDS
from tests.proxy.wires import Between, Json, around, settled, wire

pytestmark = pytest.mark.anyio

Step = Callable[[Between], Awaitable[object]]


def busy() -> Proxy:
    """A proxy with a function of every kind, each of which waits a little."""
    proxy = Proxy("busy")

    @proxy.on_request("session/prompt")
    async def prompt(message: Message, forward: Any) -> Any:
        await anyio.lowlevel.checkpoint()
        answer = await forward(message)
        await anyio.lowlevel.checkpoint()
        return answer

    @proxy.on_request("fs/read_text_file")
    async def read(message: Message, forward: Any) -> Any:
        await message.client.request("_may it", {})
        return await forward(message)

    @proxy.on_response("session/new")
    async def made(response: Response) -> None:
        await anyio.lowlevel.checkpoint()

    @proxy.on_update("agent_message_chunk")
    async def said(update: Json) -> None:
        await anyio.lowlevel.checkpoint()

    return proxy


def client(*messages: Json) -> Step:
    async def step(between: Between) -> None:
        between.client.say(*messages)

    return step


def agent(*messages: Json) -> Step:
    async def step(between: Between) -> None:
        between.agent.say(*messages)

    return step


async def agent_hears(between: Between) -> None:
    await between.agent.hear()


async def client_hears(between: Between) -> None:
    await between.client.hear()


CHUNK = {"sessionId": "s", "update": {"sessionUpdate": "agent_message_chunk"}}
STEPS: list[Step] = [
    client({"id": 1, "method": "initialize"}),
    agent_hears,
    agent({"id": 1, "result": {}}),
    client_hears,
    client({"id": 2, "method": "session/new"}),
    agent_hears,
    agent({"id": 2, "result": {}}, {"method": "session/update", "params": CHUNK}),
    client_hears,
    client_hears,
    client({"id": 3, "method": "session/prompt"}, {"id": 4, "method": "_plain"}),
    agent_hears,
    agent_hears,
    agent({"method": "session/update", "params": CHUNK}),
    agent({"id": 9, "method": "fs/read_text_file"}),
    client_hears,
    client_hears,
    client({"id": 1, "result": {}}),
    client_hears,
    client({"method": "$/cancel_request", "params": {"requestId": 3}}),
    client({"id": 2, "result": {"content": ""}}),
    agent_hears,
    agent_hears,
    agent({"id": 4, "result": {}}),
    client_hears,
    agent({"id": 3, "result": {}}),
    client_hears,
]


async def play(between: Between, steps: list[Step]) -> None:
    with anyio.fail_after(HANG_SECONDS):
        for step in steps:
            await step(between)


async def test_the_conversation_of_these_tests_goes_well_as_a_whole() -> None:
    """Ours: the tests below cut it off at each of its steps."""
    async with around(busy()) as between:
        await play(between, STEPS)
        assert not between.client.unheard()
        assert not between.agent.unheard()


@pytest.mark.parametrize("count", range(len(STEPS) + 1))
async def test_when_the_agent_dies_at_any_step_every_open_request_is_answered(count: int) -> None:
    """Issue 5: open requests of the other side get a clear error, nothing hangs."""
    async with around(busy()) as between:
        await play(between, STEPS[:count])
        await between.agent.transport.aclose()
        await between.client.close()
        heard = [one for one in map(_read, between.client.lines) if "method" not in one]
        asked = {1: 0, 2: 4, 3: 9, 4: 9}
        due = sorted(number for number, step in asked.items() if step < count)
        assert sorted(one["id"] for one in heard) == due
        await settled(lambda: between.ended)


@pytest.mark.parametrize("count", range(len(STEPS) + 1))
async def test_when_the_client_dies_at_any_step_the_agent_is_closed(count: int) -> None:
    """Issue 5: death of each side at every step."""
    async with around(busy()) as between:
        await play(between, STEPS[:count])
        await between.client.transport.aclose()
        await between.agent.close()
        await settled(lambda: between.ended)


@pytest.mark.parametrize("count", range(len(STEPS) + 1))
async def test_a_proxy_that_is_cancelled_at_any_step_closes_both_sides(count: int) -> None:
    """Ours: cancelling is safe at every await."""
    async with anyio.create_task_group() as tasks:
        one, to_client = await wire(tasks)
        other, to_agent = await wire(tasks)
        scope = anyio.CancelScope()

        async def serve() -> None:
            with scope:
                await busy().serve(to_client, to_agent)

        tasks.start_soon(serve)
        await play(Between(one, other, tasks, []), STEPS[:count])
        scope.cancel()
        await one.close()
        await other.close()
        tasks.cancel_scope.cancel()


def _read(line: bytes) -> Json:
    import json

    found: Json = json.loads(line)
    return found


_messages = st.lists(
    st.tuples(st.sampled_from(["note", "plain", "ask", "tell"]), st.integers(0, 3))
)


@given(_messages, _messages)
def test_whatever_functions_wait_for_both_directions_keep_their_order(
    ours: list[tuple[str, int]], theirs: list[tuple[str, int]]
) -> None:
    """Issue 5: order kept, also around handlers that wait for different times."""
    anyio.run(_in_order, ours, theirs)


async def _in_order(ours: list[tuple[str, int]], theirs: list[tuple[str, int]]) -> None:
    proxy = Proxy()

    @proxy.on_notification("_note")
    async def note(message: Message) -> None:
        for _ in range(message.params["wait"]):
            await anyio.lowlevel.checkpoint()

    @proxy.on_request("_ask")
    async def ask(message: Message, forward: Any) -> Any:
        for _ in range(message.params["wait"]):
            await anyio.lowlevel.checkpoint()
        return await forward(message)

    async with around(proxy) as (client, agent, _, _):
        for side, script in ((client, ours), (agent, theirs)):
            side.say(
                *(
                    {
                        **({"id": f"{at}"} if kind in ("ask", "plain") else {}),
                        "method": f"_{kind}",
                        "params": {"at": at, "wait": wait},
                    }
                    for at, (kind, wait) in enumerate(script)
                )
            )
        for side, script in ((agent, ours), (client, theirs)):
            for at in range(len(script)):
                assert (await side.hear())["params"]["at"] == at


async def test_behind_a_busy_function_no_more_than_a_bound_is_kept() -> None:
    """Ours: every buffer has a bound; what is beyond it stays with its sender."""
    proxy = Proxy()
    go = anyio.Event()

    @proxy.on_notification("_slow")
    async def slow(message: Message) -> None:
        await go.wait()

    line = b'{"jsonrpc":"2.0","method":"_x","params":{"t":"%b"}}' % (b"x" * 100_000)
    async with around(proxy) as (client, agent, _, _):
        agent.notify("_slow")
        count = 3 * HELD_BYTES_MAX // len(line)
        for _ in range(count):
            agent.write(line)
            await anyio.lowlevel.checkpoint()
        await anyio.wait_all_tasks_blocked()
        assert agent.transport.backlog > HELD_BYTES_MAX
        go.set()
        for _ in range(count + 1):
            await client.line()


async def test_a_sender_that_is_not_read_is_read_again_when_its_answer_is_needed() -> None:
    """Ours: backpressure never keeps an answer away from whoever waits for it."""
    proxy = Proxy()
    ask = anyio.Event()

    @proxy.on_notification("_slow")
    async def slow(message: Message) -> None:
        await ask.wait()
        assert await message.agent.request("_are you there", {}) == "yes"

    line = b'{"jsonrpc":"2.0","method":"_x","params":{"t":"%b"}}' % (b"x" * 1_000_000)
    async with around(proxy) as (client, agent, _, _):
        agent.notify("_slow")
        for _ in range(12):
            agent.write(line)
            await anyio.lowlevel.checkpoint()
        await anyio.wait_all_tasks_blocked()
        ask.set()
        asked = await agent.hear()
        agent.answer(asked["id"], "yes")
        for _ in range(13):
            await client.line()
