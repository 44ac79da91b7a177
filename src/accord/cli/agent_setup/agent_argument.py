"""Finds the agent of a command line: a configured name, a URL, a command, or the built-in agent."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Iterable

from accord.cli.agent_setup.remote_agent_command import agent_command, given_words
from accord.cli.usage_error import UsageError
from accord.configuration.config_file import AgentEntry, Config
from accord.machine.own_command_line import own_command
from accord.transport.remote_address import is_url, shown_url, url_advice

BUILT_IN = "built-in"
"""The name of the built-in agent."""


def named_agent(arguments: Namespace, config: Config) -> AgentEntry:
    """Return how to start the agent; without a name or URL, the default or the built-in one.

    Raises:
        UsageError: there is no agent of this name, or two agents are given.
    """
    words = given_command(arguments)
    if words is not None:
        return AgentEntry(command=words)
    name: str | None = arguments.agent
    wanted = name or config.agent or BUILT_IN
    if wanted in config.agents:
        return config.agents[wanted]
    if wanted != BUILT_IN:
        raise unknown_agent(wanted, {*config.agents, BUILT_IN})
    return AgentEntry(command=own_command("agent"))


def unknown_agent(wanted: str, known: Iterable[str]) -> UsageError:
    """Return the error for a name that is not configured, which may be a URL with a mistake."""
    names = ", ".join(sorted(known))
    shown, advice = shown_url(wanted), url_advice(wanted)
    return UsageError(f"the configuration has no agent {shown!r} (known: {names}){advice}")


def given_command(arguments: Namespace) -> tuple[str, ...] | None:
    """Return the command after `--`, or the one for a URL; None if neither is given.

    Raises:
        UsageError: two agents are given, or the URL cannot be used.
    """
    name: str | None = arguments.agent
    words = given_words(arguments, name if name is not None and is_url(name) else None)
    if words is None:
        return None
    if arguments.after is not None and name is not None:
        raise UsageError("give either an agent's name or a command after --, not both")
    if not words:
        raise UsageError("the command after -- is missing")
    return agent_command(words)


def with_model(command: tuple[str, ...], model: str | None) -> tuple[str, ...]:
    """Add the model to the built-in agent's command, since it also accepts unlisted models.

    Any other agent's command is returned unchanged.
    """
    if model is None or command != own_command("agent"):
        return command
    return (*command, "--model", model)
