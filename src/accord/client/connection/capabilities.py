"""What an agent can do, read once from its `initialize` answer and the same for every version.

Must not know: any method.  A marker is read as its version says: v1 has booleans and objects,
v2 only objects; what is missing, null or malformed is unsupported.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from accord.protocol.capabilities import supports
from accord.translate.meta_store import OFFICIAL, kept

# The name here, and where each version keeps it.  In v2 the marker `session` stands for all that
# every agent with sessions can do.
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
    """What the agent offered.  `raw` is the object that it sent, `_meta` included."""

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
    """v1's `agentCapabilities`; sessions and MCP servers on stdio are always there."""
    raw = capabilities if isinstance(capabilities, Mapping) else {}
    found = {name: supports(raw, path, booleans=True) for name, path in _V1.items()}
    return AgentCapabilities(raw=raw, sessions=True, mcp_stdio=True, **found)


def read_v2(capabilities: object, *, has_auth_methods: bool) -> AgentCapabilities:
    """v2's `capabilities`; logging out goes with having a way to log in.

    Not so behind a translator whose agent cannot log out, which says so.
    """
    raw = capabilities if isinstance(capabilities, Mapping) else {}
    found = {name: supports(raw, path, booleans=False) for name, path in _V2.items()}
    cannot_log_out = kept(dict(raw), OFFICIAL).get("logout") is False
    logout = has_auth_methods and not cannot_log_out
    return AgentCapabilities(raw=raw, logout=logout, **found)


__all__ = ["AgentCapabilities", "read_v1", "read_v2"]
