"""An agent of the 2026-02 draft behind a client that speaks v1."""

from accord.translate.draft.agent.initialize_and_login import DraftAgent

__all__ = ["DraftAgent"]
