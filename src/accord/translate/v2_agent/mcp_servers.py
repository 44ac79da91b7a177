"""MCP servers of the client in v2's form, where the commands of stdio servers are absolute."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from accord.jsonrpc.error_codes import INVALID_PARAMS
from accord.translate.message import CannotTranslate, Json, Surroundings
from accord.translate.v2_agent.initialize import Offer

# POSIX, drive letter or UNC: what counts as absolute in v2.
_ABSOLUTE: Final = re.compile(r"/|[A-Za-z]:[\\/]|\\\\")


def servers_to_v2(servers: Sequence[Json], offer: Offer, around: Surroundings) -> list[Json]:
    """Convert all servers to v2.

    The protocol wants a path where many clients send `npx`, so that a bare name is looked for,
    with a warning.

    Raises:
        CannotTranslate: v2 has no such transport, this agent does not offer it, or there is no
            such program.
    """
    return [_server(server, offer, around) for server in servers]


def _server(server: Json, offer: Offer, around: Surroundings) -> Json:
    kind = server.setdefault("type", "stdio")
    name = server["name"]
    if kind not in ("stdio", "http", "acp") or kind not in offer.mcp:
        raise _refused(f"the agent does not accept MCP servers of type {kind}: {name}")
    if kind == "stdio" and not _ABSOLUTE.match(server["command"]):
        found = around.find_program(server["command"])
        if found is None or not _ABSOLUTE.match(found):
            raise _refused(f"the command of an MCP server was not found: {name}")
        around.warn(f"the command {server['command']!r} of MCP server {name!r} is not absolute")
        server["command"] = found
    return server


def _refused(why: str) -> CannotTranslate:
    return CannotTranslate(INVALID_PARAMS, why, {"path": "mcpServers"})
