"""Checks and monitors of clients: by version, for faults, and for a network."""
