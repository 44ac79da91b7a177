"""`--sandbox`: the options of a sandbox, from the command line and the configuration.

What always holds
    * A command that cannot have the sandbox that was asked for is wrong usage; nothing is started.
    * Accord's own configuration and state are hidden from agents.  The built-in agent reads its
      settings and keys, and stores its sessions in a folder beside the others.
"""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from collections.abc import Sequence
from dataclasses import replace

from accord.cli.usage_error import UsageError
from accord.configuration.config_file import Config
from accord.configuration.user_paths import (
    config_folder,
    credentials_file,
    make_private,
    state_folder,
)
from accord.machine.own_command_line import readable_command
from accord.machine.sandbox.availability import Sandbox, find_sandbox
from accord.machine.sandbox.options import SandboxOptions, SandboxUnavailable

BUILT_IN_STATE = "sandboxed"
"""The folder of the built-in agent's sessions in a sandbox, inside the state folder."""


def add_sandbox_arguments(parser: ArgumentParser) -> None:
    """Add `--sandbox` and what goes with it."""
    group = parser.add_argument_group("sandbox")
    group.add_argument(
        "--sandbox",
        action="store_true",
        help="run the agent in a sandbox: of your files it can change only those in the session's"
        " folders (see docs/how-to/sandbox.md)",
    )
    group.add_argument(
        "--sandbox-no-network",
        action="store_true",
        help="also without a network, for agents whose model needs none",
    )


def sandbox_options(arguments: Namespace, config: Config) -> SandboxOptions | None:
    """Return the options of the sandbox; None without `--sandbox`.

    Raises:
        UsageError: no sandbox works on this machine.
    """
    if not arguments.sandbox:
        if arguments.sandbox_no_network:
            raise UsageError("--sandbox-no-network needs --sandbox")
        return None
    working_sandbox()
    return SandboxOptions(
        writable=config.sandbox.writable,
        readable=config.sandbox.readable,
        hidden=(str(config_folder()), str(state_folder())),
        network=not arguments.sandbox_no_network,
    )


def working_sandbox() -> Sandbox:
    """Return the kind of sandbox that works here.

    Raises:
        UsageError: none does.
    """
    try:
        return find_sandbox()
    except SandboxUnavailable as error:
        raise UsageError(str(error)) from None


def sandbox_for(options: SandboxOptions | None, command: Sequence[str]) -> SandboxOptions | None:
    """Return the options for one agent: the built-in one needs some of Accord's own files."""
    if options is None or readable_command(tuple(command))[:2] != ("accord", "agent"):
        return options
    state = str(make_private(make_private(state_folder()) / BUILT_IN_STATE))
    return replace(
        options,
        writable=(*options.writable, state),
        readable=(*options.readable, str(config_folder() / "config.toml"), str(credentials_file())),
        variables={**options.variables, "ACCORD_STATE_DIR": state},
    )
