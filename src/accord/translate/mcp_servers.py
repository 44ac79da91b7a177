"""Descriptions of MCP servers in v1's form and in v2's."""

from __future__ import annotations

from accord.schema import v1, v2
from accord.schema.codec import decode, encode
from accord.schema.struct import UNSET, Raw


def server_to_v2(server: v1.McpServer) -> v2.McpServer:
    """Convert a server to v2; `sse`, which v2 dropped, stays an unknown variant there."""
    # "stdio" is not a tag of v1, but clients that know v2 send it.
    if server.type is UNSET or server.type == "stdio":
        return v2.McpServerStdio(
            name=server.name,
            command=server.command or "",
            args=server.args,
            env=UNSET
            if server.env is UNSET
            else [
                v2.EnvVariable(name=one.name, value=one.value, meta=one.meta) for one in server.env
            ],
            meta=server.meta,
        )
    return decode(v2.McpServer, encode(server))  # type: ignore[arg-type]


def server_to_v1(server: v2.McpServer) -> v1.McpServer:
    """Convert a server to v1, which requires the lists and has no tag for stdio."""
    if isinstance(server, v2.McpServerStdio):
        return v1.McpServer(
            name=server.name,
            command=server.command,
            args=[] if server.args is UNSET else server.args,
            env=[]
            if server.env is UNSET
            else [
                v1.EnvVariable(name=one.name, value=one.value, meta=one.meta) for one in server.env
            ],
            meta=server.meta,
        )
    members = decode(dict[str, Raw], encode(server))
    if not isinstance(server, v2.McpServerAcp):
        members.setdefault("headers", Raw(b"[]"))
    return decode(v1.McpServer, encode(members))
