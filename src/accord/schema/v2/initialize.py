"""`initialize`: the first message of every connection.

`capabilities` may be left out, which is the same as `{}`; `info` may not, on either side.
"""

from accord.schema.struct import ES, UNSET, E, Omit, Patch, WireStruct
from accord.schema.v2.auth import AuthMethod
from accord.schema.v2.capabilities import AgentCapabilities, ClientCapabilities
from accord.schema.v2.identifiers import ProtocolVersion


class Implementation(WireStruct, frozen=True, kw_only=True):
    """The program at one end: a name for machines, and perhaps one for people."""

    name: str
    title: E[Patch[str]] = UNSET
    version: str


class InitializeRequest(WireStruct, frozen=True, kw_only=True):
    """The client names the newest version it speaks, itself and what it can do."""

    protocol_version: ProtocolVersion
    info: Implementation
    capabilities: E[Omit[ClientCapabilities]] = UNSET


class InitializeResponse(WireStruct, frozen=True, kw_only=True):
    """The agent names its highest version at or below the asked one, itself and what it can do.

    A list of `auth_methods` that is not empty promises both `auth/login` and `auth/logout`.
    """

    protocol_version: ProtocolVersion
    info: Implementation
    capabilities: E[Omit[AgentCapabilities]] = UNSET
    auth_methods: ES[Omit[list[AuthMethod]]] = UNSET
