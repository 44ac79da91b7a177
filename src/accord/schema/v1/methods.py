"""Every method of v1 as data.

`AGENT_METHODS` are handled by the agent, `CLIENT_METHODS` by the client; what either side may send
stands in both.

A gate names a capability of the handling side.  Two methods hang on one of the sending side, which
the handler has no need to check: `auth/status_update` (the agent's `auth.status`) and the client's
`mcp/message` (the agent's `mcpCapabilities.acp`).  Setting a mode, an option or a model hangs on
what the session offers.
"""

from typing import Any

from accord.schema.method import CANCEL_REQUEST, SESSION_UPDATE, Kind, Method, table
from accord.schema.v1 import (
    auth,
    cancel,
    config,
    elicitation,
    files,
    initialize,
    mcp,
    permissions,
    prompt,
    providers,
    proxy,
    sessions,
    terminals,
    updates,
)


def _agent(
    name: str, params: Any, result: Any, gate: str | None = None, *, unstable: bool = False
) -> Method:
    kind: Kind = "notification" if result is None else "request"
    return Method(name, "agent", kind, params, result, gate, unstable)


def _client(
    name: str, params: Any, result: Any, gate: str | None = None, *, unstable: bool = False
) -> Method:
    kind: Kind = "notification" if result is None else "request"
    return Method(name, "client", kind, params, result, gate, unstable)


AGENT_METHODS: dict[str, Method] = table(
    _agent("initialize", initialize.InitializeRequest, initialize.InitializeResponse),
    _agent("authenticate", auth.AuthenticateRequest, auth.AuthenticateResponse),
    _agent("logout", auth.LogoutRequest, auth.LogoutResponse, "auth.logout"),
    _agent(
        "auth/status", auth.AuthStatusRequest, auth.AuthStatusResponse, "auth.status", unstable=True
    ),
    _agent(
        "providers/list",
        providers.ListProvidersRequest,
        providers.ListProvidersResponse,
        "providers",
        unstable=True,
    ),
    _agent(
        "providers/set",
        providers.SetProviderRequest,
        providers.SetProviderResponse,
        "providers",
        unstable=True,
    ),
    _agent(
        "providers/disable",
        providers.DisableProviderRequest,
        providers.DisableProviderResponse,
        "providers",
        unstable=True,
    ),
    _agent("session/new", sessions.NewSessionRequest, sessions.NewSessionResponse),
    _agent(
        "session/load", sessions.LoadSessionRequest, sessions.LoadSessionResponse, "loadSession"
    ),
    _agent(
        "session/resume",
        sessions.ResumeSessionRequest,
        sessions.ResumeSessionResponse,
        "sessionCapabilities.resume",
    ),
    _agent(
        "session/list",
        sessions.ListSessionsRequest,
        sessions.ListSessionsResponse,
        "sessionCapabilities.list",
    ),
    _agent(
        "session/close",
        sessions.CloseSessionRequest,
        sessions.CloseSessionResponse,
        "sessionCapabilities.close",
    ),
    _agent(
        "session/delete",
        sessions.DeleteSessionRequest,
        sessions.DeleteSessionResponse,
        "sessionCapabilities.delete",
    ),
    _agent(
        "session/fork",
        sessions.ForkSessionRequest,
        sessions.ForkSessionResponse,
        "sessionCapabilities.fork",
        unstable=True,
    ),
    _agent(
        "session/archive",
        sessions.ArchiveSessionRequest,
        sessions.ArchiveSessionResponse,
        "sessionCapabilities.archive",
        unstable=True,
    ),
    _agent(
        "session/unarchive",
        sessions.UnarchiveSessionRequest,
        sessions.UnarchiveSessionResponse,
        "sessionCapabilities.archive",
        unstable=True,
    ),
    _agent(
        "session/status",
        sessions.SessionStatusRequest,
        sessions.SessionStatusResponse,
        "sessionCapabilities.status",
        unstable=True,
    ),
    _agent(
        "session/set_title",
        sessions.SetSessionTitleRequest,
        sessions.SetSessionTitleResponse,
        "sessionCapabilities.title",
        unstable=True,
    ),
    _agent("session/set_mode", config.SetSessionModeRequest, config.SetSessionModeResponse),
    _agent(
        "session/set_config_option",
        config.SetSessionConfigOptionRequest,
        config.SetSessionConfigOptionResponse,
    ),
    # Gone from the schema, but spoken: it sets the config option of category `model`.
    _agent("session/set_model", config.SetSessionModelRequest, config.SetSessionModelResponse),
    _agent("session/prompt", prompt.PromptRequest, prompt.PromptResponse),
    _agent("session/cancel", cancel.CancelNotification, None),
    _agent("mcp/message", mcp.MessageMcpNotification, None, "mcpCapabilities.acp", unstable=True),
    _agent(CANCEL_REQUEST, cancel.CancelRequestNotification, None),
)

