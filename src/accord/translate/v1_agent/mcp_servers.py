"""The MCP servers of a session in v1's form, as plain JSON."""

from __future__ import annotations

from typing import Any, Final

from accord.jsonrpc.error_codes import INVALID_PARAMS
from accord.translate.message import CannotTranslate, Json
from accord.translate.v1_agent.translator_core import Abilities

# What v1 wants to be there, by type.
LISTS: Final[dict[str, tuple[str, ...]]] = {
    "stdio": ("args", "env"),
    "http": ("headers",),
    "acp": (),
}


def servers_to_v1(servers: list[Json] | None, can: Abilities) -> list[Json]:
    """Every server, changed in place.

    Raises:
        CannotTranslate: the agent cannot reach one of them, or two have the same name.
    """
    names: set[str] = set()
    for server in servers or ():
        kind: Any = server.get("type")
        known = {"stdio": True, "http": can.http, "acp": can.acp}.get(kind, False)
        if not known:
            raise CannotTranslate(
                INVALID_PARAMS,
                f"the agent takes no MCP servers of type {kind}",
                {"type": kind, "name": server.get("name")},
            )
        if server["name"] in names:
            raise CannotTranslate(
                INVALID_PARAMS, f"two MCP servers are named {server['name']}", None
            )
        names.add(server["name"])
        for name in LISTS[kind]:
            if server.get(name) is None:
                server[name] = []
        if kind == "stdio":
            del server["type"]
    return servers or []
