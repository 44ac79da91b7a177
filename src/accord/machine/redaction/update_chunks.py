"""Recognises updates that are a piece of a longer text, and finds the text in them.

Must not know redaction.  Works on plain JSON of any version; an update that cannot be read as a
piece is not one.
"""

from __future__ import annotations

from base64 import b64decode, b64encode
from typing import Any, Final, NamedTuple, TypeAlias

Json: TypeAlias = dict[str, Any]
Path: TypeAlias = tuple[str | int, ...]
Key: TypeAlias = tuple[str, str | None]
"""The stream that a piece belongs to: its kind, and its id if it has one."""

FINAL: Final = ("completed", "failed", "cancelled")
"""The statuses of a tool call that is over; no set, since a status may be anything."""
TERMINAL: Final = "terminal"
TOLD_TERMINAL: Final = "told terminal"
"""A terminal of v2, and one that an agent of v1 tells of beside its tool calls."""

_IDS: Final = {
    "agent_message_chunk": "messageId",
    "agent_thought_chunk": "messageId",
    "user_message_chunk": "messageId",
    "session_message_chunk": "messageId",
    "thought_message_chunk": "messageId",
    "compaction_summary_chunk": "compactionId",
    "tool_call_content_chunk": "toolCallId",
}
WHOLE: Final = {
    "agent_message": ("agent_message_chunk", "content"),
    "agent_thought": ("agent_thought_chunk", "content"),
    "user_message": ("user_message_chunk", "content"),
    "session_message": ("session_message_chunk", "content"),
    "compaction_update": ("compaction_summary_chunk", "summary"),
}
"""What is told as a whole and may go on in pieces: as which, and where its blocks stand."""
_TOLD: Final = ("_meta", "terminal_output", "data")


class Piece(NamedTuple):
    """A text in an update, and how to send more of it."""

    key: Key
    path: Path
    text: str
    more: Json
    more_path: Path
    is_bytes: bool = False
    """It is written in base64."""
    is_last: bool = False

    def decoded(self) -> str | bytes | None:
        """The text, or the bytes that it stands for; None if it is not base64."""
        if not self.is_bytes:
            return self.text
        try:
            return b64decode(self.text, validate=True)
        except ValueError:
            return None

    def encoded(self, text: str) -> str:
        """Encode a text as this piece is encoded."""
        if not self.is_bytes:
            return text
        return b64encode(text.encode("utf-8", "surrogateescape")).decode("ascii")


def piece_of(update: Json) -> Piece | None:
    """The piece that an update is, if it is one."""
    kind = kind_of(update)
    if kind in _IDS:
        return _chunk(update, kind)
    if kind in WHOLE:
        return _whole(update, *WHOLE[kind])
    if kind == "terminal_output_chunk":
        return _output(update, update.get("data"), ("data",))
    if kind == "terminal_update":
        return _output(update, at(update, ("output", "data")), ("output", "data"))
    if kind in ("tool_call", "tool_call_update"):
        return _told_terminal(update)
    return None


def stream_of(update: Json) -> tuple[str, object] | None:
    """The stream that an update adds to, even if it cannot be read as a piece."""
    kind = kind_of(update)
    if kind == "terminal_output_chunk":
        return TERMINAL, update.get("terminalId")
    return (kind, update.get(_IDS[kind])) if kind in _IDS else None


def kind_of(update: Json) -> str:
    """The kind of an update; empty where it has none."""
    kind = update.get("sessionUpdate")
    return kind if isinstance(kind, str) else ""


def _chunk(update: Json, kind: str) -> Piece | None:
    path: Path = ("content", "text")
    if kind == "tool_call_content_chunk":
        path = ("content", "content", "text")
    elif isinstance(update.get("content"), str):
        # In the draft the text itself stands there.
        path = ("content",)
    named, text = update.get(_IDS[kind]), at(update, path)
    if not isinstance(text, str) or not isinstance(named, str | None):
        return None
    return Piece((kind, named), path, text, _bare(update, path), path)


def _whole(update: Json, kind: str, name: str) -> Piece | None:
    blocks, named = update.get(name), update.get(_IDS[kind])
    if not isinstance(blocks, list) or not blocks or not isinstance(named, str):
        return None
    path: Path = (name, len(blocks) - 1, "text")
    text = at(update, path)
    block = {"type": "text", "text": ""}
    more = {"sessionUpdate": kind, _IDS[kind]: named, "content": block}
    if not isinstance(text, str):
        return None
    return Piece((kind, named), path, text, more, ("content", "text"))


def _output(update: Json, data: Any, path: Path) -> Piece | None:
    terminal_id = update.get("terminalId")
    if not isinstance(data, str) or not isinstance(terminal_id, str):
        return None
    chunk = {"sessionUpdate": "terminal_output_chunk", "terminalId": terminal_id, "data": ""}
    is_last = update.get("exitStatus") is not None
    key = TERMINAL, terminal_id
    return Piece(key, path, data, chunk, ("data",), is_bytes=True, is_last=is_last)


def _told_terminal(update: Json) -> Piece | None:
    text = at(update, _TOLD)
    terminal_id = at(update, ("_meta", "terminal_output", "terminal_id"))
    if not isinstance(text, str) or not isinstance(terminal_id, str):
        return None
    output = {"terminal_id": terminal_id, "data": ""}
    more = {
        "sessionUpdate": "tool_call_update",
        "toolCallId": update.get("toolCallId"),
        "_meta": {"terminal_output": output},
    }
    is_last = told_exit(update) == terminal_id
    return Piece((TOLD_TERMINAL, terminal_id), _TOLD, text, more, _TOLD, is_last=is_last)


def told_exit(update: Json) -> Any:
    """The terminal whose exit a v1 agent reports in `_meta`, if it does."""
    return at(update, ("_meta", "terminal_exit", "terminal_id"))


def at(value: Any, path: Path) -> Any:
    """The value at a path; None if there is none."""
    for name in path:
        if isinstance(name, int):
            value = value[name] if isinstance(value, list) else None
        else:
            value = value.get(name) if isinstance(value, dict) else None
    return value


def with_text(holder: Any, path: Path, text: str) -> Any:
    """A copy with another text at the path."""
    name, *rest = path
    inner = with_text(holder[name], tuple(rest), text) if rest else text
    if isinstance(name, int):
        return [*holder[:name], inner, *holder[name + 1 :]]
    return {**holder, name: inner}


def _bare(holder: Json, path: Path) -> Json:
    """The update without text and metadata, to send more of the text with."""
    made = {key: value for key, value in holder.items() if key != "_meta"}
    name, *rest = map(str, path)
    made[name] = _bare(made[name], tuple(rest)) if rest else ""
    return made
