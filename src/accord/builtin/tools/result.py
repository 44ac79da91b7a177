"""What a tool hands back, kept to a length that a model can read."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

RESULT_CHARACTERS_MAX = 50_000
"""The longest text that a tool returns; what is beyond is left out, and the text says so."""

Denial = Literal[
    "user", "session", "remembered", "rule", "default", "cancelled", "unknown", "stopped", "mode"
]
"""Who refused: the user now, for this session, or before; a rule; nobody, because nobody could be
asked or the question was withdrawn; a client that does not say; who stopped it; or the mode."""

BY_USER = frozenset({"user", "session"})
"""Where it is so that somebody here has said no."""

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
"""What a refusal is called: in a sentence for a model and a tool call, and as the end of one that
is said to the user.  The mode has a sentence of its own."""


@dataclass(frozen=True)
class ToolResult:
    """How a tool went.  `text` is for a model or a person, `data` for a program."""

    ok: bool
    text: str
    data: object = None
    # Who refused it, where it was refused and did not fail.
    denied: Denial | None = None
    # What the text says about what was left out, for whoever words the result anew.
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
    """A text that somebody else wrote, with the end of a sentence unless it has one."""
    text = text.rstrip()
    return text if text.endswith((".", "!", "?", "…", ".)", "?)")) else f"{text}."


def done(text: str, data: object = None, notes: Sequence[str] = ()) -> ToolResult:
    """It went well."""
    return ToolResult(True, capped(text), data, notes=tuple(notes))


def failed(text: str, data: object = None, *, denied: Denial | None = None) -> ToolResult:
    """It did not, and the text says why."""
    return ToolResult(False, capped(text), data, denied)
