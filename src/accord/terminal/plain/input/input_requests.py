"""What can be asked for in line mode: a key, a line, a secret; and who is asked."""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol, TypeAlias

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


# Says what to ask next, is told the answer (None: there is none anymore), returns the result.
Dialogue: TypeAlias = Generator[Ask, str | None, Any]


class Listener(Protocol):
    """A source of lines: a terminal, a pipe or a script."""

    # Whether a user sees what they write, so that it need not be told again.
    is_person: bool
    # Told when a line was ended or left, so that what waits can be told.
    on_change: Callable[[], None]

    @property
    def held_for(self) -> float | None:
        """Seconds for which nothing is to be told, because somebody writes; None: tell."""
        ...

    async def read(self, ask: Ask) -> str | None:
        """The answer; None when there will be no more.  May be cancelled at any time."""
        ...

    def refresh(self) -> None:
        """Something was told: show again what is asked for."""
        ...

    def drop_line(self) -> None:
        """What was begun is not meant anymore."""
        ...

    def forget_typed(self) -> None:
        """Discard what was typed so far: it does not answer the next question."""
        ...

    def resumed(self) -> None:
        """The program goes on after it was stopped by the shell."""
        ...


__all__ = ["Ask", "AskKind", "Dialogue", "Listener"]
