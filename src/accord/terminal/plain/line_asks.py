"""What a person can be asked for in line mode: a key, a line, a secret."""

from __future__ import annotations

from collections.abc import Generator, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

AskKind: TypeAlias = Literal["prompt", "working", "key", "line", "secret"]


@dataclass(frozen=True, slots=True)
class Ask:
    """One thing to ask for.

    `keys` are those that count, with the word that is shown for each; the answer is the key, or
    another letter, or nothing for Enter, Escape and the end of the input.  A "prompt" is what to
    say next, with what
    Enter alone would say; "working" is the same while a turn runs, when nobody waits for it.
    """

    kind: AskKind
    words: str = ""
    keys: Mapping[str, str] = field(default_factory=dict)
    remark: str = ""


# Says what to ask next, is told the answer (None: there is none any more), returns the result.
Dialogue: TypeAlias = Generator[Ask, str | None, Any]

__all__ = ["Ask", "AskKind", "Dialogue"]
