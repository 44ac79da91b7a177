"""Checks and monitors of agents: by version, for faults, and for a network."""
