"""The methods of the 2026-02 draft, as data.

`_mcp/request` is planned in the draft and may come from either side; its result is whatever the
inner call returned.
"""

from accord.schema.draft import (
    files,
    initialize,
    mcp,
    permissions,
    prompt,
    sessions,
    terminals,
    updates,
)
from accord.schema.method import SESSION_UPDATE, Method, table
from accord.schema.struct import Raw

PROTOCOL_VERSION = 1

AGENT_METHODS: dict[str, Method] = table(
    "agent",
    {
        "initialize": (initialize.InitializeRequest, initialize.InitializeResponse),
        "authenticate": (initialize.AuthenticateRequest, initialize.AuthenticateResponse),
        "session/new": (sessions.NewSessionRequest, sessions.NewSessionResponse),
        "session/load": (sessions.LoadSessionRequest, sessions.LoadSessionResponse, "loadSession"),
        "session/prompt": (prompt.PromptRequest, prompt.PromptResponse),
        "session/set_mode": (
            sessions.SetSessionModeRequest,
            sessions.SetSessionModeResponse,
            "sessionCapabilities.modes",
        ),
        "session/set_config_option": (
            sessions.SetSessionConfigOptionRequest,
            sessions.SetSessionConfigOptionResponse,
            "sessionCapabilities.configOptions",
        ),
        "session/cancel": (sessions.CancelNotification,),
        # A request that clients may also send without an id; it is answered only if it has one.
        "terminal/output": (terminals.TerminalOutputRequest, terminals.TerminalOutputResponse),
    },
    unstable={
        "_mcp/request": (mcp.McpCall, Raw),
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
        "fs/read_text_file": (files.ReadTextFileRequest, files.ReadTextFileResponse, "fs.read"),
        "fs/write_text_file": (files.WriteTextFileRequest, files.WriteTextFileResponse, "fs.write"),
        "terminal/create": (
            terminals.CreateTerminalRequest,
            terminals.CreateTerminalResponse,
            "terminal.create",
        ),
        "terminal/wait_for_exit": (
            terminals.WaitForTerminalExitRequest,
            terminals.WaitForTerminalExitResponse,
            "terminal.create",
        ),
        "terminal/kill": (
            terminals.KillTerminalRequest,
            terminals.KillTerminalResponse,
            "terminal.create",
        ),
        "terminal/release": (
            terminals.ReleaseTerminalRequest,
            terminals.ReleaseTerminalResponse,
            "terminal.create",
        ),
    },
    unstable={
        "_mcp/request": (mcp.McpCall, Raw),
    },
)
