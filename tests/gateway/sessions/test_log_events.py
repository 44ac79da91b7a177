"""Whether a log ends in the middle of a turn, for every way in which a turn can go."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from accord.gateway.agents.agent_process import Version
from accord.gateway.sessions.log_events import (
    ANSWER,
    EVENTS_PER_READ,
    PROMPT,
    REMARK,
    UPDATE,
    Event,
    LastTurn,
    body_of,
    last_turn,
)

pytestmark = pytest.mark.anyio

Entry = tuple[str, dict[str, Any]]
SAID: Entry = (UPDATE, {"update": {"sessionUpdate": "agent_message_chunk", "text": '"idle"'}})
ASKED: Entry = (PROMPT, {"author": {}, "prompt": []})


def answered(prompt: int) -> Entry:
    return (ANSWER, {"prompt": prompt, "result": {"stopReason": "end_turn"}})


def refused(prompt: int) -> Entry:
    return (ANSWER, {"prompt": prompt, "error": {"code": -32603, "message": "no"}})


def state(name: str) -> Entry:
    return (UPDATE, {"update": {"sessionUpdate": "state_update", "state": name}})


class ListLog:
    """A log that returns short pages, as one with large events does."""

    def __init__(self, entries: Sequence[Entry]) -> None:
        self.events = [
            Event(seq, kind, body_of(**content)) for seq, (kind, content) in enumerate(entries, 1)
        ]

    async def append(self, events: Sequence[tuple[str, bytes]]) -> int:
        raise AssertionError("nothing is written")

    async def read_after(self, seq: int, limit: int) -> Sequence[Event]:
        return self.events[seq : seq + min(limit, 7)]


NEVER, OVER = LastTurn(False, False, None), LastTurn(True, False, None)
CASES: tuple[tuple[Version, Sequence[Entry], LastTurn], ...] = (
    ("v1", [], NEVER),
    ("v1", [SAID], NEVER),
    ("v1", [ASKED], LastTurn(True, True, 1)),
    ("v1", [ASKED, SAID, SAID], LastTurn(True, True, 1)),
    ("v1", [ASKED, SAID, answered(1)], OVER),
    ("v1", [ASKED, answered(1), SAID], OVER),
    ("v1", [ASKED, refused(1)], OVER),
    ("v1", [ASKED, answered(1), ASKED, SAID], LastTurn(True, True, 3)),
    ("v1", [ASKED, *[SAID] * (2 * EVENTS_PER_READ + 3)], LastTurn(True, True, 1)),
    ("v1", [ASKED, (REMARK, {"text": "interrupted"}), refused(1)], OVER),
    ("v2", [], NEVER),
    ("v2", [SAID, state("idle")], NEVER),
    ("v2", [ASKED], LastTurn(True, True, 1)),
    ("v2", [ASKED, answered(1)], LastTurn(True, True, None)),
    ("v2", [ASKED, refused(1)], OVER),
    ("v2", [ASKED, answered(1), state("running"), SAID], LastTurn(True, True, None)),
    ("v2", [ASKED, state("running"), answered(1), state("idle")], OVER),
    ("v2", [ASKED, state("running"), state("requires_action")], LastTurn(True, True, 1)),
    ("v2", [ASKED, answered(1), state("idle"), SAID], OVER),
    ("v2", [ASKED, answered(1), state("idle"), ASKED], LastTurn(True, True, 4)),
    # The second prompt was refused while the first one ran.
    ("v2", [ASKED, answered(1), state("running"), ASKED, refused(4)], LastTurn(True, True, None)),
    ("v2", [ASKED, answered(1), state("idle"), ASKED, refused(4)], OVER),
)


@pytest.mark.parametrize("was_open", [True, False])
async def test_a_turn_that_began_in_the_snapshot_is_open_if_its_record_says_so(
    was_open: bool,
) -> None:
    """Ours: a snapshot has neither the ends of turns nor states."""
    tails: dict[Version, Sequence[tuple[Sequence[Entry], bool]]] = {
        "v1": [([], was_open), ([SAID], was_open), ([SAID, answered(1)], False)],
        "v2": [([SAID], was_open), ([state("idle")], False), ([state("running"), SAID], True)],
    }
    for version, cases in tails.items():
        for tail, is_open in cases:
            log = ListLog([ASKED, SAID, *tail])
            last = 2 + len(tail)
            found = await last_turn(log, last, version, past_seq=2, was_open=was_open)
            assert found == LastTurn(True, is_open, None)


@pytest.mark.parametrize(("version", "entries", "expected"), CASES)
async def test_the_end_of_a_log_tells(
    version: Version, entries: Sequence[Entry], expected: LastTurn
) -> None:
    """Issue 17: an interrupted turn is told, and one that ended is not said to have been."""
    log = ListLog(entries)
    assert await last_turn(log, len(entries), version) == expected
