"""Resets before replayed chunks of something that the client may still show.

A chunk adds to what is there.  A client that resumes a session which it has shown already would
have each text twice; so in a replay each item is emptied before its first chunk.

No I/O.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from accord.schema import v2
from accord.schema.struct import UNSET


class _Item(NamedTuple):
    """The item that chunks add to: its type, the name of its id, and the field they add to."""

    kind: Any
    id_name: str
    content: str
    empty: Any


_MESSAGES: dict[Any, _Item] = {
    v2.UserMessageChunk: _Item(v2.UserMessage, "message_id", "content", []),
    v2.AgentMessageChunk: _Item(v2.AgentMessage, "message_id", "content", []),
    v2.AgentThoughtChunk: _Item(v2.AgentThought, "message_id", "content", []),
}
_ITEMS: dict[Any, _Item] = {
    **_MESSAGES,
    v2.SessionMessageChunk: _Item(v2.SessionMessage, "message_id", "content", []),
    v2.ToolCallContentChunk: _Item(v2.ToolCallUpdate, "tool_call_id", "content", []),
    v2.TerminalOutputChunk: _Item(
        v2.TerminalUpdate, "terminal_id", "output", v2.TerminalOutput(data=b"")
    ),
    v2.CompactionSummaryChunk: _Item(v2.CompactionUpdate, "compaction_id", "summary", []),
}
_CHUNKS = {item.kind: chunk for chunk, item in _ITEMS.items()}

MESSAGES = frozenset(_MESSAGES)
"""The chunks of messages alone."""
CHUNKS = frozenset(_ITEMS)
"""The chunks of every kind of item."""


class ReplayResets:
    """Guards: in one replay each item is emptied once, before its first chunk."""

    def __init__(self, kinds: frozenset[Any]) -> None:
        """`kinds` are the chunks that need a reset."""
        self._kinds = kinds
        self._said: set[tuple[Any, str]] = set()
        # A compaction update needs a status.
        self._statuses: dict[str, str] = {}

    def before(self, update: Any) -> Any | None:
        """The reset to send before this update, or None."""
        kind = type(update)
        if kind in self._kinds:
            item = _ITEMS[kind]
            named = getattr(update, item.id_name)
            if (kind, named) in self._said:
                return None
            self._said.add((kind, named))
            more = {}
            if kind is v2.CompactionSummaryChunk:
                more["status"] = self._statuses.get(named, "in_progress")
            return item.kind(**{item.id_name: named, item.content: item.empty, **more})
        chunk = _CHUNKS.get(kind)
        if chunk is not None:
            item = _ITEMS[chunk]
            named = getattr(update, item.id_name)
            if getattr(update, item.content) is not UNSET:
                self._said.add((chunk, named))
            if kind is v2.CompactionUpdate:
                self._statuses[named] = update.status
        return None
