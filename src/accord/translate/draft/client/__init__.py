"""A client of the 2026-02 draft in front of an agent that speaks v1."""

from accord.translate.draft.client.adapter import DraftClient

__all__ = ["DraftClient"]
