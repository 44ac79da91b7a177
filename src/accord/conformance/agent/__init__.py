"""Judging agents: the kit plays the client."""
