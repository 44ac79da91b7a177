"""Wire types of the 2026-02 draft dialect, a third-party draft that calls itself version 1.

Its field names, update shapes and error numbers differ from the official versions, so it is a
version of its own here and imports none of them.

A module is imported when a name of it is first used.
"""

# Each module imports UNSET, a Final, which counts as set again by the next one.
# pyright: reportGeneralTypeIssues=false

from typing import TYPE_CHECKING

from accord.lazy_names import on_first_use

if TYPE_CHECKING:
    # ruff: noqa: F403
    from accord.schema.draft.capabilities import *
    from accord.schema.draft.content import *
    from accord.schema.draft.enumeration_openness import *
    from accord.schema.draft.errors import *
    from accord.schema.draft.files import *
    from accord.schema.draft.initialize import *
    from accord.schema.draft.mcp import *
    from accord.schema.draft.methods import *
    from accord.schema.draft.permissions import *
    from accord.schema.draft.prompt import *
    from accord.schema.draft.sessions import *
    from accord.schema.draft.terminals import *
    from accord.schema.draft.tool_calls import *
    from accord.schema.draft.updates import *

# Which module defines what; a test compares this with the modules.
_NAMES: dict[str, str] = {
    "capabilities": """
        AgentCapabilities ClientCapabilities FileSystemCapabilities McpCapabilities McpTransportName
        PromptCapabilities SessionCapabilities TerminalCapabilities UiCapabilities
    """,
    "content": """
        Attachment AudioContent ContentBlock EmbeddedResource ImageContent MediaSource ResourceLink
        SourceType TextContent
    """,
    "errors": """
        CODES ErrorCode
    """,
    "files": """
        ReadTextFileRequest ReadTextFileResponse WriteTextFileRequest WriteTextFileResponse
    """,
    "initialize": """
        AuthMethod AuthenticateRequest AuthenticateResponse Implementation InitializeRequest
        InitializeResponse
    """,
    "mcp": """
        McpAcp McpCall McpHttp McpServer McpSse McpStdio McpTransport
    """,
    "methods": """
        AGENT_METHODS CLIENT_METHODS PROTOCOL_VERSION
    """,
    "permissions": """
        PermissionOperation PermissionScope RequestPermissionRequest RequestPermissionResponse
    """,
    "prompt": """
        PromptRequest PromptResponse StopReason Usage
    """,
    "sessions": """
        CancelNotification LoadSessionRequest LoadSessionResponse NewSessionRequest
        NewSessionResponse SessionMode SetSessionConfigOptionRequest SetSessionConfigOptionResponse
        SetSessionModeRequest SetSessionModeResponse
    """,
    "terminals": """
        CreateTerminalRequest CreateTerminalResponse KillTerminalRequest KillTerminalResponse
        OutputStream ReleaseTerminalRequest ReleaseTerminalResponse TerminalOutputRequest
        TerminalOutputResponse WaitForTerminalExitRequest WaitForTerminalExitResponse
    """,
    "tool_calls": """
        DiffHunk DiffOutput Location TerminalOutput TextOutput ToolCall ToolCallOutput
        ToolCallStatus ToolCallUpdate
    """,
    "updates": """
        AgentMessageChunk AvailableCommands Command ConfigOptionSource ConfigOptionUpdate
        CurrentModeUpdate MessageChunk Plan PlanStep PlanStepStatus SessionNotification
        ThoughtMessageChunk UPDATE_TYPES UpdateData UpdateType UserMessageChunk decode_update
        update_notification
    """,
    "enumeration_openness": """
        ENUMS
    """,
}
_PLACE_OF = {
    name: f"{__name__}.{module}" for module, names in _NAMES.items() for name in names.split()
}

__getattr__ = on_first_use(__name__, _PLACE_OF)


__all__ = list(_PLACE_OF)  # pyright: ignore[reportUnsupportedDunderAll]
