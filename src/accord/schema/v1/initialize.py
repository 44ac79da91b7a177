"""`initialize`: the first exchange of a connection."""

from typing import TypeAlias

from accord.schema.struct import ES, UNSET, E, Omit, Patch, Uint16, WireStruct
from accord.schema.v1.auth import AuthMethod
from accord.schema.v1.capabilities import AgentCapabilities, ClientCapabilities

# A whole number; a string such as "1" is refused.
ProtocolVersion: TypeAlias = Uint16


class Implementation(WireStruct, frozen=True, kw_only=True):
    """Name and version of a program; `name` is shown when there is no `title`."""

    name: str
    title: E[Patch[str]] = UNSET
    version: str


class InitializeRequest(WireStruct, frozen=True, kw_only=True):
    """The client's newest version and what it can do."""

    protocol_version: ProtocolVersion
    client_capabilities: E[Omit[ClientCapabilities]] = UNSET
    client_info: E[Patch[Implementation]] = UNSET


class InitializeResponse(WireStruct, frozen=True, kw_only=True):
    """The version that is spoken from now on and what the agent can do."""

    protocol_version: ProtocolVersion
    agent_capabilities: E[Omit[AgentCapabilities]] = UNSET
    auth_methods: ES[Omit[list[AuthMethod]]] = UNSET
    agent_info: E[Patch[Implementation]] = UNSET
