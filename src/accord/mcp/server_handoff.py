"""MCP servers and folders as a client hands them to an agent, by what the agent can take.

Must not know where the servers were written down, nor connect any of them.

What always holds
    * An agent is given nothing that it did not say it takes; what is left out is a sentence for
      the user, and no sentence shows a variable's or a header's value.
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
    """What a session is opened with, and what was left out."""

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
    """Servers and folders for `Client.new_session`, of those that the agent can take.

    With `required`, as for what the user named on the command line, one that it cannot take is an
    error; without, as for what stands in a configuration, it is left out with a warning.

    Raises:
        ConfigError: a program is not found, or, with `required`, the agent cannot take something.
    """
    warnings: list[str] = []
    handed: list[Any] = []
    for name, entry in servers.items():
        try:
            if not getattr(capabilities, _NEEDS.get(entry.type, ""), False):
                kind = _NAMES.get(entry.type, entry.type)
                raise ConfigError(
                    f"the agent cannot use the MCP server {name}: it takes none over {kind}"
                    if entry.type != "stdio"
                    else f"the agent cannot use the MCP server {name}: it starts no programs"
                )
            handed.append(wire_of(name, entry))
        except ConfigError as error:
            if required:
                raise
            warnings.append(str(error))
    folders = tuple(os.path.abspath(one) for one in directories)
    if folders and not capabilities.additional_directories:
        sentence = f"the agent takes no further folders, so not {', '.join(folders)}"
        if required:
            raise ConfigError(sentence)
        warnings.append(sentence)
        folders = ()
    return HandedOn(servers=tuple(handed), directories=folders, warnings=tuple(warnings))


def versions_for(servers: Iterable[Any]) -> tuple[int, ...]:
    """What may be spoken with these servers: SSE, which some need, left the protocol with v2."""
    from accord.client.connection.handshake import VERSIONS

    return (1,) if any(isinstance(one, v1.McpServer) for one in servers) else VERSIONS


def wire_of(name: str, entry: Entry) -> Any:
    """The server as a session takes it.

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
    # v2 has no SSE any more; only agents that speak v1 say that they take it.
    older = [v1.HttpHeader(name=key, value=value) for key, value in entry.headers.items()]
    return v1.McpServer(type="sse", name=name, url=url, headers=older)


def program(name: str, command: str) -> str:
    """The whole path of a program, which the protocol wants: the agent may search elsewhere."""
    found = find_program(command)
    if found is None:
        raise ConfigError(f"the program of the MCP server {name} is not found: {command}")
    return found


__all__ = ["HandedOn", "hand_on", "program", "versions_for", "wire_of"]
