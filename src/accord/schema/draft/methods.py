"""The methods of the 2026-02 draft, as data.

`_mcp/request` is planned in the draft and may come from either side; its result is whatever the
inner call returned.
"""

from accord.schema.draft.files import (
    ReadTextFileRequest,
    ReadTextFileResponse,
    WriteTextFileRequest,
    WriteTextFileResponse,
)
from accord.schema.draft.initialize import (
    AuthenticateRequest,
    AuthenticateResponse,
    InitializeRequest,
    InitializeResponse,
)
from accord.schema.draft.mcp import McpCall
from accord.schema.draft.permissions import RequestPermissionRequest, RequestPermissionResponse
from accord.schema.draft.prompt import PromptRequest, PromptResponse
from accord.schema.draft.sessions import (
    CancelNotification,
    LoadSessionRequest,
    LoadSessionResponse,
    NewSessionRequest,
    NewSessionResponse,
    SetSessionConfigOptionRequest,
    SetSessionConfigOptionResponse,
    SetSessionModeRequest,
    SetSessionModeResponse,
)
from accord.schema.draft.terminals import (
    CreateTerminalRequest,
    CreateTerminalResponse,
    KillTerminalRequest,
    KillTerminalResponse,
    ReleaseTerminalRequest,
    ReleaseTerminalResponse,
    TerminalOutputRequest,
    TerminalOutputResponse,
    WaitForTerminalExitRequest,
    WaitForTerminalExitResponse,
)
from accord.schema.draft.updates import SessionNotification
from accord.schema.method import SESSION_UPDATE, Method, table
from accord.schema.struct import Raw

PROTOCOL_VERSION = 1

AGENT_METHODS = table(
    Method("initialize", "agent", "request", InitializeRequest, InitializeResponse),
    Method("authenticate", "agent", "request", AuthenticateRequest, AuthenticateResponse),
    Method("session/new", "agent", "request", NewSessionRequest, NewSessionResponse),
    Method(
        "session/load",
        "agent",
        "request",
        LoadSessionRequest,
        LoadSessionResponse,
        gate="loadSession",
    ),
    Method("session/prompt", "agent", "request", PromptRequest, PromptResponse),
    Method(
        "session/set_mode",
        "agent",
        "request",
        SetSessionModeRequest,
        SetSessionModeResponse,
        gate="sessionCapabilities.modes",
    ),
    Method(
        "session/set_config_option",
        "agent",
        "request",
        SetSessionConfigOptionRequest,
        SetSessionConfigOptionResponse,
        gate="sessionCapabilities.configOptions",
    ),
    Method("session/cancel", "agent", "notification", CancelNotification),
    # A request that clients may also send without an id; it is answered only if it has one.
    Method("terminal/output", "agent", "request", TerminalOutputRequest, TerminalOutputResponse),
    Method("_mcp/request", "agent", "request", McpCall, Raw, unstable=True),
)

CLIENT_METHODS = table(
    Method(SESSION_UPDATE, "client", "notification", SessionNotification),
    Method(
        "session/request_permission",
        "client",
        "request",
        RequestPermissionRequest,
        RequestPermissionResponse,
    ),
    Method(
        "fs/read_text_file",
        "client",
        "request",
        ReadTextFileRequest,
        ReadTextFileResponse,
        gate="fs.read",
    ),
    Method(
        "fs/write_text_file",
        "client",
        "request",
        WriteTextFileRequest,
        WriteTextFileResponse,
        gate="fs.write",
    ),
    Method(
        "terminal/create",
        "client",
        "request",
        CreateTerminalRequest,
        CreateTerminalResponse,
        gate="terminal.create",
    ),
    Method(
        "terminal/wait_for_exit",
        "client",
        "request",
        WaitForTerminalExitRequest,
        WaitForTerminalExitResponse,
        gate="terminal.create",
    ),
    Method(
        "terminal/kill",
        "client",
        "request",
        KillTerminalRequest,
        KillTerminalResponse,
        gate="terminal.create",
    ),
    Method(
        "terminal/release",
        "client",
        "request",
        ReleaseTerminalRequest,
        ReleaseTerminalResponse,
        gate="terminal.create",
    ),
    Method("_mcp/request", "client", "request", McpCall, Raw, unstable=True),
)
