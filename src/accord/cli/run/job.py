"""The task of one `accord run`, from the command line and the configuration."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from accord.cli.run.prompt import Prompt
from accord.machine.processes.child_process import environment
from accord.machine.sandbox.options import SandboxOptions
from accord.mcp.server_handoff import versions_for

if TYPE_CHECKING:
    from accord.mcp.server_spec import Entry


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """One prompt for one agent.

    `session` is the session to resume; with `go_on` it is the last one of the folder.
    """

    command: tuple[str, ...]
    env: Mapping[str, str] = field(default_factory=dict, repr=False)
    agent_cwd: str | None = None
    api_key_env: str | None = None
    prompt: Prompt
    cwd: str
    add_dirs: tuple[str, ...] = ()
    mcp_servers: Sequence[Any] = field(default=(), repr=False)
    # From the project's own file; skipped if the agent cannot use them.
    project_servers: Mapping[str, Entry] = field(default_factory=dict, repr=False)
    mode: str | None = None
    model: str | None = None
    session: str | None = None
    go_on: bool = False
    timeout: float | None = None
    # How long to wait for rate limits, in seconds; 0 means not at all.
    retry: float = 0.0
    # A shell command to run after the turn.
    check: str | None = None
    # The sandbox of the agent and of the check.
    sandbox: SandboxOptions | None = None
    # The command that logs in to the agent.
    login_command: str = "accord login"

    @property
    def roots(self) -> tuple[str, ...]:
        """The folders of the session."""
        return (self.cwd, *self.add_dirs)

    def start_command(self) -> tuple[str, ...]:
        """Return what to start: the agent, or what puts it into its sandbox.

        Raises:
            MachineError: it cannot be put into one.
            SpawnFailed: there is no such program.
        """
        if self.sandbox is None:
            return self.command
        from accord.machine.sandbox.sandboxed_command import sandboxed_command

        return sandboxed_command(
            self.command,
            folders=self.roots,
            options=self.sandbox,
            env=environment(self.env),
            cwd=self.agent_cwd,
        )

    def check_command(self, shell: str, line: str) -> tuple[str, ...]:
        """Return the command line of the check, which runs what the agent may have written."""
        if self.sandbox is None:
            return (shell, "-c", line)
        from accord.machine.sandbox.sandboxed_command import sandboxed_command

        return sandboxed_command(
            (shell, "-c", line), folders=self.roots, options=self.sandbox, cwd=self.cwd
        )

    @property
    def versions(self) -> tuple[int, ...]:
        """The protocol versions that support the given MCP servers."""
        return versions_for(self.mcp_servers)
