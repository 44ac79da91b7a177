"""How a chat starts: its agent, its folder, and perhaps an existing session."""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from accord.transport.remote_address import shown_url

if TYPE_CHECKING:
    from accord.client.invitation import Invitation
    from accord.machine.sandbox.options import SandboxOptions

# Programs that only start others, and their subcommands.
_STARTERS = re.compile(r"python[\d.]*|node|npx|bunx?|deno|uvx?|pipx|env")
_VERBS = frozenset({"", "run", "tool", "exec", "x"})


@dataclass(frozen=True, slots=True, kw_only=True)
class LaunchOptions:
    """How a chat starts.

    `session` is the session to continue; with `go_on` it is the latest one of the folder.  The
    user named `mcp_servers` and `add_dirs`, so an agent that cannot take them is an error.  The
    configuration names `wished_dirs` and `wished_servers`, which may be left out.  `begun_in` is
    the folder that the user was in when they opened a session of another folder.  `url` is the
    address of a remote agent, and `invitation` lets the user into `session` there.
    """

    command: tuple[str, ...]
    name: str = ""
    env: Mapping[str, str] = field(default_factory=dict, repr=False)
    agent_cwd: str | None = None
    api_key_env: str | None = None
    folder: str = "."
    begun_in: str = ""
    add_dirs: tuple[str, ...] = ()
    mcp_servers: Sequence[Any] = field(default=(), repr=False)
    wished_dirs: tuple[str, ...] = ()
    wished_servers: Mapping[str, Any] = field(default_factory=dict, repr=False)
    mode: str | None = None
    model: str | None = None
    session: str | None = None
    go_on: bool = False
    url: str | None = None
    invitation: Invitation | None = None
    sandbox: SandboxOptions | None = None

    def start_command(self) -> tuple[str, ...]:
        """What to start: the agent, or what puts it into its sandbox.

        Raises:
            MachineError: it cannot be put into one.
            SpawnFailed: there is no such program.
        """
        if self.sandbox is None:
            return self.command
        from accord.machine.processes.child_process import environment
        from accord.machine.sandbox.sandboxed_command import sandboxed_command

        return sandboxed_command(
            self.command,
            folders=self.writable_folders,
            options=self.sandbox,
            env=environment(self.env),
            cwd=self.agent_cwd,
        )

    def sandbox_words(self) -> str:
        """What to add to the folder of a session: the kind of its sandbox."""
        if self.sandbox is None:
            return ""
        from accord.machine.sandbox.availability import find_sandbox

        return f", in a sandbox ({find_sandbox().kind})"

    def can_share(self, other: LaunchOptions) -> bool:
        """Whether a process that was started with these options serves a session of others."""
        if (self.command, self.env, self.sandbox) != (other.command, other.env, other.sandbox):
            return False
        return self.sandbox is None or self.writable_folders == other.writable_folders

    @property
    def writable_folders(self) -> tuple[str, ...]:
        """The folders that an agent in a sandbox may change."""
        return (*self.roots, *(one for one in self.wished_dirs if os.path.isdir(one)))

    @property
    def roots(self) -> tuple[str, ...]:
        """The folders that the user named."""
        return (self.folder, *self.add_dirs)

    @property
    def missing(self) -> tuple[str, ...]:
        """The named folders that do not exist."""
        return tuple(one for one in self.roots if not os.path.isdir(one))

    def standing(self) -> LaunchOptions:
        """The same options with existing folders; a missing one is replaced by the user's."""
        gone = self.missing
        folder = self.folder
        if folder in gone:
            others = (self.begun_in, _here(), os.path.expanduser("~"))
            folder = next((one for one in others if os.path.isdir(one)), folder)
        kept = tuple(one for one in self.add_dirs if one not in gone)
        return replace(self, folder=folder, add_dirs=kept)

    @property
    def versions(self) -> tuple[int, ...]:
        """The protocol versions that the named MCP servers allow."""
        from accord.mcp.server_handoff import versions_for

        return versions_for(self.mcp_servers)

    @property
    def agent(self) -> str:
        """An identifier of the agent: its name in the configuration, or its command."""
        return self.name or shlex.join(self.command)

    @property
    def label(self) -> str:
        """A name for the agent until it introduces itself."""
        return self.name or (shown_url(self.url) if self.url else _program(self.command))


def _here() -> str:
    try:
        return os.getcwd()
    except OSError:
        # The current folder was deleted.
        return ""


def _program(command: tuple[str, ...]) -> str:
    """The program of a command, without launchers such as `npx` in front of it."""
    first, *rest = (word.rpartition("/")[2] for word in command)
    if _STARTERS.fullmatch(first):
        own = (word for word in rest if word not in _VERBS and not word.startswith("-"))
        return next(own, first)
    return first
