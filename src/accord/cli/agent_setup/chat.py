"""What `accord chat` begins with: which agent, where, with what, and who decides for the person.

Must not know any screen.
"""

from __future__ import annotations

import os
from argparse import Namespace
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from accord.cli.agent_setup.agent_choice import BUILT_IN, with_model
from accord.cli.agent_setup.credentials import dialect_memory
from accord.cli.agent_setup.mcp_servers import servers_of
from accord.cli.agent_setup.permissions import Wishes, deciding
from accord.cli.run.job import UsageError
from accord.client.audit.log import AuditLog
from accord.discovery.config import AgentEntry, Config
from accord.discovery.user_paths import audit_file
from accord.machine.own_command_line import own_command
from accord.terminal.engine.chat_controller import ChatController
from accord.terminal.engine.launch_options import LaunchOptions
from accord.terminal.model.settings import Settings


def orders_of(
    arguments: Namespace, config: Config, settings: Settings
) -> tuple[LaunchOptions | None, Mapping[str, LaunchOptions]]:
    """What to begin with, None where the person is to choose; and what can be chosen.

    Raises:
        UsageError: the command line asks for what cannot be.
        ConfigError: a server that is named nowhere.
    """
    plain = _order(arguments, config, settings)
    built_in = with_model(built_in_agent(), arguments.model)
    choices = {BUILT_IN: replace(plain, command=built_in, name=BUILT_IN)}
    for name, entry in config.agents.items():
        choices[name] = _with(plain, entry, name)
    if arguments.after is not None:
        if arguments.agent is not None:
            raise UsageError("NAME and a command after -- are two agents; name one")
        if not arguments.after:
            raise UsageError("a command is missing after --")
        return replace(plain, command=with_model(tuple(arguments.after), arguments.model)), choices
    wanted: str | None = arguments.agent or config.agent
    if wanted is None:
        return (choices[BUILT_IN] if len(choices) == 1 or arguments.built_in else None), choices
    if wanted not in choices:
        known = ", ".join(sorted(choices))
        raise UsageError(f"there is no agent {wanted!r}; there are {known}")
    return choices[wanted], choices


def built_in_agent(*more: str) -> tuple[str, ...]:
    """How the built-in agent is started."""
    return own_command("agent", *more)


def _with(order: LaunchOptions, entry: AgentEntry, name: str) -> LaunchOptions:
    return replace(
        order,
        command=entry.command,
        name=name,
        env=entry.env,
        agent_cwd=entry.cwd,
        api_key_env=entry.api_key_env,
    )


def _order(arguments: Namespace, config: Config, settings: Settings) -> LaunchOptions:
    cwd = os.path.expanduser(arguments.cwd)
    for folder in (cwd, *arguments.add_dir):
        if not os.path.isdir(os.path.expanduser(folder)):
            raise UsageError(f"there is no folder {folder}")
    named = [name for name in settings.mcp_servers if name in config.mcp_servers]
    return LaunchOptions(
        command=(),
        # As the system calls it when we are in it: one folder has one list of sessions.
        folder=os.path.realpath(cwd),
        add_dirs=tuple(os.path.abspath(os.path.expanduser(one)) for one in arguments.add_dir),
        mcp_servers=servers_of(arguments.mcp, config, Path.cwd()),
        wished_dirs=settings.add_dirs,
        wished_servers={name: config.mcp_servers[name] for name in named},
        mode=arguments.mode,
        model=arguments.model,
        session=arguments.session,
        go_on=arguments.go_on,
    )


def make_desk(config: Config, settings: Settings, roots: tuple[str, ...]) -> ChatController:
    """The desk, with the person's rules, remembered answers and log.

    Raises:
        ConfigError: a policy or the remembered answers cannot be read.
    """
    decides = deciding(Wishes(ask=True), config, roots, attended=True)
    log = None
    if config.permissions.audit:
        size = config.permissions.audit_bytes_max
        log = AuditLog(audit_file(), bytes_max=size, facts={"workspace": roots[0]})
    return ChatController(
        permissions=decides.permissions(None),
        settings=settings,
        refresh_grants=None if decides.grants is None else decides.grants.refresh,
        log=log,
        dialects=dialect_memory(),
    )


__all__ = ["BUILT_IN", "built_in_agent", "make_desk", "orders_of"]
