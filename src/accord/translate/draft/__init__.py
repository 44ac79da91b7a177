"""Translation between the 2026-02 draft and v1."""
