"""A dialect memory that sends a client straight to the draft."""

from __future__ import annotations

from collections.abc import Sequence


class OnlyDraft:
    """A memory that says that every agent spoke the draft."""

    def recall(self, agent: Sequence[str]) -> tuple[str, str] | None:
        return "draft", "1.0.0"

    def remember(self, agent: Sequence[str], dialect: str, version: str) -> None:
        assert dialect == "draft"

    def forget(self, agent: Sequence[str]) -> None:
        raise AssertionError("it speaks the draft")
