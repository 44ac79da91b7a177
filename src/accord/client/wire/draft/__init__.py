"""The 2026-02 draft on the client's side."""
