"""Makes the agents of a gateway: how each of them is started, in its sandbox if it has one."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

from accord.cli.agent_setup.sandbox import sandbox_for, working_sandbox
from accord.cli.server_setup.sandboxed_agent import SandboxedAgent
from accord.cli.server_setup.server_options import TOKEN_VARIABLE
from accord.cli.server_setup.span_export import SECRETS
from accord.cli.server_setup.target import Target
from accord.configuration.user_paths import config_folder, state_folder
from accord.gateway.agents.hosted_agent import Connect, HostedAgent
from accord.gateway.agents.in_process import in_process
from accord.gateway.configuration.agent_settings import AgentSettings
from accord.machine.processes.child_process import environment
from accord.machine.processes.program_lookup import with_program
from accord.machine.sandbox.options import SandboxOptions
from accord.machine.sandbox.sandboxed_command import refuse_remote, sandboxed_command
from accord.transport.subprocess import StderrListener, SubprocessTransport
from accord.transport.transport import Transport

Listen = Callable[[str], StderrListener]
"""Makes what takes the stderr of an agent of this name."""


def hosted_agents(
    target: Target, *, secrets: Sequence[Path], empty: Path, listen: Listen
) -> dict[str, HostedAgent]:
    """Make the agents of a target.

    No agent in a sandbox sees `secrets`, the files of the gateway itself.  In the folder `empty` a
    process works that has no session yet.

    Raises:
        UsageError: no sandbox works on this machine.
        SandboxRefused: an agent cannot be put into one.
        SpawnFailed: there is no such program.
    """
    if target.agent is not None:
        return {
            name: HostedAgent(settings, in_process(target.agent))
            for name, settings in target.agents.items()
        }
    return {
        name: HostedAgent(settings, _starter(settings, secrets, empty, listen))
        for name, settings in target.agents.items()
    }


def _starter(
    settings: AgentSettings, secrets: Sequence[Path], empty: Path, listen: Listen
) -> Connect:
    # Whoever has the gateway's token may do everything; agents get neither it nor the collector's.
    env = environment(settings.env, without=(TOKEN_VARIABLE, *SECRETS))
    sandbox = _sandbox(settings, secrets)
    # Whoever starts the gateway is told now, and not its first client.
    with_program(settings.command, env)

    def connect(folders: Sequence[str]) -> Transport:
        cwd = folders[0] if folders else settings.cwd
        stderr = listen(settings.name)
        if sandbox is None:
            return SubprocessTransport(settings.command, cwd=cwd, env=env, stderr=stderr)
        prepare = partial(
            sandboxed_command,
            settings.command,
            folders=folders or (str(empty),),
            options=sandbox,
            env=env,
            cwd=str(cwd or empty),
        )
        return SandboxedAgent(prepare, cwd=cwd or empty, env=env, stderr=stderr)

    return connect


def _sandbox(settings: AgentSettings, secrets: Sequence[Path]) -> SandboxOptions | None:
    if settings.sandbox is None:
        return None
    working_sandbox()
    refuse_remote(settings.command)
    options = SandboxOptions(
        writable=tuple(map(str, settings.sandbox.write)),
        readable=tuple(map(str, settings.sandbox.read)),
        hidden=(str(config_folder()), str(state_folder()), *map(str, secrets)),
        network=settings.sandbox.network,
    )
    return sandbox_for(options, settings.command)
