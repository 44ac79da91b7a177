"""Descriptions of MCP servers in v1's form and in v2's."""

from accord.schema import v1, v2
from accord.schema.codec import Invalid, decode, encode
from accord.schema.struct import UNSET, Raw, UnknownVariant


def server_to_v2(server: v1.McpServer) -> v2.McpServer:
    """A server of v1 as v2 says it; `sse`, which v2 dropped, stays an unknown variant there."""
    if server.type is UNSET:
        return v2.McpServerStdio(
            name=server.name,
            command=server.command or "",
            args=server.args,
            env=UNSET
            if server.env is UNSET
            else [v2.EnvVariable(name=one.name, value=one.value) for one in server.env],
            meta=server.meta,
        )
    raw = encode(server)
    try:
        return decode(v2.McpServer, raw)  # type: ignore[arg-type]
    except Invalid:
        return UnknownVariant("type", server.type, raw)


def server_to_v1(server: v2.McpServer) -> v1.McpServer:
    """A server of v2 as v1 says it: v1's lists must be there, and stdio has no tag."""
    if isinstance(server, v2.McpServerStdio):
        return v1.McpServer(
            name=server.name,
            command=server.command,
            args=[] if server.args is UNSET else server.args,
            env=[]
            if server.env is UNSET
            else [v1.EnvVariable(name=one.name, value=one.value) for one in server.env],
            meta=server.meta,
        )
    members = decode(dict[str, Raw], encode(server))
    if not isinstance(server, v2.McpServerAcp):
        members.setdefault("headers", Raw(b"[]"))
    return decode(v1.McpServer, encode(members))
