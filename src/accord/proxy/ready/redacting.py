"""Secrets taken out of JSON: known forms of keys, and the values of secret variables.

It is a net with holes: a secret that comes in two pieces, or in another writing, passes.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from accord.machine.secrets import MARK, without_known_forms


class Redactor:
    """Knows the values to look for."""

    def __init__(self, values: Iterable[str] = ()) -> None:
        # Longer ones first: one may be the beginning of another.
        self._values = sorted(values, key=len, reverse=True)

    def text(self, text: str) -> str:
        """The text without secrets."""
        for value in self._values:
            text = text.replace(value, MARK)
        return without_known_forms(text)

    def value(self, value: Any) -> Any:
        """The same for every string in a JSON value; keys stay."""
        if isinstance(value, str):
            return self.text(value)
        if isinstance(value, list):
            return [self.value(one) for one in value]
        if isinstance(value, dict):
            return {key: self.value(one) for key, one in value.items()}
        return value


__all__ = ["Redactor"]
