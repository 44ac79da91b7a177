"""MCP servers that a client hands to an agent, and MCP messages that travel inside ACP."""

from typing import TYPE_CHECKING, ClassVar, TypeAlias

from accord.schema.codec import decode
from accord.schema.struct import (
    UNSET,
    AbsolutePath,
    BareStruct,
    Int32,
    Omit,
    Patch,
    Raw,
    UnknownVariant,
    UnstableStruct,
    WireStruct,
    Z,
)
from accord.schema.v2.identifiers import McpRequestId, McpServerAcpId


class EnvVariable(WireStruct, frozen=True, kw_only=True):
    """One variable of a process's environment."""

    name: str
    value: str


class HttpHeader(WireStruct, frozen=True, kw_only=True):
    """One header of a request; what the transport owns it keeps."""

    name: str
    value: str


class McpServerStdio(WireStruct, frozen=True, kw_only=True, tag_field="type", tag="stdio"):
    """A server to start as a process."""

    name: str
    command: AbsolutePath
    args: Z[Omit[list[str]]] = UNSET
    env: Z[Omit[list[EnvVariable]]] = UNSET


class McpServerHttp(WireStruct, frozen=True, kw_only=True, tag_field="type", tag="http"):
    """A server to reach over HTTP."""

    name: str
    url: str
    headers: Z[Omit[list[HttpHeader]]] = UNSET


class McpServerAcp(UnstableStruct, frozen=True, kw_only=True, tag_field="type", tag="acp"):
    """A server that the client runs itself and reaches through this connection."""

    name: str
    server_id: McpServerAcpId


if TYPE_CHECKING:
    McpServer: TypeAlias = McpServerHttp | McpServerAcp | McpServerStdio | UnknownVariant
else:
    McpServer = McpServerHttp | McpServerAcp | McpServerStdio


class MessageMcpRequest(UnstableStruct, frozen=True, kw_only=True):
    """An MCP request for a server behind the other side; `request_id` is MCP's own."""

    server_id: McpServerAcpId
    request_id: McpRequestId
    method: str
    params: Patch[dict[str, Raw]] = UNSET


class MessageMcpNotification(UnstableStruct, frozen=True, kw_only=True):
    """An MCP notification that belongs to an open inner request."""

    server_id: McpServerAcpId
    request_id: McpRequestId
    method: str
    params: Patch[dict[str, Raw]] = UNSET


class McpError(BareStruct, frozen=True, kw_only=True):
    """The error object of the inner MCP answer; a null `data` is not the same as none."""

    __unstable__: ClassVar[bool] = True

    code: Int32
    message: str
    data: Omit[Raw] = UNSET


class MessageMcpResponse(UnstableStruct, frozen=True, kw_only=True):
    """The inner answer: a result, which may be JSON null, or else an error.

    A peer that sends both means the result.  The error is kept as it came, because MCP may put
    more into it than we know; that it is one at all is checked.
    """

    result: Omit[Raw] = UNSET
    error: Omit[Raw] = UNSET

    def __post_init__(self) -> None:
        if self.result is UNSET and self.failure is None:
            raise ValueError("Expected `result` or `error`")

    @property
    def failure(self) -> McpError | None:
        """The error that counts, read; None if there is a result."""
        if isinstance(self.error, Raw) and self.result is UNSET:
            return decode(McpError, self.error)
        return None
