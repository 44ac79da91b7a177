"""What lives with a session ends with it, however it ends."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable

import anyio
import pytest

from accord import Agent, LocalProtocolError, Turn
from accord.agent.session import background_tasks as session_tasks
from accord.agent.session.agent_session import AgentSession, session_state
from tests.agent.raw_client import RawClient, raw_client
from tests.hang_limit import HANG_SECONDS

Ending = Callable[[RawClient, str], Awaitable[object]]


class Watched:
    """An agent whose sessions have one task and one farewell each; `told` has what happened."""

    def __init__(self) -> None:
        self.told: list[str] = []
        self.sessions: list[AgentSession] = []
        self.farewell = anyio.Event()
        self.agent = Agent("watched", version="1")

        @self.agent.on_prompt
        async def answer(turn: Turn) -> None:
            await turn.say("hello")

        @self.agent.on_session
        async def begin(session: AgentSession) -> None:
            self.sessions.append(session)
            session.on_close(self._goodbye)
            session.start_soon(self._live, "task")

    async def _goodbye(self) -> None:
        # What awaits shows whether it is shielded.
        await anyio.sleep(0)
        self.told.append("farewell")
        self.farewell.set()

    async def _live(self, name: str) -> None:
        try:
            await anyio.sleep_forever()
        finally:
            self.told.append(f"{name} ended")


async def close(client: RawClient, session: str) -> object:
    return await client.result("session/close", {"sessionId": session})


async def delete(client: RawClient, session: str) -> object:
    return await client.result("session/delete", {"sessionId": session})


@pytest.mark.parametrize("ending", [close, delete])
async def test_the_end_of_a_session_says_farewell_first_and_ends_its_tasks(ending: Ending) -> None:
    """Contract: a farewell is awaited when the session is closed or deleted."""
    watched = Watched()
    async with raw_client(watched.agent, version=2) as client:
        session = await client.new_session()
        await ending(client, session)
        assert watched.told == ["farewell", "task ended"]
    assert watched.told.count("farewell") == 1


async def test_a_client_that_is_gone_ends_what_lives_with_its_sessions() -> None:
    """Contract: the same happens once when the connection is lost."""
    watched = Watched()
    async with raw_client(watched.agent, version=2) as client:
        await client.new_session()
    with anyio.fail_after(HANG_SECONDS):
        await watched.farewell.wait()
    assert sorted(watched.told) == ["farewell", "task ended"]


async def test_nothing_joins_a_session_that_has_ended() -> None:
    """Contract: a task that nobody would end is refused."""
    watched = Watched()
    async with raw_client(watched.agent, version=2) as client:
        await close(client, await client.new_session())
        [session] = watched.sessions
        with pytest.raises(LocalProtocolError, match="closed"):
            session.start_soon(anyio.sleep_forever)
        with pytest.raises(LocalProtocolError, match="closed"):
            session.on_close(anyio.sleep_forever)
        await session_state(session).tasks.close()
    assert watched.told.count("farewell") == 1


async def test_what_fails_or_hangs_is_logged_and_harms_nobody(
    caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Contract: bounded, and the others are still told."""
    monkeypatch.setattr(session_tasks, "CALLBACK_SECONDS_MAX", 0.05)
    monkeypatch.setattr(session_tasks, "TASK_END_SECONDS_MAX", 0.05)
    watched = Watched()

    async def fail() -> None:
        raise ValueError("no")

    async def does_not_end() -> None:
        with anyio.CancelScope(shield=True):
            await anyio.sleep(0.2)

    with caplog.at_level(logging.WARNING, "accord.agent"):
        async with raw_client(watched.agent, version=2) as client:
            session_id = await client.new_session()
            [session] = watched.sessions
            session.on_close(anyio.sleep_forever)
            session.on_close(fail)
            session.start_soon(fail)
            session.start_soon(does_not_end)
            await close(client, session_id)
            assert "farewell" in watched.told
    assert "took too long" in caplog.text
    assert "an on_close callback of a session failed" in caplog.text
    assert "a task of a session failed" in caplog.text


async def test_a_session_that_could_not_begin_is_taken_leave_of() -> None:
    """A hook that fails after it started something must not leave that behind."""
    watched = Watched()
    begin = watched.agent._definition.session_hook
    assert begin is not None

    @watched.agent.on_session
    async def fail(session: AgentSession) -> None:
        await begin(session)
        raise ValueError("not today")

    async with raw_client(watched.agent, version=2) as client:
        await client.error("session/new", {"cwd": "/", "mcpServers": []})
        assert watched.told[0] == "farewell"
