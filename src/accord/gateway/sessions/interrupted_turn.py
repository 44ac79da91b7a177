"""Reads from the end of a session's log whether its last turn was still running.

The log is the one truth about it: a record that is stored a moment earlier or later than the events
of a turn would tell of a turn that had ended, or not of one that had begun.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any, Final, NamedTuple

from accord.gateway.agents.agent_process import Version
from accord.gateway.sessions.log_events import ANSWER, PROMPT, UPDATE, Event, content_of
from accord.gateway.sessions.session_writer import Log
from accord.schema.codec import to_python

EVENTS_PER_READ: Final = 256


class LastTurn(NamedTuple):
    """The end of a log: whether a prompt was ever sent, and what the last one left open."""

    was_prompted: bool
    is_open: bool
    # The number of the prompt that has no answer.
    unanswered: int | None


async def last_turn(log: Log, last_seq: int, version: Version) -> LastTurn:
    """Read a log backwards up to the prompt of its last turn."""
    answers: dict[int, dict[str, Any]] = {}
    state: str | None = None
    async for event in _newest_first(log, last_seq):
        if event.kind == ANSWER:
            answer = content_of(event)
            answers[answer["prompt"]] = answer
        elif event.kind == UPDATE and state is None:
            state = _state_in(event)
        elif event.kind == PROMPT:
            given = answers.get(event.seq)
            if version == "v2" and given is not None and "error" in given:
                # Refused: it began no turn, but one before it may still have been running.
                continue
            open_by_state = state != "idle" if version == "v2" else given is None
            return LastTurn(True, open_by_state, event.seq if given is None else None)
    return LastTurn(bool(answers), version == "v2" and state not in (None, "idle"), None)


async def _newest_first(log: Log, last_seq: int) -> AsyncIterator[Event]:
    end = last_seq
    while end > 0:
        start = max(0, end - EVENTS_PER_READ)
        page: list[Event] = []
        while start + len(page) < end:
            page += await log.read_after(start + len(page), end - start - len(page))
        for event in reversed(page):
            yield event
        end = start


def _state_in(event: Event) -> str | None:
    """Return the state that an update of a v2 agent reports."""
    if b'"state_update"' not in event.body:
        return None
    read = to_python(event.body)
    update = read.get("update") if isinstance(read, dict) else None
    if not isinstance(update, dict) or update.get("sessionUpdate") != "state_update":
        return None
    return str(update.get("state"))


__all__ = ["LastTurn", "last_turn"]
