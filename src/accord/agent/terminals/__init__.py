"""Terminals of the client and of the agent itself."""
