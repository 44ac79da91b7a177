"""The history of a fork: what its source added up to, as the beginning of a log of its own."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from accord.gateway.agents.agent_process import Version
from accord.gateway.sessions.log_events import ANSWER, NOTIFICATION, PROMPT, UPDATE, Event, body_of
from accord.gateway.sessions.session_versions import VERSIONS
from accord.schema.codec import Invalid, encode, to_python

IDLE = {"sessionUpdate": "state_update", "state": "idle", "stopReason": "end_turn"}


def forked(
    events: Iterable[Event], session_id: str, version: Version
) -> Iterator[tuple[str, bytes]]:
    """Yield the events of a fork with this id, numbered from 1.

    Each turn of it is over: what still runs in the source does not run in the fork.
    """
    seq = 0
    for event in events:
        seq += 1
        if event.kind in (UPDATE, NOTIFICATION):
            yield event.kind, _renamed(event, session_id)
            continue
        yield event.kind, event.body
        if event.kind == PROMPT:
            yield ANSWER, body_of(prompt=seq, result={})
            seq += 1
    if seq and not VERSIONS[version].answer_ends_turn:
        yield UPDATE, body_of(sessionId=session_id, update=IDLE)


def _renamed(event: Event, session_id: str) -> bytes:
    try:
        read: Any = to_python(event.body)
    except Invalid:
        return event.body
    params = read.get("params") if event.kind == NOTIFICATION and isinstance(read, dict) else read
    if not isinstance(params, dict):
        return event.body
    renamed = {**params, "sessionId": session_id}
    return encode({**read, "params": renamed} if event.kind == NOTIFICATION else renamed)


__all__ = ["forked"]
