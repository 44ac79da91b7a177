"""Labels and signs for tool calls: kinds, names, states.

Used by the full screen and the line mode.  This module does not know either; returned text of the
agent is clean.

Invariant: an unknown value of the agent is shown as it is, never dropped and never taken for a
known one.
"""

from __future__ import annotations

from typing import Literal, NamedTuple, TypeAlias

from accord.schema.codec import Invalid, to_python
from accord.schema.struct import Raw
from accord.terminal.model.chat import Chat
from accord.terminal.model.text.display_text import WORD_MAX, one_line
from accord.transcript import ToolCall
from accord.transcript.items.tool_call import DENIED, KINDS_OF_TOOL, STATUSES


class Sign(NamedTuple):
    """A sign of one column, and its ASCII replacement."""

    sign: str
    plain: str


StateName: TypeAlias = Literal[
    "pending",
    "waiting",
    "running",
    "done",
    "failed",
    "denied",
    "cancelled",
    "paused",
    "unknown",
]


class CallState(NamedTuple):
    """The state of a tool call: our name, its label, and the reason if it is known."""

    name: StateName
    word: str
    why: str = ""


# ---- kinds of tools

_KIND_SIGNS: dict[str, Sign] = {
    "read": Sign("≡", "r"),
    "edit": Sign("✎", "e"),
    "delete": Sign("⊖", "d"),
    "move": Sign("⇄", "m"),
    "search": Sign("⌕", "s"),
    "execute": Sign("$", "$"),
    "think": Sign("∴", "t"),
    "fetch": Sign("⇣", "f"),
    "switch_mode": Sign("⇆", "o"),
}
_OTHER_SIGN = Sign("•", "*")
_KIND_WORDS = {"switch_mode": "switch mode", "other": "tool"}


def kind_sign(call: ToolCall) -> Sign:
    """Return the sign of the kind of a tool."""
    return _KIND_SIGNS.get(call.kind, _OTHER_SIGN)


def kind_word(call: ToolCall) -> str:
    """Return the label of the kind; an unknown kind is shown as it is."""
    if call.reported_kind not in KINDS_OF_TOOL:
        return one_line(call.reported_kind, WORD_MAX) or "tool"
    return _KIND_WORDS.get(call.kind, call.kind)


def call_title(call: ToolCall) -> str:
    """The title of the call in one line; never empty."""
    return one_line(call.title) or one_line(call.name or "") or kind_word(call)


def call_name(call: ToolCall) -> str:
    """The name of the tool as a second label; empty if the title says it already."""
    name = one_line(call.name or "") or _custom_name(call)
    return "" if name == call_title(call) else one_line(name, WORD_MAX)


# v1 agents with sub-agents report the parent call in `_meta`, each under its own name.
_PARENT_KEYS = ("parentToolUseId", "parentToolCallId", "parent_tool_use_id", "parent_tool_call_id")


def _customs(call: ToolCall) -> list[dict[str, object]]:
    found: list[dict[str, object]] = []
    for raw in call.meta.values():
        value = plain_value(raw)
        if isinstance(value, dict):
            found.append(value)  # pyright: ignore[reportUnknownArgumentType]
    return found


def _custom_name(call: ToolCall) -> str:
    for custom in _customs(call):
        name = custom.get("toolName")
        if isinstance(name, str):
            return one_line(name, WORD_MAX)
    return ""


def parent_of(call: ToolCall) -> str | None:
    """Return the id of the parent call, if the agent reports it."""
    for custom in _customs(call):
        for key in _PARENT_KEYS:
            parent = custom.get(key)
            if isinstance(parent, str) and parent:
                return parent
    return None


def plain_value(raw: Raw | bytes | None) -> object:
    """Return the value of JSON text; None if it is invalid or too large for Python."""
    try:
        value: object = None if raw is None else to_python(raw)
    except Invalid:
        return None
    return value


# ---- states of calls

STATE_SIGNS: dict[StateName, Sign] = {
    "pending": Sign("○", "-"),
    "waiting": Sign("?", "?"),
    "running": Sign("◐", "~"),
    "done": Sign("✓", "+"),
    "failed": Sign("✗", "x"),
    "denied": Sign("⊘", "!"),
    "cancelled": Sign("◌", "/"),
    "paused": Sign("‖", "="),
    "unknown": Sign("·", "."),
}
_STATUS_STATES: dict[str, CallState] = {
    "pending": CallState("pending", "pending"),
    "in_progress": CallState("running", "running"),
    "completed": CallState("done", "done"),
    "failed": CallState("failed", "failed"),
    "cancelled": CallState("cancelled", "cancelled"),
    "paused": CallState("paused", "paused"),
}


def call_state(call: ToolCall, chat: Chat) -> CallState:
    """The state of a call; the user's own decision takes precedence over the agent's status."""
    why = chat.denied.get(call.tool_call_id)
    if why is not None:
        return CallState("denied", "denied", one_line(why))
    if call.reported_status == DENIED:
        return CallState("denied", "denied")
    if call.cancelled:
        return _STATUS_STATES["cancelled"]
    if not call.is_final and chat.is_asked_about(call):
        return CallState("waiting", "waiting for you")
    if call.reported_status not in STATUSES:
        return CallState("unknown", one_line(call.reported_status, WORD_MAX) or "unknown")
    if call.status == "in_progress" and chat.phase == "lost":
        return CallState("unknown", "not finished")
    return _STATUS_STATES[call.status]
