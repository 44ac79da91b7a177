"""Checks of clients."""
