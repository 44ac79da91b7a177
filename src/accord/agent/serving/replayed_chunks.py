"""What must be said before the pieces of something that the client may still hold.

A piece adds to what there is.  A client that resumes a session it has shown already would have
each text twice; so where a past is told in pieces, each thing is first said to be empty.

No I/O.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from accord.schema import v2
from accord.schema.struct import UNSET


class _Whole(NamedTuple):
    """What pieces of a kind belong to: its kind, the name of its id and of what they add to."""

    kind: Any
    id_name: str
    content: str
    empty: Any


_MESSAGES: dict[Any, _Whole] = {
    v2.UserMessageChunk: _Whole(v2.UserMessage, "message_id", "content", []),
    v2.AgentMessageChunk: _Whole(v2.AgentMessage, "message_id", "content", []),
    v2.AgentThoughtChunk: _Whole(v2.AgentThought, "message_id", "content", []),
}
_WHOLES: dict[Any, _Whole] = {
    **_MESSAGES,
    v2.SessionMessageChunk: _Whole(v2.SessionMessage, "message_id", "content", []),
    v2.ToolCallContentChunk: _Whole(v2.ToolCallUpdate, "tool_call_id", "content", []),
    v2.TerminalOutputChunk: _Whole(
        v2.TerminalUpdate, "terminal_id", "output", v2.TerminalOutput(data=b"")
    ),
    v2.CompactionSummaryChunk: _Whole(v2.CompactionUpdate, "compaction_id", "summary", []),
}
_PIECES = {whole.kind: piece for piece, whole in _WHOLES.items()}

MESSAGES = frozenset(_MESSAGES)
"""Pieces of messages."""
PIECES = frozenset(_WHOLES)
"""All pieces."""


class ReplayedPieces:
    """Guards: in one replay each thing is said to be empty once, before its first piece."""

    def __init__(self, kinds: frozenset[Any]) -> None:
        """Only pieces of these kinds need anything before them."""
        self._kinds = kinds
        self._said: set[tuple[Any, str]] = set()
        # A compaction cannot be told without its status.
        self._statuses: dict[str, str] = {}

    def before(self, update: Any) -> Any | None:
        """What has to be said before this update; None where nothing has to."""
        kind = type(update)
        if kind in self._kinds:
            whole = _WHOLES[kind]
            named = getattr(update, whole.id_name)
            if (kind, named) in self._said:
                return None
            self._said.add((kind, named))
            more = {}
            if kind is v2.CompactionSummaryChunk:
                more["status"] = self._statuses.get(named, "in_progress")
            return whole.kind(**{whole.id_name: named, whole.content: whole.empty, **more})
        piece = _PIECES.get(kind)
        if piece is not None:
            whole = _WHOLES[piece]
            named = getattr(update, whole.id_name)
            if getattr(update, whole.content) is not UNSET:
                self._said.add((piece, named))
            if kind is v2.CompactionUpdate:
                self._statuses[named] = update.status
        return None


__all__ = ["MESSAGES", "PIECES", "ReplayedPieces"]
