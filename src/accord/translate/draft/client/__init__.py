"""A client of the 2026-02 draft in front of an agent that speaks v1."""

from accord.translate.draft.client.initialize_and_login import DraftClient

__all__ = ["DraftClient"]