CLIENT_METHODS: dict[str, Method] = table(
    _client(SESSION_UPDATE, updates.SessionNotification, None),
    _client(
        "session/request_permission",
        permissions.RequestPermissionRequest,
        permissions.RequestPermissionResponse,
    ),
    _client(
        "fs/read_text_file",
        files.ReadTextFileRequest,
        files.ReadTextFileResponse,
        "fs.readTextFile",
    ),
    _client(
        "fs/write_text_file",
        files.WriteTextFileRequest,
        files.WriteTextFileResponse,
        "fs.writeTextFile",
    ),
    _client(
        "terminal/create",
        terminals.CreateTerminalRequest,
        terminals.CreateTerminalResponse,
        "terminal",
    ),
    _client(
        "terminal/output",
        terminals.TerminalOutputRequest,
        terminals.TerminalOutputResponse,
        "terminal",
    ),
    _client(
        "terminal/wait_for_exit",
        terminals.WaitForTerminalExitRequest,
        terminals.WaitForTerminalExitResponse,
        "terminal",
    ),
    _client(
        "terminal/kill", terminals.KillTerminalRequest, terminals.KillTerminalResponse, "terminal"
    ),
    _client(
        "terminal/release",
        terminals.ReleaseTerminalRequest,
        terminals.ReleaseTerminalResponse,
        "terminal",
    ),
    _client(
        "elicitation/create",
        elicitation.CreateElicitationRequest,
        elicitation.CreateElicitationResponse,
        "elicitation",
    ),
    _client(
        "elicitation/complete", elicitation.CompleteElicitationNotification, None, "elicitation.url"
    ),
    _client("auth/status_update", auth.AuthStatusUpdateNotification, None, unstable=True),
    _client("mcp/message", mcp.MessageMcpRequest, mcp.MessageMcpResponse, unstable=True),
    _client(CANCEL_REQUEST, cancel.CancelRequestNotification, None),
)

# Between a conductor and a proxy.  `proxy/successor` goes both ways, with an id and without.
PROXY_METHODS: dict[str, Method] = table(
    Method(
        "proxy/initialize",
        "proxy",
        "request",
        proxy.InitializeProxyRequest,
        proxy.InitializeProxyResponse,
        unstable=True,
    ),
    Method(
        "proxy/successor",
        "proxy",
        "request",
        proxy.ProxySuccessorRequest,
        proxy.ProxySuccessorResponse,
        unstable=True,
    ),
)
PROXY_NOTIFICATIONS: dict[str, Method] = table(
    Method(
        "proxy/successor", "proxy", "notification", proxy.ProxySuccessorNotification, unstable=True
    ),
)

# The client's capability without which an agent must not send an update of this kind.
UPDATE_GATES: dict[str, str] = {
    "notice": "session.notices",
    "compaction_update": "session.compaction",
    "compaction_summary_chunk": "session.compaction",
    "plan_update": "plan",
    "plan_removed": "plan",
    "subagent_update": "subagents",
    "session_message": "subagents",
    "session_message_chunk": "subagents",
}
