"""MCP servers in the 2026-02 draft: a name and one of four transports."""

from typing import TYPE_CHECKING, TypeAlias

from accord.schema.struct import UNSET, Omit, Raw, Uint64, UnknownVariant, WireStruct, Z


class McpStdio(WireStruct, frozen=True, kw_only=True, tag_field="type", tag="stdio"):
    """A server that the agent starts itself.  The command may be looked up on PATH."""

    command: str
    args: Z[Omit[list[str]]] = UNSET
    env: Z[Omit[dict[str, str]]] = UNSET
    cwd: Z[Omit[str]] = UNSET


class McpHttp(WireStruct, frozen=True, kw_only=True, tag_field="type", tag="http"):
    """A server behind an HTTP address; the timeout is in milliseconds."""

    url: str
    headers: Z[Omit[dict[str, str]]] = UNSET
    timeout: Z[Omit[Uint64]] = UNSET


class McpSse(WireStruct, frozen=True, kw_only=True, tag_field="type", tag="sse"):
    """A server that answers over server-sent events."""

    url: str
    headers: Z[Omit[dict[str, str]]] = UNSET


class McpAcp(WireStruct, frozen=True, kw_only=True, tag_field="type", tag="acp"):
    """A server that another agent reaches.  The draft only proposes this one."""

    agent_url: str
    mcp_server_name: str


if TYPE_CHECKING:
    McpTransport: TypeAlias = McpStdio | McpHttp | McpSse | McpAcp | UnknownVariant
else:
    McpTransport = McpStdio | McpHttp | McpSse | McpAcp


class McpServer(WireStruct, frozen=True, kw_only=True):
    """One server that a session may use."""

    name: str
    transport: McpTransport


class McpCall(WireStruct, frozen=True, kw_only=True):
    """One call to an MCP server, carried over the ACP connection.  Planned in the draft."""

    server_name: str
    mcp_method: str
    mcp_params: Omit[Raw] = UNSET
