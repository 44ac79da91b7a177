"""Checks of v2 agents."""
