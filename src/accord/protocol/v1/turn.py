"""How a turn of v1 ends: the stop reasons that the answer to a prompt may have."""

from accord.schema.enumeration import enumeration
from accord.schema.v1.prompt import StopReason

STOP_REASONS: frozenset[str] = frozenset(enumeration(StopReason, open=False).values)


def stop_reason(reason: str, *, cancelled: bool) -> str:
    """What the answer to a prompt carries: one of v1's own, and `cancelled` beats all."""
    if cancelled:
        return "cancelled"
    return reason if reason in STOP_REASONS else "end_turn"
