"""Labels and signs for an agent's activity: kinds, states, times, sizes, outcomes.

Used by the full screen and the line mode.  This module does not know either; returned text of the
agent is clean.

Invariant: an unknown value of the agent is shown as it is, never dropped and never taken for a
known one.
"""

from __future__ import annotations

import math
from typing import Literal, NamedTuple, TypeAlias

from accord.schema.codec import Invalid, to_python
from accord.schema.struct import Raw
from accord.terminal.model.chat import Chat
from accord.terminal.model.text.display_text import one_line
from accord.transcript import Cost, ExitStatus, ToolCall, Usage
from accord.transcript.items.tool_call import DENIED, KINDS_OF_TOOL, STATUSES

WORD_MAX = 60
"""The most characters of an agent's value that should be a word."""


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


# ---- outcomes


class StopWords(NamedTuple):
    """A sentence that says how a turn ended, and whether it ended normally."""

    text: str
    is_good: bool


_STOPS: dict[str, StopWords] = {
    "end_turn": StopWords("The agent is done.", True),
    "max_tokens": StopWords("The agent stopped: it reached the token limit.", False),
    "max_turn_requests": StopWords(
        "The agent stopped: it reached the limit of model requests for one turn.", False
    ),
    "refusal": StopWords(
        "The agent refused to continue. It removed your prompt and what followed from its context "
        "and will not remember them.",
        False,
    ),
    "cancelled": StopWords("You stopped the turn.", True),
    "error": StopWords("The turn failed.", False),
}


def stop_words(reason: str | None) -> StopWords:
    """Describe how a turn ended; an unknown reason is shown as it is."""
    if reason is None:
        return StopWords("The turn is over.", True)
    known = _STOPS.get(reason)
    return known or StopWords(f"The turn ended: {one_line(reason, WORD_MAX)}.", False)


def exit_words(status: ExitStatus) -> str:
    """How a command ended."""
    if status.signal:
        return f"ended by {one_line(status.signal, WORD_MAX)}"
    if status.exit_code is None:
        return "ended"
    return f"exit code {status.exit_code}"


# ---- numbers


def duration_words(seconds: float) -> str:
    """A time that something takes: "0.4 s", "12 s", "3 m 05 s", "1 h 02 m"."""
    if not math.isfinite(seconds) or seconds < 0:
        return "0.0 s"
    if seconds < 9.95:
        return f"{seconds:.1f} s"
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} m {whole % 60:02d} s"
    return f"{whole // 3600} h {whole % 3600 // 60:02d} m"


def size_words(size: int) -> str:
    """A number of bytes: "512 bytes", "1.2 kB", "12 kB"."""
    if abs(size) < 1000:
        return counted(size, "byte")
    return _scaled(size, ("kB", "MB", "GB", "TB", "PB", "EB"), " ")


def count_words(number: int) -> str:
    """A number of tokens and the like: "950", "1.2k", "12k", "2.0M"."""
    return (
        str(number) if abs(number) < 1000 else _scaled(number, ("k", "M", "G", "T", "P", "E"), "")
    )


def _scaled(number: float, units: tuple[str, ...], gap: str) -> str:
    power = 1
    # A value that would be rounded to a thousand is shown in the next unit.
    while abs(number) / 1000**power >= 999.5 and power < len(units):
        power += 1
    number /= 1000**power
    said = f"{number:.1f}" if abs(number) < 9.95 else f"{number:.0f}"
    return f"{said}{gap}{units[power - 1]}"


def counted(number: int, thing: str) -> str:
    """Return a count with its noun in the singular or plural."""
    return f"{number} {thing}" if number == 1 else f"{number} {thing}s"


_CURRENCIES = {"USD": "$", "EUR": "€", "GBP": "£", "JPY": "¥"}


def cost_words(cost: Cost) -> str:
    """Return the cost: "$0.12", "3.50 credits"."""
    amount = cost.amount if math.isfinite(cost.amount) else 0.0
    said = f"{amount:.2f}" if abs(amount) < 1e12 else f"{amount:.3g}"
    unit = one_line(cost.currency, 12)
    sign = _CURRENCIES.get(unit.upper())
    return f"{sign}{said}" if sign else f"{said} {unit}".rstrip()


def usage_words(usage: Usage) -> str:
    """How full the context is: "12k of 200k tokens (6 %)"; empty if nothing is known."""
    if usage.used is None or usage.size is None:
        return ""
    if usage.size <= 0:
        return f"{count_words(usage.used)} tokens"
    share = round(100 * usage.used / usage.size)
    return f"{count_words(usage.used)} of {count_words(usage.size)} tokens ({share} %)"


def path_words(path: str, folder: str) -> str:
    """Return a path for display, relative to the session's folder if it is inside."""
    base = folder.rstrip("/\\")
    if base and path.startswith(base) and path[len(base) : len(base) + 1] in ("/", "\\"):
        path = path[len(base) + 1 :]
    return one_line(path)
