"""What `accord serve` serves: a configured name, `module:agent`, a command, or a file's agents.

What always holds: a sandbox that was asked for is there for every agent, or nothing is served.
"""

from __future__ import annotations

import os
import re
from argparse import Namespace
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Final

from accord.cli.agent_setup.agent_argument import BUILT_IN
from accord.cli.agent_setup.remote_agent_command import agent_command
from accord.cli.agent_setup.sandbox import sandbox_options
from accord.cli.server_setup.agent_import import import_agent
from accord.cli.usage_error import UsageError
from accord.configuration.config_file import AgentEntry, Config
from accord.gateway.configuration.agent_settings import AgentSettings, SandboxSettings
from accord.gateway.configuration.config_file import GatewayConfig
from accord.machine.own_command_line import own_command
from accord.transport.remote_address import is_url, shown_url

if TYPE_CHECKING:
    from accord.agent import Agent

NAME_CHARACTERS_MAX: Final = 64
UNNAMED: Final = "agent"


@dataclass(frozen=True, slots=True)
class Target:
    """What is served, under a name; `agent` is set for an agent of the library, imported here."""

    name: str
    agents: Mapping[str, AgentSettings]
    agent: Agent | None = None


def target_of(arguments: Namespace, config: GatewayConfig, user: Config) -> Target:
    """Return what the command line and the file name.

    Raises:
        UsageError: it is nothing, two things, or cannot be in a sandbox.
    """
    target = _target(arguments, config, user)
    options = sandbox_options(arguments, user)
    if options is None:
        return target
    if target.agent is not None:
        raise UsageError(
            f"{arguments.agent} runs inside of the gateway, where --sandbox cannot hold it; start"
            " it as a program: -- python my_agent.py"
        )
    sandbox = SandboxSettings(
        write=tuple(map(Path, options.writable)),
        read=tuple(map(Path, options.readable)),
        network=options.network,
    )
    agents = {
        name: one if one.sandbox is not None else replace(one, sandbox=sandbox)
        for name, one in target.agents.items()
    }
    return replace(target, agents=agents)


def _target(arguments: Namespace, config: GatewayConfig, user: Config) -> Target:
    named: str | None = arguments.agent
    words: list[str] | None = arguments.after
    if config.file is not None:
        return _of_file(named, words, config)
    if words is not None:
        if named is not None:
            raise UsageError("give either an agent's name or a command after --, not both")
        if not words:
            raise UsageError("the command after -- is missing")
        return _one(AgentEntry(command=agent_command(words)), agent_name(words))
    if named is None:
        known = ", ".join(sorted({*user.agents, BUILT_IN}))
        raise UsageError(
            f"name an agent: one that you have configured ({known}), MODULE:AGENT, FILE.py:AGENT,"
            " or a command after --; or give a file with --config"
        )
    if named in user.agents:
        return _one(user.agents[named], agent_name([named]))
    if named == BUILT_IN:
        return _one(AgentEntry(command=own_command("agent")), BUILT_IN)
    if is_url(named):
        raise UsageError(
            f"{shown_url(named)} is a remote agent; to serve it to others, give it after --"
        )
    if ":" not in named:
        known = ", ".join(sorted({*user.agents, BUILT_IN}))
        raise UsageError(
            f"there is no agent {named!r}: it is neither configured (known: {known}) nor"
            " MODULE:AGENT; a command comes after --"
        )
    agent = import_agent(named, os.getcwd())
    name = agent_name([agent.name])
    # Its connection, like a process, is what has the sessions of one client.
    return Target(name, {name: AgentSettings(name=name, command=(), process="connection")}, agent)


def _of_file(named: str | None, words: list[str] | None, config: GatewayConfig) -> Target:
    if words is not None:
        raise UsageError("describe the command in the file of --config, in [agents.NAME]")
    assert config.file is not None
    if named is None:
        return Target(agent_name([config.file.stem]), config.agents)
    if named not in config.agents:
        known = ", ".join(sorted(config.agents))
        raise UsageError(f"{config.file} has no agent {named!r} (it has {known})")
    return Target(named, {named: config.agents[named]})


def _one(entry: AgentEntry, name: str) -> Target:
    cwd = None if entry.cwd is None else Path(entry.cwd).expanduser()
    settings = AgentSettings(name=name, command=entry.command, env=entry.env, cwd=cwd)
    return Target(name, {name: settings})


def agent_name(words: list[str]) -> str:
    """Make the name of an agent, which is part of its URL, from the words that start it."""
    text = words[0] if is_url(words[0]) else os.path.basename(words[0])
    name = re.sub(r"[^a-z0-9._-]+", "-", text.lower())[:NAME_CHARACTERS_MAX].strip("._-")
    return name or UNNAMED
