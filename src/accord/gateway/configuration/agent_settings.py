"""The agents that a gateway hosts: what to start, how many processes, and what they may reach."""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, Literal, get_args

from accord.configuration.toml_table import Table

ProcessPer = Literal["session", "connection"]
Accounts = Literal["shared", "separate"]

ICON_SCHEMES: Final = ("https://", "data:image/")
ANY_SERVER: Final = "*"

# It is part of the agent's URL.
_NAME: Final = re.compile(r"[a-z0-9](?:[a-z0-9._-]{0,62}[a-z0-9])?\Z")


@dataclass(frozen=True, slots=True, kw_only=True)
class SandboxSettings:
    """What an agent in a sandbox may reach beside the folder of its session."""

    write: tuple[Path, ...] = ()
    read: tuple[Path, ...] = ()
    network: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class StdioMcpRule:
    """Which programs a client may name as MCP servers of its session.

    The agent would start them on this computer.  So none is allowed unless the configuration says
    so, and an allowed command is allowed word by word and without variables: `LD_PRELOAD` would
    turn each of them into any other program.
    """

    any: bool = False
    commands: frozenset[tuple[str, ...]] = frozenset()

    def allows(self, command: Sequence[str], env: Mapping[str, str]) -> bool:
        """Whether a client may have this program started with these variables."""
        return self.any or (tuple(command) in self.commands and not env)


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentSettings:
    """One agent.  `root` is the folder in which clients may have their sessions, None for all.

    With `workspace` they may read and write files of those folders themselves, with the rights of
    the gateway: an agent may have no tool for that, or be in a sandbox.
    `accounts` says whether a login in one process of the agent counts for all of its users.
    """

    name: str
    command: tuple[str, ...]
    env: Mapping[str, str] = field(default_factory=dict, repr=False)
    cwd: Path | None = None
    root: Path | None = None
    title: str | None = None
    description: str | None = None
    icon: str | None = None
    process: ProcessPer = "session"
    accounts: Accounts = "shared"
    sandbox: SandboxSettings | None = None
    stdio_mcp: StdioMcpRule = field(default_factory=StdioMcpRule)
    workspace: bool = False


def read_agents(table: Table, folder: Path) -> dict[str, AgentSettings]:
    """Read the table `agents` of a file in this folder.

    Raises:
        ConfigError: an agent is not described correctly.
    """
    agents: dict[str, AgentSettings] = {}
    for name, one in table.tables("agents").items():
        if not _NAME.match(name):
            raise table.wrong(
                f"agents.{name}",
                "must be lower-case letters, digits, '.', '_' and '-': it is part of a URL",
            )
        agents[name] = _agent(name, one, folder)
    return agents


def _agent(name: str, table: Table, folder: Path) -> AgentSettings:
    command = table.words("command")
    if command is None:
        raise table.wrong("command", "is missing; give the command that starts the agent")
    icon = table.text("icon")
    if icon is not None and not icon.startswith(ICON_SCHEMES):
        raise table.wrong("icon", f"must begin with {' or '.join(ICON_SCHEMES)}")
    said = table.text("process", among=get_args(ProcessPer))
    accounts = table.text("accounts", among=get_args(Accounts))
    return AgentSettings(
        name=name,
        command=command,
        env=table.text_map("env"),
        cwd=_path(table, "cwd", folder),
        root=_path(table, "root", folder),
        title=table.text("title"),
        description=table.text("description"),
        icon=icon,
        process="connection" if said == "connection" else "session",
        accounts="separate" if accounts == "separate" else "shared",
        sandbox=_sandbox(table, folder),
        stdio_mcp=_stdio_mcp(table),
        workspace=table.flag("workspace", False),
    )


def _sandbox(table: Table, folder: Path) -> SandboxSettings | None:
    if not table.holds_table("sandbox"):
        return SandboxSettings() if table.flag("sandbox", False) else None
    inner = table.table("sandbox")
    return SandboxSettings(
        write=_paths(inner, "write", folder),
        read=_paths(inner, "read", folder),
        network=inner.flag("network", True),
    )


def _stdio_mcp(table: Table) -> StdioMcpRule:
    lines = table.one_or_more("stdio_mcp_servers") or ()
    if lines == (ANY_SERVER,):
        return StdioMcpRule(any=True)
    commands = set()
    for line in lines:
        try:
            words = tuple(shlex.split(line))
        except ValueError as error:
            reason = f"cannot be split into words: {error}"
            raise table.wrong("stdio_mcp_servers", reason) from None
        program = words[0] if words else ""
        if program in ("", ANY_SERVER) or ("/" in program and not os.path.isabs(program)):
            raise table.wrong(
                "stdio_mcp_servers",
                f'must be commands that begin with a name or an absolute path, or "{ANY_SERVER}"'
                " alone",
            )
        commands.add(words)
    return StdioMcpRule(commands=frozenset(commands))


def _path(table: Table, name: str, folder: Path) -> Path | None:
    said = table.text(name)
    # Relative to the file that names it.
    return None if said is None else folder / Path(said).expanduser()


def _paths(table: Table, name: str, folder: Path) -> tuple[Path, ...]:
    return tuple(folder / Path(one).expanduser() for one in table.one_or_more(name) or ())


__all__ = [
    "Accounts",
    "AgentSettings",
    "ProcessPer",
    "SandboxSettings",
    "StdioMcpRule",
    "read_agents",
]
