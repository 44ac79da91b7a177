"""A tool call is announced, asked for, in progress, final, and never back, however it is told."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

import anyio
import pytest

from accord.agent import Agent, Turn
from accord.agent.tools.tool_call import ToolCallControl, ToolCallHandle
from accord.agent.tools.tool_status_guard import STATUSES_MAX, ToolStatusGuard
from accord.connection.connection import Connection
from accord.errors import LocalProtocolError
from accord.schema import v2
from accord.schema.struct import UNSET
from tests.agent.raw_client import OPEN, RawClient, raw_client

VERSIONS = pytest.mark.parametrize("version", [1, 2])


def update(status: Any = UNSET, call_id: str = "a") -> v2.ToolCallUpdate:
    return v2.ToolCallUpdate(tool_call_id=call_id, title="A", status=status)


def tell(lives: ToolStatusGuard, *statuses: Any) -> None:
    for status in statuses:
        with lives.following(update(status)):
            pass


async def play(
    handler: Callable[[Turn], Awaitable[None]], version: int, serve: dict[str, Any] | None = None
) -> RawClient:
    """A turn, to its end."""
    agent = Agent("worker", version="1")

    @agent.on_prompt
    async def work(turn: Turn) -> None:
        await handler(turn)
        await turn.say("done")

    async with raw_client(agent, version=version) as client:
        client.serve.update(serve or {})
        answer = await client.answer(client.start_prompt(await client.new_session()))
        assert "result" in answer, answer
        if version == 2:
            await client.take(lambda one: "end_turn" in str(one))
    return client


@VERSIONS
@pytest.mark.rule("V1-TOOL-13")
async def test_an_update_of_ones_own_takes_no_call_back(version: int) -> None:
    """Issue 2: `Turn` cannot break the order; `emit` is part of it."""

    async def work(turn: Turn) -> None:
        async with turn.tool_call("A") as call:
            await call.complete()
        for status in ("pending", "in_progress", "failed", None):
            with pytest.raises(LocalProtocolError, match="is completed; it cannot become"):
                await turn.emit(update(status, call.id))
        await turn.emit(update("completed", call.id))
        await turn.emit(update(UNSET, call.id))

    client = await play(work, version)
    told = [one["status"] for one in client.updates() if one.get("status")]
    assert told == ["pending", "completed", "completed"]


@VERSIONS
async def test_a_sender_cancelled_before_the_write_may_tell_another_status(
    version: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Ours: one that is not sent has not happened."""

    async def work(turn: Turn) -> None:
        await turn.emit(update("in_progress"))
        with monkeypatch.context() as patched, anyio.CancelScope() as scope:
            patched.setattr(Connection, "check_is_due", lambda _: True)
            scope.cancel()
            await turn.emit(update("completed"))
        await turn.emit(update("failed"))

    client = await play(work, version)
    told = [one["status"] for one in client.updates() if one.get("status")]
    assert told == ["in_progress", "failed"]


@VERSIONS
async def test_a_sender_is_not_cancelled_between_its_status_and_its_update(
    version: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Ours: the status would count although nothing was sent."""

    async def work(turn: Turn) -> None:
        await turn.emit(update("in_progress"))
        due = iter([False])
        with monkeypatch.context() as patched, anyio.CancelScope() as scope:
            patched.setattr(Connection, "check_is_due", lambda _: next(due, True))
            scope.cancel()
            await turn.emit(update("completed"))

    client = await play(work, version)
    told = [one["status"] for one in client.updates() if one.get("status")]
    assert told == ["in_progress", "completed"]


@VERSIONS
async def test_a_call_does_not_begin_while_it_is_asked_for(version: int) -> None:
    """Issue 2: asked, then in progress; also where two tasks have the same call."""

    async def work(turn: Turn) -> None:
        async with turn.tool_call("A") as call, anyio.create_task_group() as tasks:
            tasks.start_soon(call.ask, "why")
            while not call_is_asked.is_set():
                await anyio.lowlevel.checkpoint()
            for step in (call.start, call.complete, lambda: call.run(print)):
                with pytest.raises(LocalProtocolError, match="before the answer"):
                    await step()
            tasks.cancel_scope.cancel()

    call_is_asked = anyio.Event()
    client = await play(work, version, {"session/request_permission": _leave_open(call_is_asked)})
    told = [one["status"] for one in client.updates() if one.get("status")]
    assert told == ["pending", "in_progress", "completed"]


@VERSIONS
async def test_a_call_that_is_left_while_it_is_asked_for_was_not_done(version: int) -> None:
    """Ours: nobody consented, so nothing says that it was completed."""
    asked = anyio.Event()

    async def work(turn: Turn) -> None:
        async with anyio.create_task_group() as tasks:
            async with turn.tool_call("A") as call:
                tasks.start_soon(call.ask, "why")
                while not asked.is_set():
                    await anyio.lowlevel.checkpoint()
            assert call.status == "cancelled"
            tasks.cancel_scope.cancel()

    client = await play(work, version, {"session/request_permission": _leave_open(asked)})
    told = [one["status"] for one in client.updates() if one.get("status")]
    assert told == ["pending", "failed" if version == 1 else "cancelled"]


def _leave_open(asked: anyio.Event) -> Any:
    def serve(_params: Any) -> Any:
        asked.set()
        return OPEN

    return serve


def test_a_status_is_followed_by_its_own_or_a_later_one() -> None:
    """Issue 2: never back."""
    tell(ToolStatusGuard(), UNSET, UNSET, None, "pending", "in_progress", "paused", "in_progress")
    tell(ToolStatusGuard(), "in_progress", UNSET, "failed", "failed", UNSET)
    lives = ToolStatusGuard()
    tell(lives, "in_progress")
    with pytest.raises(LocalProtocolError, match="'a' is in_progress; it cannot become pending"):
        tell(lives, None)
    tell(lives, "completed")


def test_an_update_that_was_not_sent_has_not_happened() -> None:
    """Ours: a failed write to the log must not refuse the next try."""
    lives = ToolStatusGuard()
    for before in ((), ("pending",)):
        tell(lives, *before)
        with pytest.raises(OSError, match="full"), lives.following(update("completed")):
            raise OSError("full")
        tell(lives, "pending")


def test_what_another_told_meanwhile_stays() -> None:
    """Ours: the one that failed does not take the other back."""
    lives = ToolStatusGuard()

    def fail() -> None:
        with lives.following(update("in_progress")):
            tell(lives, "completed")
            raise OSError("full")

    with pytest.raises(OSError, match="full"):
        fail()
    with pytest.raises(LocalProtocolError):
        tell(lives, "in_progress")


def test_lives_are_bounded() -> None:
    """Ours: a session may be long; those of whom nobody speaks are forgotten first."""
    lives = ToolStatusGuard()
    tell(lives, "completed")
    for number in range(STATUSES_MAX):
        with lives.following(update("completed", str(number))):
            pass
    tell(lives, "pending")
    with pytest.raises(LocalProtocolError), lives.following(update("pending", "1")):
        pass


def test_a_handle_shows_a_handler_nothing_of_the_librarys_own() -> None:
    """Issue 15: what the turn and the client's cancellation use is behind the public class."""
    assert not {"settle", "stop", "revise"} & set(dir(ToolCallHandle))
    assert {"settle", "stop", "revise"} <= set(dir(ToolCallControl))
