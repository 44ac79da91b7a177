"""An agent of the 2026-02 draft behind a client that speaks v1."""

from accord.translate.draft.agent.adapter import DraftAgent

__all__ = ["DraftAgent"]
