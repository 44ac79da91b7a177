"""Finds the agent of a command line: a configured name, a command, or the built-in agent."""

from __future__ import annotations

from collections.abc import Sequence

from accord.cli.usage_error import UsageError
from accord.configuration.config import AgentEntry, Config
from accord.machine.own_command_line import own_command

BUILT_IN = "built-in"
"""The name of the built-in agent."""


def named_agent(name: str | None, after: Sequence[str] | None, config: Config) -> AgentEntry:
    """Return how to start the agent; without a name, the default or the built-in one.

    Raises:
        UsageError: there is no agent of this name, or two agents are given.
    """
    if after is not None:
        if name is not None:
            raise UsageError("give either an agent's name or a command after --, not both")
        if not after:
            raise UsageError("the command after -- is missing")
        return AgentEntry(command=tuple(after))
    wanted = name or config.agent or BUILT_IN
    if wanted in config.agents:
        return config.agents[wanted]
    if wanted != BUILT_IN:
        known = ", ".join(sorted({*config.agents, BUILT_IN}))
        raise UsageError(f"the configuration has no agent {wanted!r} (known: {known})")
    return AgentEntry(command=own_command("agent"))


def with_model(command: tuple[str, ...], model: str | None) -> tuple[str, ...]:
    """Add the model to the built-in agent's command, since it also accepts unlisted models.

    Any other agent's command is returned unchanged.
    """
    if model is None or command != own_command("agent"):
        return command
    return (*command, "--model", model)


__all__ = ["BUILT_IN", "named_agent", "with_model"]
