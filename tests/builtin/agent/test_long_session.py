"""A long session costs the same at its end as at its beginning."""

import gc
import sys
from pathlib import Path

import pytest

from accord.builtin.demo_project import write_demo_project
from accord.store.writer_thread import Writer
from tests.agent.raw_client import RawClient, raw_client
from tests.builtin.agent.turns import begin, made, say

# One of each kind: looking, a command, an edit and the one that takes it back, and talk.
ROUND = (
    "explain calc.py",
    "$ echo hello",
    "change 'no values' to 'no numbers' in calc.py",
    "change 'no numbers' to 'no values' in calc.py",
    "/help",
)
# Enough prompts that what is kept up to a bound, such as ended calls, is outweighed.
ROUNDS = {1: 30, 2: 40}
WARM_UP_ROUNDS = 8

BLOCKS_PER_PROMPT_MAX = 15
"""What may stay behind of a prompt: its place in lists of ids, not its text."""


@pytest.mark.parametrize("version", [1, 2])
async def test_a_long_session_does_not_make_the_next_prompt_dearer(
    version: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Issue 3, 200 prompts: memory and work per prompt do not grow; counted, not timed."""
    rounds = ROUNDS[version]
    write_demo_project(tmp_path)
    asked = _count_store_work(monkeypatch)
    async with raw_client(made(), version=version, validate=False) as client:
        client.serve["session/request_permission"] = lambda params: {
            "outcome": {"outcome": "selected", "optionId": "allow_once"}
        }
        session = (await begin(client, tmp_path))["sessionId"]
        await say(client, session, "/help")
        sizes: list[int] = []
        work: list[int] = []
        blocks: list[int] = []
        for number in range(1, rounds + 1):
            before = asked[0]
            sizes.append(await _take_round(client, session))
            work.append(asked[0] - before)
            if number in (WARM_UP_ROUNDS, rounds):
                gc.collect()
                blocks.append(sys.getallocatedblocks())
    # The numbers in ids have more digits in the end, and the times more or fewer letters.
    assert max(sizes[1:]) <= min(sizes[1:]) * 1.05, sizes
    assert max(work[1:]) <= min(work[1:]) + 2 * len(ROUND), work
    grown = (blocks[1] - blocks[0]) / ((rounds - WARM_UP_ROUNDS) * len(ROUND))
    assert grown < BLOCKS_PER_PROMPT_MAX, blocks


def _count_store_work(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Count what is asked of the store, in a list of one number."""
    asked = [0]
    submit = Writer.submit

    def counted(self: Writer, *args: object, **more: object) -> object:
        asked[0] += 1
        return submit(self, *args, **more)  # type: ignore[arg-type]

    monkeypatch.setattr(Writer, "submit", counted)
    return asked


async def _take_round(client: RawClient, session: str) -> int:
    """One of each prompt; how many letters the agent sent.  What it sent is then forgotten."""
    for text in ROUND:
        await say(client, session, text)
    size = sum(len(str(frame)) for frame in client.frames)
    client.frames.clear()
    client.unread.clear()
    return size
