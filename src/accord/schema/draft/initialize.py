"""The first exchange of a connection in the 2026-02 draft, and the login that may follow it."""

from typing import Literal, TypeAlias

from accord.schema.draft.capabilities import AgentCapabilities, ClientCapabilities
from accord.schema.struct import UNSET, Omit, Raw, Uint16, WireStruct, Z

AuthMethod: TypeAlias = Literal["api_key", "oauth2", "custom"] | str


class Implementation(WireStruct, frozen=True, kw_only=True):
    """The name and version of a program."""

    name: str
    version: str


class InitializeRequest(WireStruct, frozen=True, kw_only=True):
    """Opens the connection: who the client is and what it offers."""

    protocol_version: Uint16
    client_info: Implementation
    capabilities: ClientCapabilities


class InitializeResponse(WireStruct, frozen=True, kw_only=True):
    """The version that will be spoken, who the agent is, what it offers and what it demands."""

    protocol_version: Uint16
    agent_info: Implementation
    capabilities: AgentCapabilities
    required_client_capabilities: Z[Omit[ClientCapabilities]] = UNSET


class AuthenticateRequest(WireStruct, frozen=True, kw_only=True):
    """Logs in.  The credentials are secrets: they go on the wire and nowhere else."""

    method: AuthMethod
    credentials: dict[str, Raw]

    def __repr__(self) -> str:
        # A repr ends up in logs and tracebacks.
        return f"AuthenticateRequest(method={self.method!r}, credentials=<hidden>)"


class AuthenticateResponse(WireStruct, frozen=True, kw_only=True):
    """Whether the login worked; a wrong secret is an answer here, not a JSON-RPC error."""

    success: bool
    error: Z[Omit[str]] = UNSET
    expires_at: Z[Omit[str]] = UNSET
