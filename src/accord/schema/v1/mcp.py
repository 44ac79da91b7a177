"""MCP servers that a session may use, and MCP messages carried over ACP.

Must not know: how a server is started or reached.
"""

from typing import ClassVar, Literal, TypeAlias

from msgspec.structs import force_setattr

from accord.schema.codec import decode
from accord.schema.struct import (
    UNSET,
    BareStruct,
    Int32,
    Omit,
    Patch,
    Raw,
    U,
    UnstableStruct,
    WireStruct,
    Z,
)

McpServerAcpId: TypeAlias = str
McpRequestId: TypeAlias = str


class EnvVariable(WireStruct, frozen=True, kw_only=True):
    name: str
    value: str


class HttpHeader(WireStruct, frozen=True, kw_only=True):
    name: str
    value: str


class McpServer(WireStruct, frozen=True, kw_only=True):
    """An MCP server, in the form that `type` names.

    Without `type`: a program (`command`, `args`, `env`).  "http" and "sse": `url` and `headers`.
    "acp": `server_id`, reached through this very connection.  Lists that the form requires are
    there after construction, empty when they were not given: they are required on the wire, but
    old clients leave them out.
    """

    type: Omit[Literal["http", "sse", "acp"] | str] = UNSET
    name: str
    command: Omit[str] = UNSET
    args: Z[Omit[list[str]]] = UNSET
    env: Z[Omit[list[EnvVariable]]] = UNSET
    url: Omit[str] = UNSET
    headers: Z[Omit[list[HttpHeader]]] = UNSET
    server_id: U[Omit[McpServerAcpId]] = UNSET

    def __post_init__(self) -> None:
        if self.type in ("http", "sse"):
            if self.url is UNSET:
                raise ValueError(f"an MCP server of type {self.type} needs `url`")
            if self.headers is UNSET:
                force_setattr(self, "headers", [])
        elif self.type == "acp":
            if self.server_id is UNSET:
                raise ValueError("an MCP server of type acp needs `serverId`")
        elif self.command is UNSET:
            kind = "" if self.type is UNSET else f" of the unknown type {self.type!r}"
            raise ValueError(f"an MCP server{kind} needs `command`")
        else:
            if self.args is UNSET:
                force_setattr(self, "args", [])
            if self.env is UNSET:
                force_setattr(self, "env", [])


class McpError(BareStruct, frozen=True, kw_only=True):
    """Why the inner MCP request failed."""

    __unstable__: ClassVar[bool] = True

    code: Int32
    message: str
    data: Omit[Raw] = UNSET


class MessageMcpRequest(UnstableStruct, frozen=True, kw_only=True):
    """An MCP request to a server behind the peer; `request_id` is made by the caller."""

    server_id: McpServerAcpId
    request_id: McpRequestId
    method: str
    params: Patch[dict[str, Raw]] = UNSET


class MessageMcpResponse(UnstableStruct, frozen=True, kw_only=True):
    """The outcome of the inner request: `result`, or `error` with every key it came with."""

    result: Omit[Raw] = UNSET
    error: Omit[Raw] = UNSET

    def __post_init__(self) -> None:
        if self.result is UNSET and self.error is UNSET:
            raise ValueError("an MCP outcome needs `result` or `error`")
        if self.result is UNSET:
            _ = self.failure

    @property
    def failure(self) -> McpError | None:
        """The error, or None when there is a result: where both are there the result counts."""
        if isinstance(self.error, Raw) and self.result is UNSET:
            return decode(McpError, self.error)
        return None


class MessageMcpNotification(UnstableStruct, frozen=True, kw_only=True):
    """An MCP notification about an inner request that is still running."""

    server_id: McpServerAcpId
    request_id: McpRequestId
    method: str
    params: Patch[dict[str, Raw]] = UNSET
