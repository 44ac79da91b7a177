"""Checks of v2 clients."""
