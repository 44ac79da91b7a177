"""Agents that do one thing wrong, as real processes under our client: said, survived, no hang."""

import sys
from collections.abc import Iterator
from contextlib import AbstractAsyncContextManager
from typing import Any

import anyio
import pytest

from accord import Client, Limits
from accord.errors import ConnectionLost, LimitExceeded, RemoteProtocolError
from accord.machine.processes.process_groups import live_groups
from tests.faults.process import PROGRAMS, SECONDS


@pytest.fixture(autouse=True)
def no_process_is_left_behind() -> Iterator[None]:
    """Issue 3: no orphan."""
    before = live_groups()
    yield
    assert live_groups() == before


def spawned(fault: str, **options: Any) -> AbstractAsyncContextManager[Client]:
    """Our client with an agent that has this fault."""
    return Client.spawn(sys.executable, str(PROGRAMS / "bad_agent.py"), fault, **options)


async def asked(fault: str, **options: Any) -> Any:
    """The reply to one prompt."""
    with anyio.fail_after(SECONDS):
        async with spawned(fault, **options) as client:
            session = await client.new_session()
            return await session.ask("go")


@pytest.mark.parametrize(
    "fault",
    [
        "utf8",
        "empty",
        "scalars",
        "half",
        "deep update",
        "deep request",
        "unknown ids",
        "unknown method",
        "huge id",
        "strange updates",
    ],
)
@pytest.mark.rule("TR-STDIO-08", "LIM-01")
async def test_a_fault_in_the_middle_of_a_prompt_is_survived(fault: str) -> None:
    """Issue 3: the turn goes on, and what is whole in it arrives."""
    reply = await asked(fault)
    assert reply.stop_reason == "end_turn"
    assert reply.text == "still here"


@pytest.mark.parametrize(
    ("fault", "codes"),
    [("unknown method", [-32601]), ("huge id", [-32601]), ("deep request", [-32600])],
)
async def test_a_request_that_we_cannot_serve_is_answered_with_its_id(
    fault: str, codes: list[int]
) -> None:
    """Issue 3: never silence; ids above 2^53 come back as they were."""
    heard = bytearray()
    with anyio.fail_after(SECONDS):
        async with spawned(fault, stderr=heard.extend) as client:
            session = await client.new_session()
            await session.ask("go")
            while b"answer" not in heard:
                await anyio.lowlevel.checkpoint()
    request_id = 9007199254740993 if fault == "huge id" else 1
    assert f'"id": {request_id},'.encode() in heard
    assert all(f'"code": {code}'.encode() in heard for code in codes)


async def test_an_answer_whose_line_has_no_end_counts() -> None:
    """Issue 3: the agent left right behind it."""
    assert (await asked("no line end")).stop_reason == "end_turn"


async def test_half_an_answer_is_no_answer() -> None:
    """Issue 3: half a line at the end."""
    with pytest.raises(ConnectionLost, match="exit code 0"):
        await asked("half an answer")


@pytest.mark.rule("LIM-03")
async def test_a_line_of_40_mib_ends_the_connection_and_the_error_names_the_limit() -> None:
    """Issue 3: at once for everybody who waits."""
    with pytest.raises(LimitExceeded, match="frame_bytes = 33554432"):
        await asked("long line")


@pytest.mark.parametrize("fault", ["both", "error text"])
async def test_an_answer_that_makes_no_sense_fails_its_prompt(fault: str) -> None:
    """Issue 3: an answer that is both result and error."""
    with pytest.raises(RemoteProtocolError, match=r"session/prompt: the .*; it sent: "):
        await asked(fault)


@pytest.mark.parametrize("fault", ["string id", "twice"])
async def test_an_answer_with_an_odd_id_or_a_repeat_is_taken_once(fault: str) -> None:
    """A fault of others: the caller waits for ever."""
    assert (await asked(fault)).stop_reason == "end_turn"


async def test_ten_thousand_updates_arrive_in_order() -> None:
    """Issue 2."""
    reply = await asked("ordered")
    assert reply.text == "".join(f"{number} " for number in range(10_000))


async def test_updates_before_and_after_their_time_reach_the_session() -> None:
    """Issue 2: before the answer to `session/new`, and after a prompt's result."""
    with anyio.fail_after(SECONDS):
        async with spawned("updates around") as client:
            session = await client.new_session()
            await session.ask("go")
            while "after" not in _said(session):
                await anyio.lowlevel.checkpoint()
            assert _said(session) == "before in after"


def _said(session: Any) -> str:
    return "".join(
        message.text for message in session.transcript.messages if message.role == "agent"
    )


@pytest.mark.usefixtures("impatient")
async def test_an_agent_that_stops_reading_is_lost_after_the_limit() -> None:
    """Issue 3: with a small limit; nobody who writes waits for ever."""
    limits = Limits(stall_seconds=0.3)
    with anyio.fail_after(SECONDS):
        async with spawned("stops reading", limits=limits) as client:
            session = await client.new_session()
            with pytest.raises(ConnectionLost, match=r"read nothing for 0\.3 s"):
                async with session.prompt("go"):
                    # More than a pipe holds.
                    await session.ask("x" * 8 * 1024 * 1024)


@pytest.mark.usefixtures("impatient")
async def test_an_agent_that_closes_its_stdin_is_lost() -> None:
    """A fault of others: who waits for an answer would wait for ever."""
    with anyio.fail_after(SECONDS):
        async with spawned("closes stdin") as client:
            session = await client.new_session()
            with pytest.raises(ConnectionLost, match="reading side"):
                await session.ask("go")
