"""MCP servers that `accord run` hands to the agent: by their names in the configuration, or a file.

Must not know how a server is reached.

The file is JSON with `mcpServers`, as many programs have it, or TOML with `mcp_servers` as our
configuration has it.

What always holds: naming a file on the command line is the user's consent to what is in it; no file
is looked for in the project.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from accord.discovery.config import Config, McpEntry, mcp_entry
from accord.discovery.tables import FILE_BYTES_MAX, Table, read_toml
from accord.errors import ConfigError
from accord.schema import v1, v2


def servers_of(named: Iterable[str], config: Config, folder: Path) -> list[Any]:
    """The servers that `--mcp` names, as a session takes them.

    Raises:
        ConfigError: a name or file that is not there, or says what cannot be.
    """
    found: dict[str, McpEntry] = {}
    for name in named:
        if name in config.mcp_servers:
            found[name] = config.mcp_servers[name]
            continue
        path = (folder / Path(name).expanduser()).absolute()
        if not path.is_file():
            known = ", ".join(sorted(config.mcp_servers)) or "none"
            raise ConfigError(
                f"--mcp {name}: neither a file nor a server of the configuration ({known})"
            )
        found.update(read_servers(path))
    return [_wire(name, entry) for name, entry in found.items()]


def read_servers(path: Path) -> Mapping[str, McpEntry]:
    """The servers that a file describes."""
    table = read_toml(path) if path.suffix == ".toml" else _read_json(path)
    if table is None:
        raise ConfigError(f"there is no file {path}", file=str(path))
    for key in ("mcpServers", "mcp_servers", "servers"):
        if key in table:
            return {name: mcp_entry(one) for name, one in table.tables(key).items()}
    raise table.wrong("mcpServers", "is missing; it is a table of servers by their names")


def _read_json(path: Path) -> Table:
    try:
        data = path.read_bytes()[: FILE_BYTES_MAX + 1]
        value = json.loads(data.decode())
    except OSError as error:
        raise ConfigError(f"{path}: {error.strerror}", file=str(path)) from None
    except (ValueError, RecursionError) as error:
        raise ConfigError(f"{path}: no JSON: {error}", file=str(path)) from None
    if not isinstance(value, dict):
        raise ConfigError(f"{path}: must be an object", file=str(path))
    return Table(path, value)


def _wire(name: str, entry: McpEntry) -> Any:
    if entry.type == "stdio":
        return v2.McpServerStdio(
            name=name,
            command=_program(name, entry.command or ""),
            args=list(entry.args),
            env=[v2.EnvVariable(name=key, value=value) for key, value in entry.env.items()],
        )
    url = entry.url or ""
    if entry.type == "http":
        headers = [v2.HttpHeader(name=key, value=value) for key, value in entry.headers.items()]
        return v2.McpServerHttp(name=name, url=url, headers=headers)
    older = [v1.HttpHeader(name=key, value=value) for key, value in entry.headers.items()]
    return v1.McpServer(type="sse", name=name, url=url, headers=older)


def _program(name: str, command: str) -> str:
    """The protocol wants the whole path; the agent's search path may be another than ours."""
    found = shutil.which(command)
    if found is None:
        raise ConfigError(f"the program of the MCP server {name} is not found: {command}")
    return str(Path(found).absolute())


__all__ = ["read_servers", "servers_of"]
