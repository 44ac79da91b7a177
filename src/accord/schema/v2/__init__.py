"""Every wire type of ACP v2 in the state of November 2026, stable and unstable.

A type or field that only the unstable schema has is marked (`__unstable__`, `U[...]`); nothing of
that kind is sent unless the program asked for it.  v2 imports nothing of v1 and the reverse.

The tables (`methods`, `enumerations`) are not here: a program that only exchanges messages does not
need them.

A module is imported when a name of it is first used: an agent answers `initialize` before it
needs most of them.
"""

# Each module imports UNSET, a Final, which counts as set again by the next one.
# pyright: reportGeneralTypeIssues=false

from typing import TYPE_CHECKING

from accord.lazy_names import on_first_use

if TYPE_CHECKING:
    # ruff: noqa: F403
    from accord.schema.v2.auth import *
    from accord.schema.v2.cancel import *
    from accord.schema.v2.capabilities import *
    from accord.schema.v2.commands import *
    from accord.schema.v2.config_options import *
    from accord.schema.v2.content import *
    from accord.schema.v2.elicitation import *
    from accord.schema.v2.errors import *
    from accord.schema.v2.identifiers import *
    from accord.schema.v2.initialize import *
    from accord.schema.v2.mcp import *
    from accord.schema.v2.permissions import *
    from accord.schema.v2.plans import *
    from accord.schema.v2.prompt import *
    from accord.schema.v2.providers import *
    from accord.schema.v2.proxy import *
    from accord.schema.v2.sessions import *
    from accord.schema.v2.state import *
    from accord.schema.v2.subagents import *
    from accord.schema.v2.terminals import *
    from accord.schema.v2.tool_calls import *
    from accord.schema.v2.updates import *

