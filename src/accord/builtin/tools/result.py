"""What a tool hands back, kept to a length that a model can read."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

RESULT_CHARACTERS_MAX = 50_000
"""The longest text that a tool returns; what is beyond is left out, and the text says so."""

Denial = Literal["user", "mode"]


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
