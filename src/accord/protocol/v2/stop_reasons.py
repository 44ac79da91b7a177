"""The stop reasons of v2, and which of them an idle update carries."""

STOP_REASONS: frozenset[str] = frozenset(
    {"end_turn", "max_tokens", "max_turn_requests", "refusal", "cancelled", "error"}
)


def stop_reason(reason: str, *, cancelled: bool) -> str:
    """What an idle update carries: a known reason or one of an implementation's own."""
    if cancelled:
        return "cancelled"
    if reason in STOP_REASONS or reason.startswith("_"):
        return reason
    return "end_turn"
