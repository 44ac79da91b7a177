"""Decides when a turn is over.

v1 answers the prompt when the work is done.  v2 answers when the message is part of the
conversation, and reports the end by a state.  The two come in any order, states repeat, and a
prompt that was sent during other work sees that work end first.

Pure: takes events and returns what they mean.  Must not know: tasks, clocks, or any message.
"""

from dataclasses import dataclass
from enum import Enum, auto
from typing import Any

from accord.errors import AuthenticationRequired, RequestFailed, request_failed
from accord.jsonrpc.error_codes import INTERNAL_ERROR


@dataclass(frozen=True, slots=True)
class Outcome:
    """How a turn ended.  `error` is set when the agent reported that something failed."""

    stop_reason: str | None
    usage: Any = None
    error: Any = None


class Verdict(Enum):
    """What an event means for the turn."""

    GOES_ON = auto()
    ENDED = auto()
    # It looks like the end, but work may be about to begin: check again in a moment.
    PERHAPS = auto()


class ForegroundWork:
    """The end of one v2 prompt.

    Guards: a turn never ends before its message is inserted, and the idle state of earlier work
    does not end it.
    """

    __slots__ = ("_busy", "_busy_before", "_cancelled", "_inserted", "_seen_busy", "outcome")

    def __init__(self, *, busy: bool) -> None:
        # Other work was going on when the prompt was sent.
        self._busy_before = busy
        self._busy = busy
        # Work was reported after the prompt was sent or, if other work went on, after insertion.
        self._seen_busy = False
        self._inserted = False
        self._cancelled = False
        self.outcome = Outcome(None)

    def inserted(self) -> Verdict:
        """The prompt was answered, so its message is part of the conversation."""
        self._inserted = True
        if self._busy:
            self._seen_busy = True
            return Verdict.GOES_ON
        if self._seen_busy and not self._busy_before:
            return Verdict.ENDED
        return Verdict.PERHAPS if self._seen_busy or self._cancelled else Verdict.GOES_ON

    def reported_busy(self) -> Verdict:
        """The agent reported a state other than idle."""
        self._busy = True
        if self._inserted or not self._busy_before:
            self._seen_busy = True
        return Verdict.GOES_ON

    def reported_idle(self, outcome: Outcome) -> Verdict:
        """The agent reported that no foreground work is left."""
        self._busy = False
        self.outcome = outcome
        if not self._inserted:
            # Either it belongs to earlier work, or it overtook the answer.
            self._seen_busy = self._seen_busy or self._busy_before
            return Verdict.GOES_ON
        return Verdict.ENDED if self._seen_busy else Verdict.PERHAPS

    def cancelled(self) -> Verdict:
        """The turn was cancelled.  An agent that had not begun reports nothing more."""
        self._cancelled = True
        self.outcome = Outcome("cancelled")
        return Verdict.PERHAPS if self._inserted and not self._busy else Verdict.GOES_ON

    @property
    def is_inserted(self) -> bool:
        """Whether the agent has made the message part of the conversation."""
        return self._inserted

    @property
    def is_quiet(self) -> bool:
        """Whether nothing has begun since; a `PERHAPS` is then the end after all."""
        return self._inserted and not self._busy


def only_says_stopped(error: Exception) -> bool:
    """Whether the error of a cancelled prompt only says that the prompt was stopped.

    Some agents answer with an internal error when the cancel ends their model's request.  Other
    errors have a cause that the user should see.
    """
    if isinstance(error, AuthenticationRequired):
        return True
    return isinstance(error, RequestFailed) and error.code == INTERNAL_ERROR


def failure_of(error: Any) -> Exception:
    """The error of a turn that a v2 agent ended with one, as if the agent had answered it."""
    if error is None:
        return request_failed("session/prompt", INTERNAL_ERROR, "the agent reported an error")
    data = getattr(error, "data", None)
    return request_failed("session/prompt", error.code, error.message, _plain(data))


def _plain(data: Any) -> Any:
    from accord.schema.codec import encode, to_python

    return to_python(encode(data)) if data else None
