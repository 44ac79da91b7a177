"""How a turn of v1 ends: the stop reasons that the answer to a prompt may have."""

STOP_REASONS: frozenset[str] = frozenset(
    {"end_turn", "max_tokens", "max_turn_requests", "refusal", "cancelled"}
)


def stop_reason(reason: str, *, cancelled: bool) -> str:
    """What the answer to a prompt carries: one of the five, and `cancelled` beats all."""
    if cancelled:
        return "cancelled"
    return reason if reason in STOP_REASONS else "end_turn"
