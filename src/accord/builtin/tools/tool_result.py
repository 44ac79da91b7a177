"""The result of a tool, limited to a length that a model can read."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

RESULT_CHARACTERS_MAX = 50_000
"""The longest text that a tool returns; what is beyond is left out, and the text says so."""

Denial = Literal[
    "user", "session", "remembered", "rule", "default", "cancelled", "unknown", "stopped", "mode"
]
"""The cause of a refusal: the user now, for this session, or earlier; a rule; no answer was
possible; the question was withdrawn; the client does not say; the user stopped it; the mode."""

BY_USER = frozenset({"user", "session"})
"""Refusals that come from the user at this moment."""

REFUSALS: dict[Denial, tuple[str, str]] = {
    "user": ("The user said no.", "you said no"),
    "session": ("The user rejected this for the session.", "you said no for this session"),
    "remembered": (
        "The user said no before, and that answer is remembered.",
        "you said no before, and that is remembered",
    ),
    "rule": ("A rule does not allow this.", "a rule does not allow it"),
    "default": (
        "Nothing allows this, and nobody could be asked.",
        "nothing allows it, and nobody could be asked",
    ),
    "cancelled": ("The question was cancelled.", "the question was cancelled"),
    "unknown": ("This was not allowed.", "it was not allowed"),
    "stopped": ("It was stopped by the user.", "it was stopped"),
}
"""Each refusal as a sentence for the model and the tool call, and as the end of a sentence for the
user.  The mode has a sentence of its own."""


@dataclass(frozen=True)
class ToolResult:
    """Outcome of a tool.  `text` is for a model or a person, `data` for a program."""

    ok: bool
    text: str
    data: object = None
    # What refused it, where it was refused and did not fail.
    denied: Denial | None = None
    # The notes in `text` about what was left out, for callers that write their own text.
    notes: tuple[str, ...] = ()


def capped(text: str, characters_max: int = RESULT_CHARACTERS_MAX) -> str:
    """The text within the bound: its beginning and its end, and between them what is missing."""
    if len(text) <= characters_max:
        return text
    left_out = len(text) - characters_max
    note = f"\n[… {left_out:,} characters left out …]\n"
    head = characters_max * 2 // 3
    return text[:head] + note + text[len(text) - (characters_max - head) :]


def ended(text: str) -> str:
    """The text with a full stop unless it already ends a sentence."""
    text = text.rstrip()
    return text if text.endswith((".", "!", "?", "…", ".)", "?)")) else f"{text}."


def done(text: str, data: object = None, notes: Sequence[str] = ()) -> ToolResult:
    """A result of a tool that succeeded."""
    return ToolResult(True, capped(text), data, notes=tuple(notes))


def failed(text: str, data: object = None, *, denied: Denial | None = None) -> ToolResult:
    """A result of a tool that failed; the text says why."""
    return ToolResult(False, capped(text), data, denied)
