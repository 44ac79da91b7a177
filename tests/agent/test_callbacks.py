"""What the program's own functions raise, and what becomes of the connection: it lives."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Awaitable, Callable
from typing import Any

import anyio
import pytest

from accord import Agent, LocalProtocolError, RequestError, Turn
from accord.transport.memory import memory_pair
from tests.agent.raw_client import RawClient, initialize_params, raw_client
from tests.agent.test_agent_mistakes import ended
from tests.hang_limit import HANG_SECONDS

VERSIONS = pytest.mark.parametrize("version", [1, 2])
# Only there can anybody raise a cancellation that no scope stands behind.
ON_ASYNCIO = pytest.mark.parametrize("anyio_backend", ["asyncio"])


async def await_a_cancelled_future() -> None:
    future = asyncio.get_running_loop().create_future()
    future.cancel()
    await future


def doing(work: Callable[[Turn], Awaitable[Any]]) -> Agent:
    agent = Agent("guarded", version="1")

    @agent.on_prompt
    async def answer(turn: Turn) -> None:
        if turn.text != "hello":
            await work(turn)

    return agent


async def still_answers(client: RawClient, session: str, version: int) -> bool:
    """Whether the next turn is an ordinary one."""
    if version == 1:
        return bool((await client.prompt(session, "hello"))["stopReason"] == "end_turn")
    await client.result(
        "session/prompt", {"sessionId": session, "prompt": [{"type": "text", "text": "hello"}]}
    )
    update = await client.take(
        lambda one: one.get("params", {}).get("update", {}).get("state") == "idle"
    )
    return bool(update["params"]["update"]["stopReason"] == "end_turn")


@ON_ASYNCIO
@VERSIONS
async def test_a_cancellation_that_nobody_asked_for_is_an_error_like_any_other(
    version: int, capsys: pytest.CaptureFixture[str]
) -> None:
    """Issue: an exception that nobody foresaw becomes -32603, and the connection lives."""
    async with raw_client(doing(lambda _: await_a_cancelled_future()), version=version) as client:
        session = await client.new_session()
        error = (await ended(client, session, version))["error"]
        assert error["code"] == -32603
        assert error["data"]["correlationId"] in capsys.readouterr().err
        assert await still_answers(client, session, version)


@ON_ASYNCIO
@VERSIONS
async def test_such_a_cancellation_in_a_tool_call_fails_the_call_alone(version: int) -> None:
    """Issue: the turn is not cancelled, since nobody did."""

    async def work(turn: Turn) -> None:
        try:
            async with turn.tool_call("work"):
                await await_a_cancelled_future()
        except asyncio.CancelledError:
            await turn.say("on we go")

    async with raw_client(doing(work), version=version) as client:
        outcome = await ended(client, await client.new_session(), version)
        assert outcome["stopReason"] == "end_turn"
        assert client.updates("tool_call_update")[-1]["status"] == "failed"


@ON_ASYNCIO
@VERSIONS
async def test_extensions_and_hooks_may_be_cancelled_by_nobody_as_well(version: int) -> None:
    """Issue: an exception that nobody foresaw becomes -32603, wherever it is raised."""
    agent = Agent("guarded", version="1")
    told = anyio.Event()

    @agent.method("_own/ask")
    async def ask(params: dict[str, Any]) -> None:
        await await_a_cancelled_future()

    @agent.notification("_own/tell")
    async def tell(params: dict[str, Any]) -> None:
        told.set()
        await await_a_cancelled_future()

    @agent.on_session
    async def session(_: Any) -> None:
        await await_a_cancelled_future()

    async with raw_client(agent, version=version) as client:
        client.notify("_own/tell", {})
        with anyio.fail_after(HANG_SECONDS):
            await told.wait()
        asked = await client.error("_own/ask", {})
        made = await client.error("session/new", {"cwd": "/tmp", "mcpServers": []})
        again = await client.error("_own/ask", {})
    assert [one["code"] for one in (asked, made, again)] == [-32603] * 3
    assert all("correlationId" in one["data"] for one in (asked, made, again))


@VERSIONS
@pytest.mark.parametrize(
    "raised",
    [RequestError(-32050, "my own words", {"a": 1}), LocalProtocolError("my own words")],
    ids=lambda error: type(error).__name__,
)
@pytest.mark.parametrize("deep", [1, 2])
async def test_an_error_of_ours_keeps_its_text_through_task_groups(
    version: int, raised: Exception, deep: int
) -> None:
    """Issue: our own error classes carry their text to the client."""

    async def fail() -> None:
        raise raised

    async def nested() -> None:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(fail)

    async def work(turn: Turn) -> None:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(nested if deep == 2 else fail)

    async with raw_client(doing(work), version=version) as client:
        error = (await ended(client, await client.new_session(), version))["error"]
    assert error["message"] == "my own words"
    assert error["code"] == (-32050 if isinstance(raised, RequestError) else -32603)


@VERSIONS
async def test_a_group_of_several_errors_is_unforeseen(version: int) -> None:
    """Ours: which of them the client should be told is anybody's guess."""

    async def work(turn: Turn) -> None:
        raise ExceptionGroup("two", [LocalProtocolError("one"), ValueError("other")])

    async with raw_client(doing(work), version=version) as client:
        error = (await ended(client, await client.new_session(), version))["error"]
    assert error["message"] == "Internal error"


