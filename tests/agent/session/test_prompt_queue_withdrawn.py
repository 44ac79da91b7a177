"""Prompts of v1 and of the draft that are cancelled while they wait for their turn."""

from __future__ import annotations

from typing import Any

import anyio
import pytest

from accord.agent import Agent, Turn
from accord.connection.connection import Connection
from accord.transport.memory import MemoryTransport
from tests.agent.draft.draft_client import draft_client
from tests.agent.raw_client import raw_client
from tests.hang_limit import HANG_SECONDS


@pytest.mark.parametrize("served_to", [raw_client, draft_client])
async def test_a_prompt_that_is_cancelled_while_it_waits_is_answered_at_once(
    served_to: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Found by the simulator: its answer could come behind the first words of a later prompt.

    A client of v1 takes what it hears for a part of the oldest prompt that is not over.
    """
    agent = Agent("waiting", version="1")
    is_running = anyio.Event()

    @agent.on_prompt
    async def answer(turn: Turn) -> None:
        is_running.set()
        await anyio.sleep_forever()

    sent = bytearray()
    sent_at_once = bytearray()
    write, receive = MemoryTransport.write, Connection.data_received

    def note_sent(transport: MemoryTransport, data: bytes) -> None:
        sent.extend(data)
        write(transport, data)

    def note_what_follows(connection: Connection, data: bytes) -> None:
        before = len(sent)
        receive(connection, data)
        if b'"session/cancel"' in data:
            sent_at_once.extend(sent[before:])

    monkeypatch.setattr(MemoryTransport, "write", note_sent)
    monkeypatch.setattr(Connection, "data_received", note_what_follows)
    async with served_to(agent) as client:
        session_id = await client.new_session()
        running = client.start_prompt(session_id, "first")
        waiting = client.start_prompt(session_id, "second")
        with anyio.fail_after(HANG_SECONDS):
            await is_running.wait()
        client.notify("session/cancel", {"sessionId": session_id})
        for prompt in (running, waiting):
            assert (await client.answer(prompt))["result"] == {"stopReason": "cancelled"}
    wanted = b'"id":%d,"result":{"stopReason":"cancelled"}' % waiting
    assert wanted in bytes(sent_at_once)
