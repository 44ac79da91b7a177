"""Keys that do not show.

What always holds: a `Secret` never shows what it holds, however it is printed.
"""

from __future__ import annotations

from accord.machine.redaction.redactor import MARK


class Secret:
    """A key.  `reveal` is the only way to it."""

    __slots__ = ("_text",)

    def __init__(self, text: str) -> None:
        self._text = text

    def reveal(self) -> str:
        """The key itself."""
        return self._text

    def __repr__(self) -> str:
        return f"Secret({MARK})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Secret) and other._text == self._text

    def __hash__(self) -> int:
        return hash(self._text)


__all__ = ["Secret"]
