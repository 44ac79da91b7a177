"""The life of a tool call: announced, asked, in progress, final, and never back."""

FINAL: frozenset[str] = frozenset({"completed", "failed", "cancelled"})

_FORWARD: dict[str, frozenset[str]] = {
    "pending": frozenset({"pending", "in_progress", "paused"}) | FINAL,
    "in_progress": frozenset({"in_progress", "paused"}) | FINAL,
    "paused": frozenset({"paused", "in_progress"}) | FINAL,
}


def is_final(status: str) -> bool:
    """Whether nothing but content may follow."""
    return status in FINAL


def may_follow(status: str, following: str) -> bool:
    """Whether a tool call in one status may take another.  A final one keeps its own."""
    if status in FINAL:
        return following == status
    # A status we do not know counts as in progress: it may become anything that is not `pending`.
    return following in _FORWARD.get(status, _FORWARD["in_progress"]) or following not in (
        FINAL | _FORWARD.keys()
    )
