"""Finds the agents that `accord chat` can start, and their options.

Must not know any screen.
"""

from __future__ import annotations

import os
from argparse import Namespace
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from accord.cli.agent_setup.agent_argument import (
    BUILT_IN,
    given_command,
    unknown_agent,
    with_model,
)
from accord.cli.agent_setup.mcp_servers import servers_of
from accord.cli.agent_setup.sandbox import sandbox_for, sandbox_options
from accord.cli.usage_error import UsageError
from accord.client.invitation import Invitation, split_address
from accord.configuration.config_file import AgentEntry, Config
from accord.machine.own_command_line import own_command
from accord.terminal.engine.launch_options import LaunchOptions
from accord.terminal.model.settings import Settings
from accord.transport.remote_address import is_url


def orders_of(
    arguments: Namespace, config: Config, settings: Settings
) -> tuple[LaunchOptions | None, Mapping[str, LaunchOptions]]:
    """Return the agent to start, or None to let the user choose, and all choices.

    Raises:
        UsageError: the command line is wrong.
        ConfigError: an MCP server is unknown.
    """
    plain = _order(arguments, config, settings)
    if arguments.agent is not None and is_url(arguments.agent):
        url, invitation = split_address(arguments.agent)
        arguments = Namespace(**{**vars(arguments), "agent": url})
        plain = _invited(replace(plain, url=url), invitation)
    built_in = with_model(own_command("agent"), arguments.model)
    own_sandbox = sandbox_for(plain.sandbox, built_in)
    choices = {BUILT_IN: replace(plain, command=built_in, name=BUILT_IN, sandbox=own_sandbox)}
    for name, entry in config.agents.items():
        choices[name] = _with(plain, entry, name)
    words = given_command(arguments)
    if words is not None:
        command = with_model(words, arguments.model)
        return replace(plain, command=command, sandbox=sandbox_for(plain.sandbox, command)), choices
    wanted: str | None = arguments.agent or config.agent
    if wanted is None:
        return (choices[BUILT_IN] if len(choices) == 1 or arguments.built_in else None), choices
    if wanted not in choices:
        raise unknown_agent(wanted, choices)
    return choices[wanted], choices


def _invited(order: LaunchOptions, invitation: Invitation | None) -> LaunchOptions:
    if invitation is None:
        return order
    if order.session is not None or order.go_on:
        raise UsageError(
            "an invitation already names its session; leave out --session or --continue"
        )
    return replace(order, session=invitation.session_id, invitation=invitation)


def _with(order: LaunchOptions, entry: AgentEntry, name: str) -> LaunchOptions:
    return replace(
        order,
        command=entry.command,
        name=name,
        env=entry.env,
        agent_cwd=entry.cwd,
        sandbox=sandbox_for(order.sandbox, entry.command),
        api_key_env=entry.api_key_env,
        url=entry.url,
    )


def _order(arguments: Namespace, config: Config, settings: Settings) -> LaunchOptions:
    cwd = os.path.expanduser(arguments.cwd)
    for folder in (cwd, *arguments.add_dir):
        if not os.path.isdir(os.path.expanduser(folder)):
            raise UsageError(f"{folder} is not a folder")
    named = [name for name in settings.mcp_servers if name in config.mcp_servers]
    return LaunchOptions(
        command=(),
        # The real path, so that a folder has one list of sessions.
        folder=os.path.realpath(cwd),
        add_dirs=tuple(os.path.abspath(os.path.expanduser(one)) for one in arguments.add_dir),
        mcp_servers=servers_of(arguments.mcp, config, Path.cwd()),
        wished_dirs=settings.add_dirs,
        wished_servers={name: config.mcp_servers[name] for name in named},
        mode=arguments.mode,
        model=arguments.model,
        session=arguments.session,
        go_on=arguments.go_on,
        sandbox=sandbox_options(arguments, config),
    )
