"""The kinds of events in the log of a session, and their JSON.

A log is what a client has to see again: each event is stored before any client sees it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, NamedTuple, Protocol

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
