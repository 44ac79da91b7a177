"""The foreground work of v2 as a table: states, which may follow which, and stop reasons.

A session's state is told by `state_update` snapshots.  Repeats change nothing; whatever is not in
the table is refused.
"""

from enum import Enum

STOP_REASONS: frozenset[str] = frozenset(
    {"end_turn", "max_tokens", "max_turn_requests", "refusal", "cancelled", "error"}
)


class Phase(Enum):
    """The states that an agent reports."""

    IDLE = "idle"
    RUNNING = "running"
    REQUIRES_ACTION = "requires_action"


class Step(Enum):
    """What moves a session from one to the other."""

    WORK_STARTED = "work_started"
    USER_ASKED = "user_asked"
    USER_ANSWERED = "user_answered"
    WORK_STOPPED = "work_stopped"


TRANSITIONS: dict[tuple[Phase, Step], Phase] = {
    (Phase.IDLE, Step.WORK_STARTED): Phase.RUNNING,
    (Phase.IDLE, Step.WORK_STOPPED): Phase.IDLE,
    (Phase.RUNNING, Step.WORK_STARTED): Phase.RUNNING,
    (Phase.RUNNING, Step.USER_ASKED): Phase.REQUIRES_ACTION,
    (Phase.RUNNING, Step.USER_ANSWERED): Phase.RUNNING,
    (Phase.RUNNING, Step.WORK_STOPPED): Phase.IDLE,
    (Phase.REQUIRES_ACTION, Step.USER_ASKED): Phase.REQUIRES_ACTION,
    (Phase.REQUIRES_ACTION, Step.USER_ANSWERED): Phase.RUNNING,
    (Phase.REQUIRES_ACTION, Step.WORK_STARTED): Phase.RUNNING,
    (Phase.REQUIRES_ACTION, Step.WORK_STOPPED): Phase.IDLE,
}


def is_busy(state: str) -> bool:
    """Whether a reported state means that work continues.  Unknown states are never idle."""
    return state != Phase.IDLE.value


def stop_reason(reason: str, *, cancelled: bool) -> str:
    """What an idle update carries: a known reason or one of an implementation's own."""
    if cancelled:
        return "cancelled"
    if reason in STOP_REASONS or reason.startswith("_"):
        return reason
    return "end_turn"
