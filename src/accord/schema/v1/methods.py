"""Every method of v1 as data.

`AGENT_METHODS` are handled by the agent, `CLIENT_METHODS` by the client; what either side may send
stands in both.

A gate names a capability of the handling side.  Two methods hang on one of the sending side, which
the handler has no need to check: `auth/status_update` (the agent's `auth.status`) and the client's
`mcp/message` (the agent's `mcpCapabilities.acp`).  Setting a mode, an option or a model hangs on
what the session offers.
"""

from accord.schema.method import CANCEL_REQUEST, SESSION_UPDATE, Method, table
from accord.schema.v1 import (
    auth,
    cancel,
    config_options,
    elicitation,
    files,
    initialize,
    mcp,
    models,
    modes,
    permissions,
    prompt,
    providers,
    proxy,
    sessions,
    terminals,
    updates,
)

AGENT_METHODS: dict[str, Method] = table(
    "agent",
    {
        "initialize": (initialize.InitializeRequest, initialize.InitializeResponse),
        "authenticate": (auth.AuthenticateRequest, auth.AuthenticateResponse),
        "logout": (auth.LogoutRequest, auth.LogoutResponse, "auth.logout"),
        "session/new": (sessions.NewSessionRequest, sessions.NewSessionResponse),
        "session/load": (sessions.LoadSessionRequest, sessions.LoadSessionResponse, "loadSession"),
        "session/resume": (
            sessions.ResumeSessionRequest,
            sessions.ResumeSessionResponse,
            "sessionCapabilities.resume",
        ),
        "session/list": (
            sessions.ListSessionsRequest,
            sessions.ListSessionsResponse,
            "sessionCapabilities.list",
        ),
        "session/close": (
            sessions.CloseSessionRequest,
            sessions.CloseSessionResponse,
            "sessionCapabilities.close",
        ),
        "session/delete": (
            sessions.DeleteSessionRequest,
            sessions.DeleteSessionResponse,
            "sessionCapabilities.delete",
        ),
        "session/set_mode": (
            modes.SetSessionModeRequest,
            modes.SetSessionModeResponse,
        ),
        "session/set_config_option": (
            config_options.SetSessionConfigOptionRequest,
            config_options.SetSessionConfigOptionResponse,
        ),
        # Gone from the schema, but spoken: it sets the config option of category `model`.
        "session/set_model": (
            models.SetSessionModelRequest,
            models.SetSessionModelResponse,
        ),
        "session/prompt": (prompt.PromptRequest, prompt.PromptResponse),
        "session/cancel": (cancel.CancelNotification,),
        CANCEL_REQUEST: (cancel.CancelRequestNotification,),
    },
    unstable={
        "auth/status": (auth.AuthStatusRequest, auth.AuthStatusResponse, "auth.status"),
        "providers/list": (
            providers.ListProvidersRequest,
            providers.ListProvidersResponse,
            "providers",
        ),
        "providers/set": (providers.SetProviderRequest, providers.SetProviderResponse, "providers"),
        "providers/disable": (
            providers.DisableProviderRequest,
            providers.DisableProviderResponse,
            "providers",
        ),
        "session/fork": (
            sessions.ForkSessionRequest,
            sessions.ForkSessionResponse,
            "sessionCapabilities.fork",
        ),
        "session/archive": (
            sessions.ArchiveSessionRequest,
            sessions.ArchiveSessionResponse,
            "sessionCapabilities.archive",
        ),
        "session/unarchive": (
            sessions.UnarchiveSessionRequest,
            sessions.UnarchiveSessionResponse,
            "sessionCapabilities.archive",
        ),
        "session/status": (
            sessions.SessionStatusRequest,
            sessions.SessionStatusResponse,
            "sessionCapabilities.status",
        ),
        "session/set_title": (
            sessions.SetSessionTitleRequest,
            sessions.SetSessionTitleResponse,
            "sessionCapabilities.title",
        ),
        "mcp/message": (mcp.MessageMcpNotification, None, "mcpCapabilities.acp"),
    },
)

CLIENT_METHODS: dict[str, Method] = table(
    "client",
    {
        SESSION_UPDATE: (updates.SessionNotification,),
        "session/request_permission": (
            permissions.RequestPermissionRequest,
            permissions.RequestPermissionResponse,
        ),
        "fs/read_text_file": (
            files.ReadTextFileRequest,
            files.ReadTextFileResponse,
            "fs.readTextFile",
        ),
        "fs/write_text_file": (
            files.WriteTextFileRequest,
            files.WriteTextFileResponse,
            "fs.writeTextFile",
        ),
        "terminal/create": (
            terminals.CreateTerminalRequest,
            terminals.CreateTerminalResponse,
            "terminal",
        ),
        "terminal/output": (
            terminals.TerminalOutputRequest,
            terminals.TerminalOutputResponse,
            "terminal",
        ),
        "terminal/wait_for_exit": (
            terminals.WaitForTerminalExitRequest,
            terminals.WaitForTerminalExitResponse,
            "terminal",
        ),
        "terminal/kill": (
            terminals.KillTerminalRequest,
            terminals.KillTerminalResponse,
            "terminal",
        ),
        "terminal/release": (
            terminals.ReleaseTerminalRequest,
            terminals.ReleaseTerminalResponse,
            "terminal",
        ),
        "elicitation/create": (
            elicitation.CreateElicitationRequest,
            elicitation.CreateElicitationResponse,
            "elicitation",
        ),
        "elicitation/complete": (
            elicitation.CompleteElicitationNotification,
            None,
            "elicitation.url",
        ),
        CANCEL_REQUEST: (cancel.CancelRequestNotification,),
    },
    unstable={
        "auth/status_update": (auth.AuthStatusUpdateNotification,),
        "mcp/message": (mcp.MessageMcpRequest, mcp.MessageMcpResponse),
    },
)

# Between a conductor and a proxy.  `proxy/successor` goes both ways, with an id and without.
PROXY_METHODS: dict[str, Method] = table(
    "proxy",
    unstable={
        "proxy/initialize": (proxy.InitializeProxyRequest, proxy.InitializeProxyResponse),
        "proxy/successor": (proxy.ProxySuccessorRequest, proxy.ProxySuccessorResponse),
    },
)
PROXY_NOTIFICATIONS: dict[str, Method] = table(
    "proxy",
    unstable={
        "proxy/successor": (proxy.ProxySuccessorNotification,),
    },
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
