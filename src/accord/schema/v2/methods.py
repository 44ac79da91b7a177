"""The methods of v2 as data.

Gates are paths in the capabilities of the side that handles the method, with three exceptions:
`authMethods` is the list of that name in the answer to `initialize`, `toolCall.cancel` and
`terminal.cancel` are advertised by the tool call or terminal in question, and `configOptions` by
the session.
"""

from accord.schema.method import CANCEL_REQUEST, SESSION_UPDATE, Method, table
from accord.schema.v2 import (
    auth,
    cancel,
    config_options,
    elicitation,
    initialize,
    mcp,
    permissions,
    prompt,
    providers,
    proxy,
    sessions,
    terminals,
    tool_calls,
    updates,
)

AGENT_METHODS: dict[str, Method] = table(
    "agent",
    {
        "initialize": (initialize.InitializeRequest, initialize.InitializeResponse),
        "auth/login": (auth.LoginAuthRequest, auth.LoginAuthResponse, "authMethods"),
        "auth/logout": (auth.LogoutAuthRequest, auth.LogoutAuthResponse, "authMethods"),
        "session/new": (sessions.NewSessionRequest, sessions.NewSessionResponse, "session"),
        "session/list": (sessions.ListSessionsRequest, sessions.ListSessionsResponse, "session"),
        "session/resume": (
            sessions.ResumeSessionRequest,
            sessions.ResumeSessionResponse,
            "session",
        ),
        "session/close": (sessions.CloseSessionRequest, sessions.CloseSessionResponse, "session"),
        "session/prompt": (prompt.PromptRequest, prompt.PromptResponse, "session"),
        "session/cancel": (cancel.CancelSessionNotification, None, "session"),
        "session/set_config_option": (
            config_options.SetSessionConfigOptionRequest,
            config_options.SetSessionConfigOptionResponse,
            "configOptions",
        ),
        "session/delete": (
            sessions.DeleteSessionRequest,
            sessions.DeleteSessionResponse,
            "session.delete",
        ),
        "tool_call/cancel": (
            tool_calls.CancelToolCallRequest,
            tool_calls.CancelToolCallResponse,
            "toolCall.cancel",
        ),
        "terminal/cancel": (
            terminals.CancelTerminalRequest,
            terminals.CancelTerminalResponse,
            "terminal.cancel",
        ),
        CANCEL_REQUEST: (cancel.CancelRequestNotification,),
    },
    unstable={
        "auth/status": (auth.AuthStatusRequest, auth.AuthStatusResponse, "auth.status"),
        "session/fork": (sessions.ForkSessionRequest, sessions.ForkSessionResponse, "session.fork"),
        "session/archive": (
            sessions.ArchiveSessionRequest,
            sessions.ArchiveSessionResponse,
            "session.archive",
        ),
        "session/unarchive": (
            sessions.UnarchiveSessionRequest,
            sessions.UnarchiveSessionResponse,
            "session.archive",
        ),
        "session/status": (
            sessions.SessionStatusRequest,
            sessions.SessionStatusResponse,
            "session.status",
        ),
        "session/set_title": (
            sessions.SetSessionTitleRequest,
            sessions.SetSessionTitleResponse,
            "session.title",
        ),
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
        "mcp/message": (mcp.MessageMcpNotification, None, "session.mcp.acp"),
    },
)

CLIENT_METHODS: dict[str, Method] = table(
    "client",
    {
        SESSION_UPDATE: (updates.UpdateSessionNotification,),
        "session/request_permission": (
            permissions.RequestPermissionRequest,
            permissions.RequestPermissionResponse,
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

# What a proxy handles besides.  `proxy/successor` is a request or a notification, whichever it
# wraps, so it stands in two tables.
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
