"""The 2026-02 draft on the agent's side."""