# Which module defines what; a test compares this with the modules.
_NAMES: dict[str, str] = {
    "auth": """
        AuthAccount AuthMethod AuthMethodAgent AuthMethodTerminal AuthState AuthStatusRequest
        AuthStatusResponse AuthStatusUpdateNotification LoginAuthRequest LoginAuthResponse
        LogoutAuthRequest LogoutAuthResponse
    """,
    "cancel": """
        CancelRequestNotification CancelSessionNotification
    """,
    "capabilities": """
        AgentAuthCapabilities AgentCapabilities AuthStatusCapabilities ClientAuthCapabilities
        ClientCapabilities ElicitationCapabilities ElicitationFormCapabilities
        ElicitationUrlCapabilities McpAcpCapabilities McpCapabilities McpHttpCapabilities
        McpStdioCapabilities PromptAudioCapabilities PromptCapabilities
        PromptEmbeddedContextCapabilities PromptImageCapabilities ProvidersCapabilities
        SessionAdditionalDirectoriesCapabilities SessionArchiveCapabilities
        SessionCancelCapabilities SessionCapabilities SessionDeleteCapabilities
        SessionForkCapabilities SessionStatusCapabilities SessionSystemPromptCapabilities
        SessionSystemPromptModeCapabilities SessionSystemPromptOverrideCapabilities
        SessionTitleCapabilities SubagentSessionCapabilities TerminalAuthCapabilities
        TerminalCancelCapabilities TerminalCapabilities ToolCallCancelCapabilities
        ToolCallCapabilities
    """,
    "commands": """
        AvailableCommand AvailableCommandInput AvailableCommandsUpdate Command TextCommandInput
    """,
    "config_options": """
        ConfigOptionFields ConfigOptionUpdate SessionConfigBoolean SessionConfigOption
        SessionConfigOptionCategory SessionConfigSelect SessionConfigSelectEntry
        SessionConfigSelectOption SetSessionConfigBooleanRequest SetSessionConfigIdRequest
        SetSessionConfigOptionRequest SetSessionConfigOptionResponse
    """,
    "content": """
        Annotations AudioContent ContentBlock EmbeddedResource EmbeddedResourceResource Icon
        IconTheme ImageContent Priority ResourceLink Role TextContent
    """,
    "elicitation": """
        BooleanPropertySchema CompleteElicitationNotification CreateElicitationRequest
        CreateElicitationResponse ElicitationAcceptAction ElicitationCancelAction
        ElicitationContentValue ElicitationDeclineAction ElicitationFields ElicitationFormMode
        ElicitationPropertySchema ElicitationSchema ElicitationSchemaType ElicitationUrlMode
        EnumOption IntegerPropertySchema KnownMultiSelectItems MultiSelectItems
        MultiSelectPropertySchema NumberPropertySchema StringFormat StringPropertySchema
    """,
    "errors": """
        Error ErrorCode ErrorData PredefinedErrorCode SessionNotFoundErrorData
        UnsupportedProtocolVersionErrorData
    """,
    "identifiers": """
        AuthMethodId CompactionId ElicitationId McpRequestId McpServerAcpId MediaType MessageId
        PermissionOptionId PlanId ProtocolVersion ProviderId RequestId SessionConfigGroupId
        SessionConfigId SessionConfigValueId SessionId SessionListCursor TerminalId ToolCallId
    """,
    "initialize": """
        Implementation InitializeRequest InitializeResponse
    """,
    "mcp": """
        EnvVariable HttpHeader McpError McpServer McpServerAcp McpServerHttp McpServerStdio
        MessageMcpNotification MessageMcpRequest MessageMcpResponse
    """,
    "permissions": """
        CancelledPermissionOutcome CommandPermissionSubject PermissionOption
        PermissionOptionKind RequestPermissionOutcome RequestPermissionRequest
        RequestPermissionResponse RequestPermissionSubject SelectedPermissionOutcome
        ToolCallPermissionSubject
    """,
    "plans": """
        PlanEntry PlanEntryPriority PlanEntryStatus PlanFile PlanItems PlanMarkdown PlanRemoved
        PlanUpdate PlanUpdateContent
    """,
    "prompt": """
        PromptRequest PromptResponse
    """,
    "providers": """
        DisableProviderRequest DisableProviderResponse ListProvidersRequest
        ListProvidersResponse LlmProtocol ProviderCurrentConfig ProviderInfo SetProviderRequest
        SetProviderResponse
    """,
    "proxy": """
        InitializeProxyRequest InitializeProxyResponse ProxySuccessorNotification
        ProxySuccessorRequest ProxySuccessorResponse
    """,
    "sessions": """
        ArchiveSessionRequest ArchiveSessionResponse CloseSessionRequest CloseSessionResponse
        DeleteSessionRequest DeleteSessionResponse ForkSessionRequest ForkSessionResponse
        ListSessionsRequest ListSessionsResponse NewSessionRequest NewSessionResponse ReplayFrom
        ReplayFromNowhere ReplayFromStart ResumeSessionRequest ResumeSessionResponse
        SessionArchiveFilter SessionInfo SessionStatus SessionStatusRequest
        SessionStatusResponse SetSessionTitleRequest SetSessionTitleResponse SystemPrompt
        SystemPromptMode UnarchiveSessionRequest UnarchiveSessionResponse
    """,
    "state": """
        BackgroundSubagent BackgroundTerminal BackgroundToolCall BackgroundWork StateKind
        StateSnapshot StateUpdate StopReason Usage
    """,
    "subagents": """
        SessionMessage SessionMessageChunk SubagentUpdate
    """,
    "terminals": """
        CancelTerminalRequest CancelTerminalResponse Extent TerminalExitStatus TerminalOutput
        TerminalOutputChunk TerminalSize TerminalUpdate
    """,
    "tool_calls": """
        CancelToolCallRequest CancelToolCallResponse Content Diff DiffAdd DiffChange DiffCopy
        DiffDelete DiffFileType DiffModify DiffMove DiffPatch DiffPatchFormat DiffPathChange
        DiffPathPairChange LineNumber Terminal ToolCallContent ToolCallContentChunk
        ToolCallLocation ToolCallPatch ToolCallStatus ToolCallUpdate ToolKind
    """,
    "updates": """
        AgentMessage AgentMessageChunk AgentThought AgentThoughtChunk CompactionStatus
        CompactionSummaryChunk CompactionUpdate ContentChunk Cost MessagePatch Notice
        NoticeSeverity NoticeTitle SessionInfoUpdate SessionUpdate UpdateSessionNotification
        UsageUpdate UserMessage UserMessageChunk
    """,
}
_PLACE_OF = {
    name: f"{__name__}.{module}" for module, names in _NAMES.items() for name in names.split()
}

__getattr__ = on_first_use(__name__, _PLACE_OF)


__all__ = list(_PLACE_OF)  # pyright: ignore[reportUnsupportedDunderAll]
