"""Reads the MCP servers of `--mcp`: names in the configuration, or files.

Must not know how a server is reached.

A file is JSON with `mcpServers`, as many programs use it, or TOML with `mcp_servers` as in our
configuration.

What always holds: naming a file on the command line is the user's consent to its servers; for the
project's own file see `project_mcp_servers.py`.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from accord.configuration.config_file import Config, McpEntry, mcp_entry
from accord.configuration.toml_table import FILE_BYTES_MAX, Table, read_toml
from accord.errors import ConfigError
from accord.mcp.server_handoff import wire_of


def servers_of(named: Iterable[str], config: Config, folder: Path) -> list[Any]:
    """Return the servers of `--mcp` in the form for a session.

    Raises:
        ConfigError: a name or file does not exist, or the file is invalid.
    """
    found: dict[str, McpEntry] = {}
    for name in named:
        if name in config.mcp_servers:
            found[name] = config.mcp_servers[name]
            continue
        path = folder.absolute() / os.path.expanduser(name)
        # Not `Path.is_file`, which raises for an impossible file name.
        if not os.path.isfile(path):
            known = ", ".join(sorted(config.mcp_servers)) or "none"
            raise ConfigError(
                f"--mcp {name}: neither a file nor a configured server (known: {known})"
            )
        found.update(read_servers(path))
    return [wire_of(name, entry) for name, entry in found.items()]


def read_servers(path: Path) -> Mapping[str, McpEntry]:
    """Read the servers of a file."""
    table = read_toml(path) if path.suffix == ".toml" else _read_json(path)
    if table is None:
        raise ConfigError(f"{path} does not exist", file=str(path))
    for key in ("mcpServers", "mcp_servers"):
        if key in table:
            return {name: mcp_entry(one) for name, one in table.tables(key).items()}
    raise table.wrong("mcpServers", "is missing; it must be a table of servers by name")


def _read_json(path: Path) -> Table:
    try:
        data = path.read_bytes()[: FILE_BYTES_MAX + 1]
        value = json.loads(data.decode())
    except OSError as error:
        raise ConfigError(f"{path}: {error.strerror}", file=str(path)) from None
    except (ValueError, RecursionError) as error:
        raise ConfigError(f"{path}: not valid JSON: {error}", file=str(path)) from None
    if not isinstance(value, dict):
        raise ConfigError(f"{path}: must be an object", file=str(path))
    return Table(path, value)
