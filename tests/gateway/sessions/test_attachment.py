"""Somebody who reads slowly, and somebody whose log cannot be read."""

from typing import Any

import anyio
import pytest

from accord.gateway.engine.engine_errors import Gap
from accord.gateway.sessions import session_past
from accord.transport.transport import BACKLOG_BYTES_MAX
from tests.gateway.scripted_agent import scripted

pytestmark = pytest.mark.anyio
PIECE = "x" * 10_000


async def test_a_client_that_does_not_read_slows_nobody_and_misses_nothing() -> None:
    """What is not taken waits in the log, not in memory."""
    async with scripted() as one:
        ann, bob, session_id = await one.pair("viewer")
        session = one.gateway.sessions.live[session_id]
        slow = session.people.attachments[1]
        bob.wire.transport.pause()
        most = 0
        for number in range(1000):
            one.agent_wire.chunk(session_id, f"{number} {PIECE}")
            if number % 20 == 0:
                while len(ann.texts()) <= number:
                    await ann.next()
                most = max(most, slow.client.backlog)
        assert BACKLOG_BYTES_MAX <= most < 3 * BACKLOG_BYTES_MAX
        bob.wire.transport.resume()
        while len(ann.texts()) < 1000:
            await ann.next()
        while len(bob.texts()) < 1000:
            await bob.next()
        assert bob.texts() == ann.texts()


async def test_a_client_that_reads_far_too_slowly_does_not_keep_the_log_from_its_bound(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """It goes on behind the snapshot, or is cut and gets everything when it comes back."""
    monkeypatch.setattr(session_past, "LOG_BYTES", 1_000_000)
    monkeypatch.setattr(session_past, "LOG_BYTES_MAX", 4_000_000)
    async with scripted() as one:
        ann, bob, session_id = await one.pair("viewer")
        bob.wire.transport.pause()
        for number in range(1000):
            one.agent_wire.chunk(session_id, f"{number} {PIECE}")
            if number % 20 == 0:
                while len(ann.texts()) <= number:
                    await ann.next()
        while len(ann.texts()) < 1000:
            await ann.next()
        everything = "".join(ann.texts())
        log: Any = one.gateway.sessions.live[session_id].log
        assert (await log._engine.log_state(session_id)).size_bytes < 6_000_000
        bob.wire.transport.resume()
        while sum(map(len, bob.texts())) < len(everything):
            if bob.wire.end is not None:
                bob = await one.person("bob")
                await bob.load(session_id)
            await bob.next()
        assert "".join(bob.texts()) == everything


async def test_a_client_that_cannot_be_sent_what_was_missed_is_disconnected() -> None:
    """So that the client comes back and gets everything; nobody else notices."""
    async with scripted() as one:
        ann, bob, session_id = await one.pair("viewer")
        session = one.gateway.sessions.live[session_id]
        slow = session.people.attachments[1]

        class Trimmed:
            last_seq = 100

            async def read_after(self, seq: int, limit: int) -> list[object]:
                del limit
                raise Gap("s", seq, 50, 100)

        slow._reader = Trimmed()  # type: ignore[assignment]
        slow.after(99, lambda: None)
        await bob.wire.close()
        await ann.hears("_accord.session/presence", event="leave", user="bob")
        ann.prompt(session_id, "on")
        await one.agent_wire.hears("session/prompt")
        await anyio.lowlevel.checkpoint()
