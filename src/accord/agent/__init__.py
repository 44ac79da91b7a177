"""Being an agent: one function that answers prompts, served in every version its clients speak."""

from accord.agent.agent import Agent
from accord.agent.turn import Turn

__all__ = ["Agent", "Turn"]
