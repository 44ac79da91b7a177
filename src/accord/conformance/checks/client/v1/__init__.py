"""Checks of v1 clients."""
