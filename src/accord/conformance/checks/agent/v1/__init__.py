"""Checks of v1 agents."""
