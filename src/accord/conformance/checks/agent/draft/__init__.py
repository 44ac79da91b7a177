"""Checks of agents of the 2026-02 draft."""
