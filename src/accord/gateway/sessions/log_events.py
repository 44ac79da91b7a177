"""The kinds of events in the log of a session, and their JSON.

A log is what a client has to see again: each event is stored before any client sees it.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Sequence
from typing import Any, Final, NamedTuple, Protocol

from accord.gateway.agents.agent_process import Version
from accord.schema.codec import encode, to_python

UPDATE: Final = "update"
"""Params of a `session/update` of the agent, as it sent them."""
NOTIFICATION: Final = "notification"
"""Another notification of the agent: its method and its params."""
PROMPT: Final = "prompt"
"""A prompt that is about to be sent to the agent: its author and its blocks."""
ANSWER: Final = "answer"
"""The end of a prompt's request: its result or its error."""
REQUEST: Final = "request"
"""A request of the agent that several people may answer."""
SETTLED: Final = "settled"
"""The end of such a request, and who ended it."""
REMARK: Final = "remark"
"""A sentence of the gateway about the session, such as that a turn was interrupted."""
MARK: Final = "mark"
"""Nothing: the end of a snapshot whose last events nobody is shown."""
MEMBERS: Final = "members"
"""The people of the session and their roles, after a change."""


class Event(NamedTuple):
    """One event, as it stands in the log."""

    seq: int
    kind: str
    body: bytes


def content_of(event: Event) -> dict[str, Any]:
    """Read the JSON of an event that the gateway wrote itself."""
    content: dict[str, Any] = to_python(event.body)
    return content


def body_of(**content: Any) -> bytes:
    """Write the JSON of an event."""
    return encode(content)


class Put(Protocol):
    """Puts an event into the log; `then` is called with its number once it is there."""

    def __call__(
        self, kind: str, body: bytes, then: Callable[[int], None] | None = None, /
    ) -> None: ...


# ---- the end of a log


EVENTS_PER_READ: Final = 256


class EventReader(Protocol):
    """The log of one session, to be read."""

    async def read_after(self, seq: int, limit: int) -> Sequence[Event]:
        """Return the next events behind a number, in order."""
        ...


class LastTurn(NamedTuple):
    """The end of a log: whether a prompt was ever sent, and what the last one left open."""

    was_prompted: bool
    is_open: bool
    # The number of the prompt that has no answer.
    unanswered: int | None


async def last_turn(
    log: EventReader,
    last_seq: int,
    version: Version,
    *,
    past_seq: int = 0,
    was_open: bool = False,
) -> LastTurn:
    """Read a log backwards up to the prompt of its last turn.

    The log is the one truth about it: a record that is stored a moment earlier or later than the
    events of a turn would tell of a turn that had ended, or not of one that had begun.  Only where
    the turn began in the snapshot, up to `past_seq`, its record counts: `was_open`.
    """
    answers: dict[int, dict[str, Any]] = {}
    state: str | None = None
    async for event in _newest_first(log, past_seq, last_seq):
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
    if version == "v2" and state is not None:
        return LastTurn(past_seq > 0, state != "idle", None)
    return LastTurn(bool(answers) or past_seq > 0, was_open and past_seq > 0 and not answers, None)


async def _newest_first(log: EventReader, past_seq: int, last_seq: int) -> AsyncIterator[Event]:
    end = last_seq
    while end > past_seq:
        start = max(past_seq, end - EVENTS_PER_READ)
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
