"""Keys that do not show, and texts from which keys are taken out.

What always holds
    * A `Secret` never shows what it holds, however it is printed.
    * `redacted` knows the shapes of the usual keys beside those that it is given.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

HIDDEN: Final = "[hidden]"
# A shorter one would take ordinary words out of a text.
SECRET_CHARACTERS_MIN: Final = 8

_SHAPES = re.compile(
    r"\b(?:sk|pk|rk)-[A-Za-z0-9_*.\-]{6,}"  # OpenAI, Anthropic and those who do as they do
    r"|\bAIza[A-Za-z0-9_\-]{10,}"  # Google
    r"|(?i:\bbearer\s+)[A-Za-z0-9._\-]{8,}"
)


class Secret:
    """A key.  `reveal` is the only way to it."""

    __slots__ = ("_text",)

    def __init__(self, text: str) -> None:
        self._text = text

    def reveal(self) -> str:
        """The key itself."""
        return self._text

    def __repr__(self) -> str:
        return f"Secret({HIDDEN})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Secret) and other._text == self._text

    def __hash__(self) -> int:
        return hash(self._text)


def redacted(text: str, secrets: Iterable[Secret] = ()) -> str:
    """The text without the secrets, and without what looks like one."""
    for secret in secrets:
        if len(secret.reveal()) >= SECRET_CHARACTERS_MIN:
            text = text.replace(secret.reveal(), HIDDEN)
    return _SHAPES.sub(HIDDEN, text)


__all__ = ["HIDDEN", "Secret", "redacted"]
