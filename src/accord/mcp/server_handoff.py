"""Selects the MCP servers and folders that a client passes to an agent, by its capabilities.

Must not know where the servers are configured, and does not connect to them.

What always holds
    * An agent gets only what its capabilities include; for each omission there is a warning for the
      user, which shows no value of a variable or header.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from accord.errors import ConfigError
from accord.machine.processes.program_lookup import find_program
from accord.mcp.server_spec import Entry
from accord.schema import v1, v2

if TYPE_CHECKING:
    from accord.client.connection.capabilities import AgentCapabilities

_NEEDS = {"stdio": "mcp_stdio", "http": "mcp_http", "sse": "mcp_sse"}
_NAMES = {"stdio": "programs", "http": "HTTP", "sse": "SSE"}


@dataclass(frozen=True, slots=True, kw_only=True)
class HandedOn:
    """The servers and folders of a new session, and warnings about omitted ones."""

    servers: tuple[Any, ...] = ()
    directories: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()


def hand_on(
    capabilities: AgentCapabilities,
    servers: Mapping[str, Entry],
    directories: Iterable[str | os.PathLike[str]] = (),
    *,
    required: bool = True,
) -> HandedOn:
    """Return the servers and folders for `Client.new_session` that the agent supports.

    With `required`, as for the command line, an unsupported one is an error; without it, as for the
    configuration, it is omitted with a warning.

    Raises:
        ConfigError: a program is not found, or, with `required`, something is not supported.
    """
    warnings: list[str] = []
    handed: list[Any] = []
    for name, entry in servers.items():
        try:
            if not getattr(capabilities, _NEEDS.get(entry.type, ""), False):
                kind = _NAMES.get(entry.type, entry.type)
                raise ConfigError(
                    f"the agent does not support the MCP server {name}: no {kind} servers"
                    if entry.type != "stdio"
                    else f"the agent does not support the MCP server {name}: no stdio servers"
                )
            handed.append(wire_of(name, entry))
        except ConfigError as error:
            if required:
                raise
            warnings.append(str(error))
    folders = tuple(os.path.abspath(one) for one in directories)
    if folders and not capabilities.additional_directories:
        sentence = f"the agent does not support additional folders: {', '.join(folders)}"
        if required:
            raise ConfigError(sentence)
        warnings.append(sentence)
        folders = ()
    return HandedOn(servers=tuple(handed), directories=folders, warnings=tuple(warnings))


def versions_for(servers: Iterable[Any]) -> tuple[int, ...]:
    """Return the protocol versions that support these servers: v2 has no SSE."""
    from accord.client.connection.implementation import VERSIONS

    return (1,) if any(isinstance(one, v1.McpServer) for one in servers) else VERSIONS


def wire_of(name: str, entry: Entry) -> Any:
    """Convert a server to the form of a session.

    Raises:
        ConfigError: its program is not found.
    """
    if entry.type == "stdio":
        return v2.McpServerStdio(
            name=name,
            command=program(name, entry.command or ""),
            args=list(entry.args),
            env=[v2.EnvVariable(name=key, value=value) for key, value in entry.env.items()],
        )
    url = entry.url or ""
    if entry.type == "http":
        headers = [v2.HttpHeader(name=key, value=value) for key, value in entry.headers.items()]
        return v2.McpServerHttp(name=name, url=url, headers=headers)
    # v2 has no SSE any more; only agents that speak v1 support it.
    older = [v1.HttpHeader(name=key, value=value) for key, value in entry.headers.items()]
    return v1.McpServer(type="sse", name=name, url=url, headers=older)


def program(name: str, command: str) -> str:
    """Return the absolute path of a program, as the protocol requires."""
    found = find_program(command)
    if found is None:
        raise ConfigError(f"the program of the MCP server {name} was not found: {command}")
    return found
