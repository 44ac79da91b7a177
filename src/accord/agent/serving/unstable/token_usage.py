"""Counts of used tokens (unstable): of one turn in v2, of the whole session in v1."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from accord.errors import LocalProtocolError

KINDS = (
    "input_tokens",
    "output_tokens",
    "thought_tokens",
    "cached_read_tokens",
    "cached_write_tokens",
)


class TokenCount:
    """A running sum.  Guards: no count is negative; kinds that were never given are absent."""

    def __init__(self, counts: Mapping[str, int] | None = None) -> None:
        self._counts: dict[str, int] = dict(counts or {})

    @property
    def counts(self) -> dict[str, int]:
        """The sum of every kind that was given."""
        return dict(self._counts)

    def add(self, counts: Mapping[str, int | None]) -> None:
        """Add tokens; None leaves a kind unchanged."""
        given = {kind: count for kind, count in counts.items() if count is not None}
        if any(count < 0 for count in given.values()):
            raise LocalProtocolError("a count of tokens cannot be negative")
        for kind, count in given.items():
            self._counts[kind] = self._counts.get(kind, 0) + count

    def usage(self) -> dict[str, Any] | None:
        """The fields of `Usage`, which both versions name alike; None when nothing was counted."""
        if not self._counts:
            return None
        required = {"input_tokens": 0, "output_tokens": 0}
        return required | self._counts | {"total_tokens": sum(self._counts.values())}
