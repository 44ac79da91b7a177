"""Sessions outlive the agent's process, however it ended; with real processes and our client."""

from __future__ import annotations

import sqlite3
import sys
from contextlib import AbstractAsyncContextManager, closing
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import anyio
import pytest

from accord import Client
from accord.errors import ConnectionLost, NotFound, RequestFailed
from accord.store.sqlite import SqliteStore
from tests.hang_limit import HANG_SECONDS

PROGRAM = Path(__file__).with_name("keeping_agent.py")


@pytest.fixture
def anyio_backend() -> str:
    """The processes have their own loop; one for the client is enough."""
    return "asyncio"


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Where the sessions are."""
    return tmp_path / "state" / "sessions.sqlite3"


def started(path: Path, version: int) -> AbstractAsyncContextManager[Client]:
    """A process of the agent, and a client that speaks one version with it."""
    return Client.spawn(sys.executable, str(PROGRAM), str(path), versions=(version,))


def told(session: Any) -> list[tuple[str, str]]:
    """Who said what."""
    return [(message.role, message.text) for message in session.transcript.messages]


@pytest.mark.parametrize("version", [1, 2])
async def test_a_session_goes_on_after_a_restart(path: Path, version: int) -> None:
    """Issue: load (v1) and resume with replay (v2) tell everything in order, chunks coalesced."""
    with anyio.fail_after(HANG_SECONDS):
        async with started(path, version) as client:
            session = await client.new_session()
            assert (await session.ask("cats")).text == "1: cats"
            assert (await session.ask("dogs")).text == "2: dogs"
        async with started(path, version) as client:
            [info] = [info async for info in client.list_sessions()]
            assert (info.session_id, info.title) == (session.id, "About dogs")
            assert info.updated_at is not None
            seen: list[Any] = []
            again = await client.load_session(session.id, on_update=seen.append)
            past = [("user", "cats"), ("agent", "1: cats"), ("user", "dogs"), ("agent", "2: dogs")]
            assert told(again) == past
            assert again.transcript.info.title == "About dogs"
            # No chunk of the answers came alone.
            texts = [one.text for one in seen if one.kind == "message" and one.text]
            assert texts == ["1: cats", "2: dogs"]
            assert (await again.ask("cows")).text == "3: cows"
        async with started(path, version) as client:
            resumed = await client.resume_session(session.id)
            assert told(resumed) == []
            assert (await resumed.ask("hens")).text == "4: hens"
            await client.delete_session(session.id)
        async with started(path, version) as client:
            assert [info async for info in client.list_sessions()] == []


@pytest.mark.parametrize("version", [1, 2])
async def test_a_turn_that_was_killed_is_marked(path: Path, version: int) -> None:
    """Issue: what a client has seen is there, and an interrupted turn is marked so."""
    with anyio.fail_after(HANG_SECONDS):
        async with started(path, version) as client:
            session = await client.new_session()
            await session.ask("cats")
            with pytest.raises(ConnectionLost):
                await session.ask("die")
        seen = told(session)
        assert seen[-1] == ("agent", "So be it.")
        async with started(path, version) as client:
            again = await client.load_session(session.id)
            assert told(again)[:-1] == seen
            assert "was interrupted" in told(again)[-1][1]
            [call] = again.transcript.tool_calls
            assert call.status in {"cancelled", "failed"}
            if version == 2:
                assert bytes(again.transcript.state.error.data) == b'{"reason":"turn_interrupted"}'
            assert (await again.ask("cows")).text == "2: cows"
        async with started(path, version) as client:
            again = await client.load_session(session.id)
            assert len([text for _, text in told(again) if "was interrupted" in text]) == 1


@pytest.mark.parametrize("version", [1, 2])
async def test_a_session_that_is_open_elsewhere_is_refused(path: Path, version: int) -> None:
    """Issue: owned by one at a time, the other is told; closing it gives it back."""
    with anyio.fail_after(HANG_SECONDS):
        async with started(path, version) as first, started(path, version) as second:
            session = await first.new_session()
            await session.ask("cats")
            with pytest.raises(RequestFailed, match="is open in another process") as raised:
                await second.load_session(session.id)
            assert raised.value.reason == "session_in_use"
            assert isinstance(raised.value.data["pid"], int)
            await session.close()
            again = await second.load_session(session.id)
            assert told(again)[-1] == ("agent", "1: cats")


async def test_a_damaged_or_pruned_session_says_which(path: Path) -> None:
    """Issue: in `data.reason`, and the others still open."""
    with anyio.fail_after(HANG_SECONDS):
        async with started(path, 2) as client:
            names = []
            for _ in range(3):
                session = await client.new_session()
                await session.ask("cats")
                await session.close()
                names.append(session.id)
        damaged, pruned, good = names
        with closing(sqlite3.connect(path)) as db:
            db.execute("UPDATE events SET data = x'00' WHERE seq = 2 AND session = 1")
            db.execute("UPDATE sessions SET updated_at = '2020' WHERE id = ?", (pruned,))
            db.commit()
        store = SqliteStore(path)
        assert await store.prune(datetime(2021, 1, 1, tzinfo=UTC)) == [pruned]
        await store.aclose()
        async with started(path, 2) as client:
            with pytest.raises(RequestFailed, match="is damaged") as raised:
                await client.load_session(damaged)
            assert raised.value.reason == "session_damaged"
            with pytest.raises(NotFound) as missing:
                await client.load_session(pruned)
            assert missing.value.reason == "session_pruned"
            assert told(await client.load_session(good))[-1] == ("agent", "1: cats")


async def test_an_agent_without_a_store_says_why_and_goes_on(path: Path) -> None:
    """Issue: a clear error, and the agent lives."""
    path.parent.touch()
    with anyio.fail_after(HANG_SECONDS):
        async with started(path, 2) as client:
            with pytest.raises(RequestFailed, match="cannot store sessions") as raised:
                await client.new_session()
            assert raised.value.reason == "store_unreachable"
            path.parent.unlink()
            session = await client.new_session()
            assert (await session.ask("cats")).text == "1: cats"
