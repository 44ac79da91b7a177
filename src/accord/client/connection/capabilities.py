"""The capabilities of an agent, read from its `initialize` answer, in one form for every version.

Must not know: any method.  A marker is read by the rules of its version: v1 has booleans and
objects, v2 only objects; a missing, null or malformed marker means unsupported.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from accord.errors import LocalProtocolError
from accord.protocol.capabilities import supports
from accord.translate.meta_store import OFFICIAL, kept

# The field here, and its path in each version.  In v2 the marker `session` stands for everything
# that all agents with sessions support.
_V1 = {
    "load": "loadSession",
    "resume": "sessionCapabilities.resume",
    "listing": "sessionCapabilities.list",
    "close": "sessionCapabilities.close",
    "delete": "sessionCapabilities.delete",
    "fork": "sessionCapabilities.fork",
    "archive": "sessionCapabilities.archive",
    "status": "sessionCapabilities.status",
    "title": "sessionCapabilities.title",
    "additional_directories": "sessionCapabilities.additionalDirectories",
    "system_prompt": "sessionCapabilities.systemPrompt",
    "system_prompt_override": "sessionCapabilities.systemPrompt.mode.override",
    "image": "promptCapabilities.image",
    "audio": "promptCapabilities.audio",
    "embedded_context": "promptCapabilities.embeddedContext",
    "mcp_http": "mcpCapabilities.http",
    "mcp_sse": "mcpCapabilities.sse",
    "mcp_acp": "mcpCapabilities.acp",
    "logout": "auth.logout",
    "auth_status": "auth.status",
    "providers": "providers",
}
_V2 = {
    "sessions": "session",
    "load": "session",
    "resume": "session",
    "listing": "session",
    "close": "session",
    "delete": "session.delete",
    "fork": "session.fork",
    "archive": "session.archive",
    "status": "session.status",
    "title": "session.title",
    "additional_directories": "session.additionalDirectories",
    "system_prompt": "session.systemPrompt",
    "system_prompt_override": "session.systemPrompt.mode.override",
    "image": "session.prompt.image",
    "audio": "session.prompt.audio",
    "embedded_context": "session.prompt.embeddedContext",
    "mcp_stdio": "session.mcp.stdio",
    "mcp_http": "session.mcp.http",
    "mcp_acp": "session.mcp.acp",
    "auth_status": "auth.status",
    "providers": "providers",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentCapabilities:
    """The capabilities that an agent offers.  `raw` is the object that it sent, with `_meta`."""

    sessions: bool = False
    load: bool = False
    resume: bool = False
    listing: bool = False
    close: bool = False
    delete: bool = False
    fork: bool = False
    archive: bool = False
    status: bool = False
    title: bool = False
    additional_directories: bool = False
    system_prompt: bool = False
    system_prompt_override: bool = False
    image: bool = False
    audio: bool = False
    embedded_context: bool = False
    mcp_stdio: bool = False
    mcp_http: bool = False
    mcp_sse: bool = False
    mcp_acp: bool = False
    logout: bool = False
    auth_status: bool = False
    providers: bool = False
    raw: Mapping[str, Any] = field(default_factory=dict, repr=False)


def read_v1(capabilities: object) -> AgentCapabilities:
    """Read v1's `agentCapabilities`; sessions and MCP servers on stdio are always supported."""
    raw = capabilities if isinstance(capabilities, Mapping) else {}
    found = {name: supports(raw, path, booleans=True) for name, path in _V1.items()}
    return AgentCapabilities(raw=raw, sessions=True, mcp_stdio=True, **found)


def read_v2(capabilities: object, *, has_auth_methods: bool) -> AgentCapabilities:
    """Read v2's `capabilities`; an agent with a way to log in can also log out.

    The exception is a translator whose agent cannot log out, which says so in `_meta`.
    """
    raw = capabilities if isinstance(capabilities, Mapping) else {}
    found = {name: supports(raw, path, booleans=False) for name, path in _V2.items()}
    cannot_log_out = kept(dict(raw), OFFICIAL).get("logout") is False
    logout = has_auth_methods and not cannot_log_out
    return AgentCapabilities(raw=raw, logout=logout, **found)


def not_offered(what: str) -> LocalProtocolError:
    """The error for something that the agent does not offer."""
    return LocalProtocolError(f"the agent does not offer {what}")


def not_switched_on(what: str) -> LocalProtocolError:
    """The error for an unstable part of the protocol that the program did not ask for."""
    return LocalProtocolError(f"{what} is unstable: switch it on with unstable=True")
