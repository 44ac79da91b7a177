"""The option `traffic`: somebody hears every byte, and nobody else notices."""

from __future__ import annotations

import json
import logging
from typing import Any

import anyio
import pytest

from accord.client.connection.agent_connection import AgentLink
from accord.client.connection.message_handler import MessageHandler
from accord.client.connection.traffic_tap import TrafficTap
from accord.client.options import make_options
from accord.transport.memory import memory_pair
from accord.transport.transport import Ended
from tests.client.scripted_agent import BARE, ScriptedAgent, connected
from tests.hang_limit import HANG_SECONDS


async def _answer(agent: ScriptedAgent) -> None:
    await agent.open_session()
    agent.end_turn(await agent.begin_turn())


async def test_every_byte_is_heard_in_order_and_its_end() -> None:
    """Ours: an inspector must show what was really said."""
    heard: list[tuple[str, bytes]] = []

    def hear(way: str, data: bytes) -> None:
        heard.append((way, data))

    options: Any = {"traffic": hear}
    with anyio.fail_after(HANG_SECONDS):
        async with connected(_answer, **{**BARE, **options}) as (client, _):
            session = await client.new_session("/tmp")
            await session.ask("hello")
    lines = {
        way: b"".join(data for one, data in heard if one == way).splitlines()
        for way in ("sent", "received")
    }
    sent = [json.loads(line).get("method") for line in lines["sent"]]
    assert sent[:3] == ["initialize", "session/new", "session/prompt"]
    assert [json.loads(line)["id"] for line in lines["received"]][:3] == [1, 2, 3]
    assert heard[0][0] == "sent"
    assert [one for one in heard if not one[1]] == [("received", b"")]


async def test_a_listener_that_fails_harms_nobody(caplog: pytest.LogCaptureFixture) -> None:
    """Ours: the conversation is worth more than its inspector."""
    calls = 0

    def fail(way: str, data: bytes) -> None:
        nonlocal calls
        calls += 1
        raise ValueError("oops")

    with anyio.fail_after(HANG_SECONDS), caplog.at_level(logging.ERROR):
        options: Any = {"traffic": fail}
        async with connected(_answer, **{**BARE, **options}) as (client, _):
            session = await client.new_session("/tmp")
            assert (await session.ask("hello")).stop_reason == "end_turn"
    assert calls == 1
    assert "the function for traffic= failed" in caplog.text


def test_without_a_listener_the_transport_itself_is_used() -> None:
    """Ours: what is not asked for costs nothing."""
    ours, _ = memory_pair()
    assert AgentLink(ours, make_options({}), MessageHandler(make_options({}))).transport is ours
    options = make_options({"traffic": lambda way, data: None})
    assert isinstance(AgentLink(ours, options, MessageHandler(options)).transport, TrafficTap)


async def test_pausing_and_the_own_words_of_a_transport_pass_through() -> None:
    """Ours: `stderr_tail` and the bounds must work as ever."""

    class Receiver:
        def __init__(self) -> None:
            self.data = b""
            self.over = anyio.Event()
            self.more = anyio.Event()

        def data_received(self, data: bytes) -> None:
            self.data += data
            self.more.set()

        def ended(self, why: Ended) -> None:
            self.over.set()

    ours, theirs = memory_pair()
    ours.stderr_tail = "last words"  # type: ignore[attr-defined]
    heard: list[tuple[str, bytes]] = []
    transport = TrafficTap(ours, lambda way, data: heard.append((way, data)))
    near, far = Receiver(), Receiver()
    assert transport.stderr_tail == "last words"
    assert not hasattr(transport, "no_such_thing")
    with anyio.fail_after(HANG_SECONDS):
        async with anyio.create_task_group() as tasks:
            await transport.start(near, tasks)
            await theirs.start(far, tasks)
            transport.write(b"")
            transport.write(b"a")
            await transport.drain()
            await far.more.wait()
            assert transport.backlog == 0
            transport.pause()
            theirs.write(b"b")
            await anyio.wait_all_tasks_blocked()
            assert near.data == b""
            transport.resume()
            await near.more.wait()
            await transport.aclose()
            await near.over.wait()
            await theirs.aclose()
    assert heard == [("sent", b"a"), ("received", b"b"), ("received", b"")]