async def leave(turn: Turn) -> None:
    sys.exit(5)


async def leave_in_a_group(turn: Turn) -> None:
    raise BaseExceptionGroup("tasks", [ValueError(), BaseExceptionGroup("", [SystemExit(5)])])


async def interrupt(turn: Turn) -> None:
    raise KeyboardInterrupt


@VERSIONS
@pytest.mark.parametrize("way", [leave, leave_in_a_group, interrupt])
async def test_a_handler_that_ends_the_program_answers_nothing(
    version: int, way: Callable[[Turn], Awaitable[None]]
) -> None:
    """Ours: an open prompt that is answered `cancelled` would be a lie about the user."""
    frames, caught = await served_until_exit(doing(way), version, "session/prompt")
    assert caught == (KeyboardInterrupt if way is interrupt else SystemExit)
    assert not any(frame.get("id") == 3 and "error" in frame for frame in frames)
    assert not any(
        frame.get("result", {}).get("stopReason") == "cancelled" for frame in frames if version == 1
    )
    assert not any("idle" in str(frame) for frame in frames)


@VERSIONS
async def test_an_extension_may_end_the_program_too(version: int) -> None:
    """Ours: `sys.exit` means the same everywhere."""
    agent = Agent("guarded", version="1")

    @agent.method("_own/exit")
    async def exit_now(params: dict[str, Any]) -> None:
        sys.exit(5)

    frames, caught = await served_until_exit(agent, version, "_own/exit")
    assert caught is SystemExit
    assert [frame["id"] for frame in frames if "id" in frame] == [1, 2]


async def served_until_exit(
    agent: Agent, version: int, method: str
) -> tuple[list[dict[str, Any]], type[BaseException] | None]:
    """All that an agent says around the third request, and what leaves `Agent.serve`."""
    ours, theirs = memory_pair()
    client = RawClient(ours, version, validate=False)
    caught: list[type[BaseException]] = []

    class Receiver:
        def data_received(self, data: bytes) -> None:
            client.data_received(data)

        def ended(self, why: object) -> None:
            client.ended.set()

    async def serve() -> None:
        try:
            await agent.serve(theirs)
        except (SystemExit, KeyboardInterrupt) as error:
            caught.append(type(error))

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(serve)
        await ours.start(Receiver(), tasks)
        await client.result("initialize", initialize_params(version, None))
        session = await client.new_session()
        prompt = [{"type": "text", "text": "go"}]
        client.start(method, {"sessionId": session, "prompt": prompt})
        with anyio.fail_after(HANG_SECONDS):
            await client.ended.wait()
        await client.close()
    return client.frames, caught[0] if caught else None
