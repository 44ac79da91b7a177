"""MCP servers of the draft in v1's form, and back.

Must not know: whether the agent can reach them; the bridges compare that with its capabilities.
Secrets of a server stand in `env` and `headers` on both sides, never in `_meta`.
"""

from __future__ import annotations

from typing import Final

from accord.schema import draft
from accord.translate.draft.conversion.meta_restore import keep_all, restore, taken
from accord.translate.message import Json

# The agent's URL in the draft's `acp` form, for a server that is reached through the client.
CLIENT_AGENT_URL: Final = "acp://client"


def transport_of(server: Json) -> str:
    """Return the name of the transport of a server of v1."""
    return str(server.get("type") or "stdio")


def server_from_draft(server: Json) -> Json:
    """Convert a server to v1."""
    made = {name: value for name, value in server.items() if name != "transport"}
    transport = dict(server["transport"])
    kind = transport.pop("type")
    transport.pop("_meta", None)
    if kind == "stdio":
        _keep_member(made, transport, "cwd")
        pairs = _pairs(transport.pop("env", {}))
        return {**made, "args": [], **transport, "env": pairs}
    if kind == "acp":
        keep_all(made, {"agentUrl": transport["agentUrl"]})
        return {**made, "type": "acp", "serverId": transport["mcpServerName"]}
    _keep_member(made, transport, "timeout")
    pairs = _pairs(transport.pop("headers", {}))
    return {"type": kind, **made, **transport, "headers": pairs}


def _keep_member(made: Json, transport: Json, name: str) -> None:
    if name in transport:
        keep_all(made, {name: transport.pop(name)})


def _pairs(members: dict[str, str]) -> list[Json]:
    return [{"name": name, "value": value} for name, value in members.items()]


def _members(pairs: list[Json]) -> dict[str, str]:
    return {pair["name"]: pair["value"] for pair in pairs}


def server_to_draft(server: Json) -> Json:
    """Convert a server to the draft."""
    made = dict(server)
    had = taken(made)
    kind = made.pop("type", None) or "stdio"
    name = made.pop("name")
    meta = {"_meta": made.pop("_meta")} if "_meta" in made else {}
    if kind == "acp":
        made["mcpServerName"] = made.pop("serverId")
        made["agentUrl"] = had.pop("agentUrl", None)
        if not isinstance(made["agentUrl"], str):
            made["agentUrl"] = CLIENT_AGENT_URL
        transport = made
    elif kind in ("http", "sse"):
        headers = _members(made.pop("headers"))
        transport = {**made, "headers": headers} if headers else made
    else:
        env = _members(made.pop("env"))
        transport = {**made, "env": env} if env else made
        if not transport.get("args"):
            transport.pop("args", None)
    transport = {"type": kind, **transport}
    transport = restore(transport, had, ("cwd", "timeout"), draft.McpTransport)
    result: Json = {"name": name, "transport": transport, **meta}
    keep_all(result, had)
    return result
