"""What the line mode can read, a key, a line or a secret, and where it is read from."""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol, TypeAlias

AskKind: TypeAlias = Literal["prompt", "working", "key", "line", "secret"]


@dataclass(frozen=True, slots=True)
class Ask:
    """One thing to read.

    `keys` are the accepted keys with their words; the answer is a key, another letter, or nothing
    for Enter, Escape and the end of the input.  A "prompt" is the next message, with a default for
    an empty line; "working" is the same while a turn runs.
    """

    kind: AskKind
    words: str = ""
    keys: Mapping[str, str] = field(default_factory=dict)
    remark: str = ""


# Yields what to ask next, receives the answer (None: the input ended), returns the result.
Dialogue: TypeAlias = Generator[Ask, str | None, Any]


class Listener(Protocol):
    """A source of lines: a terminal, a pipe or a script."""

    # Whether typed text is echoed, so that it need not be printed again.
    is_person: bool
    # Called when a line was ended or abandoned, so that pending output can be printed.
    on_change: Callable[[], None]

    @property
    def held_for(self) -> float | None:
        """Seconds to hold output back because the user types; None if it can be printed."""
        ...

    async def read(self, ask: Ask) -> str | None:
        """Read an answer; None at the end of the input.  May be cancelled at any time."""
        ...

    def refresh(self) -> None:
        """Show the question again after other output."""
        ...

    def drop_line(self) -> None:
        """Discard the unfinished line."""
        ...

    def forget_typed(self) -> None:
        """Discard what was typed so far: it does not answer the next question."""
        ...

    def resumed(self) -> None:
        """Restore the terminal after SIGCONT."""
        ...
