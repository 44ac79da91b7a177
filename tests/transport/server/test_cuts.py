"""Streams that are cut at random places, again and again: nothing lost, doubled or reordered."""

from __future__ import annotations

import asyncio
import random

import pytest

from tests.hang_limit import HANG_SECONDS
from tests.transport.server.raw_http import NEW_SESSION, Json, RawClient, prompt
from tests.transport.server.served_agent import serving

pytestmark = pytest.mark.anyio

CUTS = 250
CHUNKS = 3000


@pytest.mark.parametrize("seed", [1, 2])
async def test_a_stream_that_is_cut_at_random_continues_exactly(seed: int) -> None:
    chance = random.Random(seed)
    async with serving() as served, asyncio.timeout(HANG_SECONDS):
        client = RawClient(served.port)
        await client.initialize({"accord-resume": "1"})
        async with client.stream() as connection:
            await client.post(NEW_SESSION, {"accord-message": "1"})
            session_id = (await connection.until(1))[-1]["result"]["sessionId"]
        header: Json = {"acp-session-id": session_id}
        asked = {**header, "accord-message": "2"}
        # The first answer is taken for lost, and the POST repeated.
        for _ in range(2):
            assert (await client.post(prompt(session_id, f"flood {CHUNKS}"), asked)).status == 202
        seen: list[Json] = []
        numbers: list[int] = []
        last, cuts = "0", 0
        while not seen or seen[-1].get("id") != 2:
            async with client.stream({**header, "last-event-id": last}) as session:
                assert session.head.status == 200
                wanted = chance.randrange(25) if cuts < CUTS else len(seen) + 2 * CHUNKS
                for _ in range(wanted):
                    seen.append(await session.message())
                    numbers.append(int(session.last_id))
                    last = session.last_id
                    if seen[-1].get("id") == 2:
                        break
                # What has arrived and was not read is lost with the connection.
                session.writer.transport.abort()
                cuts += 1
        assert cuts > CUTS / 2
        assert numbers == list(range(1, len(numbers) + 1))
        said = "".join(
            one["params"]["update"]["content"]["text"]
            for one in seen
            if one.get("params", {}).get("update", {}).get("sessionUpdate") == "agent_message_chunk"
        )
        counted = [int(part) for part in said.replace(":" + "x" * 1000, " ").split()]
        assert counted == list(range(CHUNKS))
