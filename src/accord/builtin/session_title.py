"""The title of a session, made from its first prompt."""

from __future__ import annotations

TITLE_CHARACTERS_MAX = 60


def title_of(text: str) -> str:
    """The title of a session that begins with this prompt."""
    words = " ".join(text.split())
    if len(words) <= TITLE_CHARACTERS_MAX:
        return words or "Untitled"
    head = words[: TITLE_CHARACTERS_MAX - 1]
    return f"{head.rpartition(' ')[0] or head}…"
