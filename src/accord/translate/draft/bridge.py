"""The common part of both bridges to the draft: error codes, mixed dialects, timers.

What always holds
    * An error leaves in the numbers of the side that it goes to.
    * A request that has the keys of the other dialect is refused before anything is made of it.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Sequence
from typing import ClassVar, Final, NamedTuple

from accord.jsonrpc.error_codes import INVALID_PARAMS
from accord.translate.adapter import NOTHING, Adapter, Outs
from accord.translate.draft.error_codes import from_draft_error, to_draft_error
from accord.translate.message import (
    AGENT,
    CLIENT,
    Answer,
    CannotTranslate,
    Failure,
    Json,
    Key,
    Out,
    Request,
    Result,
    Side,
    Surroundings,
)

# Ids of messages that a bridge made from `index` and `final`; the draft does not need them back.
MADE_MESSAGE: Final = "d26-message-"
# Keys that belong to the other dialect, by method.
_OFFICIAL_KEYS: Final[dict[str, tuple[str, ...]]] = {
    "initialize": ("clientCapabilities",),
    "authenticate": ("methodId",),
    "session/new": ("cwd",),
    "session/load": ("cwd",),
    "session/prompt": ("prompt",),
    "session/set_mode": ("modeId",),
    "session/set_config_option": ("configId",),
    "session/request_permission": ("toolCall", "options"),
    "fs/read_text_file": ("line", "limit"),
    "terminal/create": ("outputByteLimit",),
}
# If the official side is our own client, no bridge behind the agent needs these.
_OFFICIAL_KEYS_OF_AGENTS: Final[dict[str, tuple[str, ...]]] = {
    "session/request_permission": ("subject",),
    "fs/read_text_file": ("sessionId",),
    "fs/write_text_file": ("sessionId",),
    "terminal/create": ("sessionId",),
    "terminal/wait_for_exit": ("sessionId",),
    "terminal/kill": ("sessionId",),
    "terminal/release": ("sessionId",),
}
_DRAFT_KEYS: Final[dict[str, tuple[str, ...]]] = {
    "authenticate": ("method", "credentials"),
    "session/new": ("workingDirectory",),
    "session/prompt": ("content",),
    "session/set_mode": ("mode",),
    "session/set_config_option": ("key",),
    "session/request_permission": ("operation",),
    "fs/read_text_file": ("startLine", "endLine"),
}


class Timer(NamedTuple):
    """A function that is called at a time."""

    at: float
    number: int
    do: Callable[[], Sequence[Out]]


class Timers:
    """Timers in the order in which they are due.  Guards: cancelled ones never run."""

    def __init__(self) -> None:
        self._heap: list[Timer] = []
        self._live: set[int] = set()
        self._count = 0

    def start(self, at: float, do: Callable[[], Sequence[Out]]) -> int:
        """Start a timer; return the number that cancels it."""
        self._count += 1
        self._live.add(self._count)
        heapq.heappush(self._heap, Timer(at, self._count, do))
        return self._count

    def cancel(self, number: int | None) -> None:
        """Cancel a timer; do nothing for None, or for one that has run."""
        if number is not None:
            self._live.discard(number)
        self._drop_dead()

    def _drop_dead(self) -> None:
        while self._heap and self._heap[0].number not in self._live:
            heapq.heappop(self._heap)

    @property
    def next_at(self) -> float | None:
        """When the first timer is due."""
        return self._heap[0].at if self._heap else None

    def due(self, now: float) -> list[Out]:
        """Run the timers that are due."""
        outs: list[Out] = []
        while self._heap and self._heap[0].at <= now:
            timer = heapq.heappop(self._heap)
            if timer.number in self._live:
                self._live.discard(timer.number)
                outs.extend(timer.do())
        self._drop_dead()
        return outs

    def clear(self) -> None:
        """Cancel all timers at once."""
        self._heap.clear()
        self._live.clear()


class DraftBridge(Adapter):
    """A bridge with the draft on one side and v1 on the other."""

    draft_side: ClassVar[Side]

    def __init__(
        self,
        surroundings: Surroundings,
        *,
        strict: bool = False,
        unstable: bool = False,
        details: bool = False,
    ) -> None:
        """With `details` the official side is an endpoint of ours in this process.

        What the draft says and v1 has no field for is then its to act on, out of `_meta`.
        """
        super().__init__(surroundings, strict=strict, unstable=unstable)
        self.details = details
        self.timers = Timers()

    @property
    def wake_at(self) -> float | None:
        """When the first timer is due."""
        return self.timers.next_at

    def due(self) -> Outs:
        """Run the timers that are due."""
        return self.timers.due(self.around.now())

    def after(self, seconds: float) -> float:
        """Return the time this many seconds from now."""
        return self.around.now() + seconds

    def fail(self, side: Side, key: Key, failure: Failure, session_id: str = "") -> Out:
        """Answer a request with an error of the other side, in the codes of the sender."""
        if side is self.draft_side:
            code, data = to_draft_error(failure.code, failure.data, bool(session_id))
        else:
            code, data = from_draft_error(failure.code, failure.data, session_id)
        return side, Failure(key, code, failure.message, data)

    def introduce(self, request: Request, params: Json, introduced: Callable[[Json], Json]) -> Outs:
        """Pass `initialize` on with these params; `introduced` makes the client's result."""

        def then(answer: Answer) -> Outs:
            if isinstance(answer, Failure):
                return [self.fail(CLIENT, request.key, answer)]
            return [(CLIENT, Result(request.key, introduced(answer.result)))]

        return [self.ask(AGENT, request.method, params, then, instead_of=request, of=CLIENT)]

    def pass_on(self, side: Side, request: Request, to: Side) -> Outs:
        """Forward a request, and answer with the answer; error codes are converted."""

        def then(answer: Answer) -> Outs:
            if isinstance(answer, Failure):
                return [self.fail(side, request.key, answer)]
            return [self.answer(side, request.key, answer)]

        return [self.ask(to, request.method, request.params, then, instead_of=request, of=side)]

    def loss(self, kind: str) -> None:
        """Count what is left out of a message that is still sent."""
        self.losses[kind] = self.losses.get(kind, 0) + 1

    def _requested(self, side: Side, request: Request) -> Outs:
        foreign = _OFFICIAL_KEYS if side is self.draft_side else _DRAFT_KEYS
        keys = foreign.get(request.method, ())
        if self.details and side is self.draft_side is AGENT:
            keys += _OFFICIAL_KEYS_OF_AGENTS.get(request.method, ())
        for key in keys:
            if key in request.params:
                self._open[side, request.key] = None
                reason = f"`{key}` does not belong to the dialect of this connection"
                data = {"reason": "mixed_dialects", "path": f"$.{key}"}
                return self._settled([(side, Failure(request.key, INVALID_PARAMS, reason, data))])
        return super()._requested(side, request)

    def _notified_nothing(self, params: object) -> Outs:
        """Drop a notification that the other side has no form for and does not need."""
        del params
        return NOTHING


def invalid(reason: str, **data: object) -> CannotTranslate:
    """Make the error for invalid params, which has the same code in both dialects."""
    return CannotTranslate(INVALID_PARAMS, reason, data or None)
