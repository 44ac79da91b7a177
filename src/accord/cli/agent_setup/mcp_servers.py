"""MCP servers that `accord run` hands to the agent: by their names in the configuration, or a file.

Must not know how a server is reached.

The file is JSON with `mcpServers`, as many programs have it, or TOML with `mcp_servers` as our
configuration has it.

What always holds: naming a file on the command line is the user's consent to what is in it; the
project's own file is the matter of `project_mcp_servers.py`.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from accord.discovery.config import Config, McpEntry, mcp_entry
from accord.discovery.toml_table import FILE_BYTES_MAX, Table, read_toml
from accord.errors import ConfigError
from accord.mcp.server_handoff import wire_of


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
        path = folder.absolute() / os.path.expanduser(name)
        # Not `Path.is_file`, which raises for what cannot be the name of a file.
        if not os.path.isfile(path):
            known = ", ".join(sorted(config.mcp_servers)) or "none"
            raise ConfigError(
                f"--mcp {name}: neither a file nor a server of the configuration ({known})"
            )
        found.update(read_servers(path))
    return [wire_of(name, entry) for name, entry in found.items()]


def read_servers(path: Path) -> Mapping[str, McpEntry]:
    """The servers that a file describes."""
    table = read_toml(path) if path.suffix == ".toml" else _read_json(path)
    if table is None:
        raise ConfigError(f"there is no file {path}", file=str(path))
    for key in ("mcpServers", "mcp_servers"):
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


__all__ = ["read_servers", "servers_of"]
