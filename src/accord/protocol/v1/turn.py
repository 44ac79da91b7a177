"""The turn of v1 as a table, and its stop reasons: a prompt is open until its answer.

Whatever is not in the table is refused.  v1 leaves two prompts at once open; we queue the second.
"""

from enum import Enum

STOP_REASONS: frozenset[str] = frozenset(
    {"end_turn", "max_tokens", "max_turn_requests", "refusal", "cancelled"}
)


class Phase(Enum):
    """Where a session stands."""

    IDLE = "idle"
    RUNNING = "running"
    CANCELLING = "cancelling"
    CLOSED = "closed"


class Step(Enum):
    """What can happen to it."""

    PROMPT = "prompt"
    CANCEL = "cancel"
    TURN_ENDED = "turn_ended"
    CLOSE = "close"


TRANSITIONS: dict[tuple[Phase, Step], Phase] = {
    (Phase.IDLE, Step.PROMPT): Phase.RUNNING,
    (Phase.IDLE, Step.CANCEL): Phase.IDLE,
    (Phase.IDLE, Step.CLOSE): Phase.CLOSED,
    (Phase.RUNNING, Step.PROMPT): Phase.RUNNING,
    (Phase.RUNNING, Step.CANCEL): Phase.CANCELLING,
    (Phase.RUNNING, Step.TURN_ENDED): Phase.IDLE,
    (Phase.RUNNING, Step.CLOSE): Phase.CLOSED,
    (Phase.CANCELLING, Step.PROMPT): Phase.CANCELLING,
    (Phase.CANCELLING, Step.CANCEL): Phase.CANCELLING,
    (Phase.CANCELLING, Step.TURN_ENDED): Phase.IDLE,
    (Phase.CANCELLING, Step.CLOSE): Phase.CLOSED,
    (Phase.CLOSED, Step.CANCEL): Phase.CLOSED,
    (Phase.CLOSED, Step.TURN_ENDED): Phase.CLOSED,
    (Phase.CLOSED, Step.CLOSE): Phase.CLOSED,
}


def stop_reason(reason: str, *, cancelled: bool) -> str:
    """What the answer to a prompt carries: one of the five, and `cancelled` beats all."""
    if cancelled:
        return "cancelled"
    return reason if reason in STOP_REASONS else "end_turn"
