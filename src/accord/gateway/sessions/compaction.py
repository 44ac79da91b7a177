"""Fewer events with the same meaning: what a client sees of a session's history.  Pure.

What always holds
    * A client that is sent the compacted events sees what it would see of all of them.
    * An event that stands for several has the number of the last one, so that a reader goes on from
      there.
    * Only events that follow each other are joined, so that nothing changes its place.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, Final

from accord.gateway.sessions.log_events import (
    ANSWER,
    MARK,
    MEMBERS,
    REQUEST,
    SETTLED,
    UPDATE,
    Event,
)
from accord.schema.codec import Invalid, encode, to_python

JOINED_BYTES_MAX: Final = 256 * 1024
"""The longest text of a joined event, far below the limit of a frame."""

_CHUNKS: Final = frozenset({"agent_message_chunk", "agent_thought_chunk", "user_message_chunk"})
_NOT_SHOWN: Final = frozenset({ANSWER, MARK, MEMBERS, REQUEST, SETTLED})


class Compactor:
    """Takes events in order, and gives back those that are complete.

    Guards: what is held back is one run of chunks, or nothing.
    """

    def __init__(self) -> None:
        self._run: dict[str, Any] | None = None
        self._texts: list[str] = []
        self._bytes = 0
        self._first: Event | None = None
        self._last_seq = 0

    def take(self, events: Iterable[Event]) -> Iterator[Event]:
        """Take events; yield those that are complete."""
        for event in events:
            if event.kind in _NOT_SHOWN:
                continue
            params = _params_of(event)
            if params is not None and params["update"].get("sessionUpdate") == "state_update":
                # Whoever joins is told the present state.
                continue
            if params is None or not _is_plain_chunk(params):
                yield from self.rest()
                yield event
                continue
            if not self._goes_on(params, len(event.body)):
                yield from self.rest()
                self._run, self._first = params, event
            self._texts.append(params["update"]["content"]["text"])
            self._bytes += len(event.body)
            self._last_seq = event.seq

    def rest(self) -> Iterator[Event]:
        """Yield the run that is still held back."""
        run, first, texts = self._run, self._first, self._texts
        self._run, self._first, self._texts, self._bytes = None, None, [], 0
        if run is None or first is None:
            return
        if len(texts) == 1:
            yield first._replace(seq=self._last_seq)
            return
        content = {**run["update"]["content"], "text": "".join(texts)}
        body = encode({**run, "update": {**run["update"], "content": content}})
        yield Event(self._last_seq, UPDATE, body)

    def _goes_on(self, params: dict[str, Any], size: int) -> bool:
        run = self._run
        return (
            run is not None
            and self._bytes + size <= JOINED_BYTES_MAX
            and _without_text(run) == _without_text(params)
        )


def _params_of(event: Event) -> dict[str, Any] | None:
    """Return the params of an update that can be read."""
    if event.kind != UPDATE:
        return None
    try:
        read = to_python(event.body)
    except Invalid:
        return None
    if isinstance(read, dict) and isinstance(read.get("update"), dict):
        return read
    return None


def _is_plain_chunk(params: dict[str, Any]) -> bool:
    """Whether an update is a piece of text and nothing else."""
    update = params["update"]
    content = update.get("content")
    return (
        update.get("sessionUpdate") in _CHUNKS
        and params.keys() == {"sessionId", "update"}
        and update.keys() <= {"sessionUpdate", "content", "messageId"}
        and isinstance(content, dict)
        and content.keys() == {"type", "text"}
        and content["type"] == "text"
        and isinstance(content["text"], str)
    )


def _without_text(params: dict[str, Any]) -> tuple[Any, Any, Any]:
    update = params["update"]
    return params["sessionId"], update["sessionUpdate"], update.get("messageId", ...)
