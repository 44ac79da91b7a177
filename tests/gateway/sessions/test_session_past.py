"""Long sessions: the log is compacted, and whoever comes late sees the same."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import anyio
import pytest

from accord.errors import StoreError
from accord.gateway.engine.engine_errors import Gap
from accord.gateway.engine.memory import MemoryDisk
from accord.gateway.sessions import session_past
from accord.gateway.sessions.log_events import UPDATE, Event
from accord.gateway.sessions.session_past import CUT, PastEvents
from tests.gateway.scripted_agent import Scripted, scripted

pytestmark = pytest.mark.anyio


async def talk(one: Scripted, session_id: str, count: int, size: int = 1000) -> None:
    """The agent says a lot, and all of it is compacted."""
    session = one.gateway.sessions.live[session_id]
    for number in range(count):
        one.agent_wire.chunk(session_id, f"{number} {'x' * size} ")
        await anyio.lowlevel.checkpoint()
    await session.flush()
    while session.past._is_compacting:
        await anyio.lowlevel.checkpoint()


async def replayed(one: Scripted, session_id: str) -> list[str]:
    """What somebody sees who comes now."""
    late = await one.person("ann")
    assert "result" in await late.load(session_id)
    return late.texts()


@pytest.mark.parametrize("kind", ["memory", "sqlite"])
async def test_somebody_who_comes_late_sees_the_same_in_fewer_messages(
    kind: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """R6; also after a restart, and after more was said."""
    # Otherwise all of it would still be in memory.
    monkeypatch.setattr("accord.gateway.sessions.session_writer.TAIL_BYTES_MAX", 5_000)
    monkeypatch.setattr(session_past, "LOG_BYTES", 50_000)
    monkeypatch.setattr(session_past, "PART_LOG_BYTES", 20_000)
    disk = MemoryDisk() if kind == "memory" else tmp_path / "gateway.db"
    async with scripted(disk=disk) as one:
        ann = await one.person("ann")
        session_id = await ann.new()
        ann.prompt(session_id, "go")
        asked = await one.agent_wire.hears("session/prompt")
        await talk(one, session_id, 200)
        while len(ann.texts()) < 200:
            await ann.next()
        # As long as somebody is behind, what they have not read may wait.
        await talk(one, session_id, 10)
        one.agent_wire.answer(asked["id"], {"stopReason": "end_turn"})
        await ann.synced()
        while len(ann.texts()) < 210:
            await ann.next()
        session = one.gateway.sessions.live[session_id]
        assert session.past.seq > 100
        found = await replayed(one, session_id)
        assert "".join(found) == "go" + "".join(ann.texts())
        assert len(found) < 100
    async with scripted(disk=disk) as one:
        again = await replayed(one, session_id)
        assert "".join(again) == "".join(found)


async def test_a_log_never_grows_beyond_its_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is too old goes, and a remark says so."""
    monkeypatch.setattr(session_past, "LOG_BYTES", 20_000)
    monkeypatch.setattr(session_past, "PART_LOG_BYTES", 10_000)
    monkeypatch.setattr(session_past, "PAST_BYTES_MAX", 60_000)
    monkeypatch.setattr("accord.gateway.sessions.compaction.JOINED_BYTES_MAX", 5_000)
    disk = MemoryDisk()
    async with scripted(disk=disk) as one:
        ann = await one.person("ann")
        session_id = await ann.new()
        await talk(one, session_id, 300)
        found = await replayed(one, session_id)
        assert found[0] == CUT
        assert "299 " in found[-1]
        assert sum(map(len, found)) < 100_000
        session = one.gateway.sessions.live[session_id]
        engine: Any = session.log
        state = await engine._engine.log_state(session_id)
        assert state.size_bytes < 100_000


async def test_a_snapshot_that_cannot_be_stored_loses_nothing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(session_past, "LOG_BYTES", 20_000)
    async with scripted() as one:
        ann = await one.person("ann")
        session_id = await ann.new()
        session = one.gateway.sessions.live[session_id]

        async def full(seq: int, data: bytes, bytes_max: int) -> None:
            del seq, data, bytes_max
            raise StoreError("store_full", "the disk is full")

        session.log.extend_snapshot = full  # type: ignore[method-assign]
        await talk(one, session_id, 100)
        assert session.past.seq == 0
        assert len(await replayed(one, session_id)) == 100


def test_a_reader_between_joined_events_gets_an_error_and_no_hole() -> None:
    part = PastEvents(2, 9, (Event(4, UPDATE, b"{}"), Event(9, UPDATE, b"{}")))
    assert [event.seq for event in part.after("s", 2, 10)] == [4, 9]
    assert [event.seq for event in part.after("s", 2, 1)] == [4]
    assert [event.seq for event in part.after("s", 4, 10)] == [9]
    # From the beginning, though that was dropped.
    remark, *rest = part.after("s", 0, 2)
    assert (remark.seq, CUT in remark.body.decode()) == (2, True)
    assert [event.seq for event in rest] == [4]
    for seq in (1, 3, 6):
        with pytest.raises(Gap):
            part.after("s", seq, 10)
