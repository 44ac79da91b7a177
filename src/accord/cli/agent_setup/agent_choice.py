"""Which agent a command line means: a name of the configuration, a command, or the built-in one."""

from __future__ import annotations

from collections.abc import Sequence

from accord.cli.run.job import UsageError
from accord.discovery.config import AgentEntry, Config
from accord.machine.own_command_line import own_command

BUILT_IN = "built-in"
"""The agent that is always there, by the name that it is shown with."""


def named_agent(name: str | None, after: Sequence[str] | None, config: Config) -> AgentEntry:
    """How to start it; without a name it is the configuration's, else the built-in one.

    Raises:
        UsageError: there is none of this name, or two are named.
    """
    if after is not None:
        if name is not None:
            raise UsageError("a name and a command after -- are two agents; name one")
        if not after:
            raise UsageError("a command is missing after --")
        return AgentEntry(command=tuple(after))
    wanted = name or config.agent or BUILT_IN
    if wanted in config.agents:
        return config.agents[wanted]
    if wanted != BUILT_IN:
        known = ", ".join(sorted({*config.agents, BUILT_IN}))
        raise UsageError(f"the configuration has no agent {wanted!r} ({known})")
    return AgentEntry(command=own_command("agent"))


def with_model(command: tuple[str, ...], model: str | None) -> tuple[str, ...]:
    """Tell the built-in agent which model is meant: it offers one that it does not list too.

    Any other agent's command is returned as it is.
    """
    if model is None or command != own_command("agent"):
        return command
    return (*command, "--model", model)


__all__ = ["BUILT_IN", "named_agent", "with_model"]
