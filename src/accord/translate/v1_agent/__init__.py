"""The translator for a v1 agent behind a v2 client.  Pure."""

from accord.translate.v1_agent.methods import V1Agent

__all__ = ["V1Agent"]
