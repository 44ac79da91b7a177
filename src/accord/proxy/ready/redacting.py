"""Secrets taken out of JSON: known forms of keys, and the values of secret variables.

It is a net with holes: a secret in another writing passes.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from accord.machine.secrets import MARK, begun, without_known_forms


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

    def begun(self, text: str) -> int:
        """How many characters at the end may be the beginning of a secret.

        No secret that is whole is cut by that: its end may be another one's beginning.
        """
        safe = len(text) - begun(text)
        for value in self._values:
            at = max(0, len(text) - len(value) + 1) - 1
            while 0 <= (at := text.find(value[0], at + 1)) < safe:
                if value.startswith(text[at:]):
                    safe = at
        for value in self._values:
            whole = text.find(value, max(0, safe - len(value) + 1), safe + len(value) - 1)
            if whole >= 0:
                safe = min(safe, whole)
        return len(text) - safe

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
