"""The results of `Peer.receive`: one frozen value per frame.

Must not know: what a method means; `$/cancel_request` is a notification like any other.
Always holds: an event is complete in itself; `Raw` members are views into the frame, so whoever
keeps one for long calls `Raw.copy()`.  `note` is set when something had to be tolerated.
"""

from typing import Literal

import msgspec
from msgspec import Raw

from accord.jsonrpc.envelope import Id


class RequestReceived(msgspec.Struct, frozen=True, gc=False):
    """The peer asks; exactly one `answer` or `refuse` with this id is due."""

    id: Id
    method: str
    params: Raw
    note: str | None = None


class NotificationReceived(msgspec.Struct, frozen=True, gc=False):
    """A notification of the peer, which gets no answer."""

    method: str
    params: Raw
    note: str | None = None


class CallAnswered(msgspec.Struct, frozen=True, gc=False):
    """Our call with this id went well.  The id is no longer pending."""

    id: int
    result: Raw
    note: str | None = None


class CallFailed(msgspec.Struct, frozen=True, gc=False):
    """Our call with this id failed.  The id is no longer pending.

    With `malformed` the peer's answer broke the rules so that it says nothing: code and message
    are then our description of it.
    """

    id: int
    code: int
    message: str
    data: Raw | None = None
    malformed: bool = False
    note: str | None = None


class StrayAnswer(msgspec.Struct, frozen=True, gc=False):
    """An answer without an open request: unknown id, a second answer, or an error with id null.

    Code and message are those of the peer where the answer was an error: an error with id null
    is how a peer says that it could not read something of ours.  A `late` one answers a call
    that we gave up ourselves, which is nobody's fault; a `second` one a call that was settled.
    """

    id: Id
    code: int | None = None
    message: str | None = None
    note: str | None = None
    kind: Literal["unknown", "second", "late"] = "unknown"


class FrameRejected(msgspec.Struct, frozen=True, gc=False):
    """Bad input.  Nothing of it takes effect.

    `answer` is the frame to send back, None where none is due.  `count` is how many bad lines
    have come since the last good frame, this one included, and 0 when this was no noise.
    """

    code: int
    reason: str
    answer: bytes | None = None
    count: int = 0
    note: str | None = None


class BlankSkipped(msgspec.Struct, frozen=True, gc=False):
    """A line of nothing but whitespace; neither good nor bad."""

    note: str | None = None


SingleEvent = (
    RequestReceived
    | NotificationReceived
    | CallAnswered
    | CallFailed
    | StrayAnswer
    | FrameRejected
    | BlankSkipped
)


class Batch(msgspec.Struct, frozen=True):
    """An array: what happened at each of its entries, in order, and the entries themselves.

    `answer` is the array to send at once, when no entry is a request that still runs.  Otherwise
    the array comes out of the `answer` or `refuse` that settles the last of them.
    """

    events: tuple[SingleEvent, ...]
    entries: tuple[bytes, ...]
    answer: bytes | None = None
    note: str | None = None


Event = SingleEvent | Batch
