"""ACP v1: every type and method, stable and unstable.

Unstable types are `UnstableStruct`s, unstable fields have the mark `U`.

A module is imported when a name of it is first used: an agent answers `initialize` before it
needs most of them.
"""

# Each module imports UNSET, a Final, which counts as set again by the next one.
# pyright: reportGeneralTypeIssues=false

from typing import TYPE_CHECKING

from accord.lazy_names import on_first_use

if TYPE_CHECKING:
    # ruff: noqa: F403
    from accord.schema.v1.auth import *
    from accord.schema.v1.cancel import *
    from accord.schema.v1.capabilities import *
    from accord.schema.v1.commands import *
    from accord.schema.v1.config_options import *
    from accord.schema.v1.content import *
    from accord.schema.v1.elicitation import *
    from accord.schema.v1.errors import *
    from accord.schema.v1.files import *
    from accord.schema.v1.identifiers import *
    from accord.schema.v1.initialize import *
    from accord.schema.v1.mcp import *
    from accord.schema.v1.models import *
    from accord.schema.v1.modes import *
    from accord.schema.v1.permissions import *
    from accord.schema.v1.plans import *
    from accord.schema.v1.prompt import *
    from accord.schema.v1.providers import *
    from accord.schema.v1.proxy import *
    from accord.schema.v1.sessions import *
    from accord.schema.v1.subagents import *
    from accord.schema.v1.terminals import *
    from accord.schema.v1.tool_calls import *
    from accord.schema.v1.updates import *

# Which module defines what; a test compares this with the modules.
_NAMES: dict[str, str] = {
    "auth": """
        AuthAccount AuthMethod AuthMethodId AuthState AuthStatusRequest AuthStatusResponse
        AuthStatusUpdateNotification AuthenticateRequest AuthenticateResponse LogoutRequest
        LogoutResponse
    """,
    "cancel": """
        CancelNotification CancelRequestNotification
    """,
    "capabilities": """
        AgentAuthCapabilities AgentCapabilities AuthCapabilities AuthStatusCapabilities
        BooleanConfigOptionCapabilities ClientCapabilities ClientSessionCapabilities
        CompactionCapabilities ElicitationCapabilities ElicitationFormCapabilities
        ElicitationUrlCapabilities FileSystemCapabilities LogoutCapabilities McpCapabilities
        NoticeCapabilities PlanCapabilities PromptCapabilities ProvidersCapabilities
        SessionAdditionalDirectoriesCapabilities SessionArchiveCapabilities SessionCapabilities
        SessionCloseCapabilities SessionConfigOptionsCapabilities SessionDeleteCapabilities
        SessionForkCapabilities SessionListCapabilities SessionResumeCapabilities
        SessionStatusCapabilities SessionSystemPromptCapabilities
        SessionSystemPromptModeCapabilities SessionSystemPromptOverrideCapabilities
        SessionTitleCapabilities SubagentCapabilities
    """,
    "commands": """
        AvailableCommand AvailableCommandInput AvailableCommandsUpdate UnstructuredCommandInput
    """,
    "config_options": """
        ConfigOptionFields SessionConfigBoolean SessionConfigGroupId SessionConfigId
        SessionConfigOption SessionConfigOptionCategory SessionConfigSelect
        SessionConfigSelectEntry SessionConfigSelectOption SessionConfigValueId
        SetSessionConfigOptionRequest SetSessionConfigOptionResponse
    """,
    "content": """
        Annotations AudioContent ContentBlock EmbeddedResource EmbeddedResourceResource
        ImageContent ResourceLink Role TextContent
    """,
    "elicitation": """
        BooleanPropertySchema CompleteElicitationNotification CreateElicitationRequest
        CreateElicitationResponse ElicitationAcceptAction ElicitationCancelAction
        ElicitationContentValue ElicitationDeclineAction ElicitationFields ElicitationFormMode
        ElicitationId ElicitationPropertySchema ElicitationSchema ElicitationUrlMode EnumOption
        IntegerPropertySchema KnownMultiSelectItems MultiSelectItems MultiSelectPropertySchema
        NumberPropertySchema StringFormat StringPropertySchema
    """,
    "errors": """
        ERROR_CODES Error ErrorCode
    """,
    "files": """
        ReadTextFileRequest ReadTextFileResponse WriteTextFileRequest WriteTextFileResponse
    """,
    "identifiers": """
        RequestId
    """,
    "initialize": """
        Implementation InitializeRequest InitializeResponse ProtocolVersion
    """,
    "mcp": """
        EnvVariable HttpHeader McpError McpRequestId McpServer McpServerAcpId MessageMcpNotification
        MessageMcpRequest MessageMcpResponse
    """,
    "models": """
        ModelInfo SessionModelState SetSessionModelRequest SetSessionModelResponse
    """,
    "modes": """
        SessionMode SessionModeId SessionModeState SetSessionModeRequest SetSessionModeResponse
    """,
    "permissions": """
        CancelledPermissionOutcome PermissionOption PermissionOptionId PermissionOptionKind
        RequestPermissionOutcome RequestPermissionRequest RequestPermissionResponse
        SelectedPermissionOutcome
    """,
    "plans": """
        Plan PlanEntry PlanEntryPriority PlanEntryStatus PlanFile PlanId PlanItems PlanMarkdown
        PlanRemoved PlanUpdate PlanUpdateContent
    """,
    "prompt": """
        PromptRequest PromptResponse StopReason Usage
    """,
    "providers": """
        DisableProviderRequest DisableProviderResponse ListProvidersRequest
        ListProvidersResponse LlmProtocol ProviderCurrentConfig ProviderId ProviderInfo
        SetProviderRequest SetProviderResponse
    """,
    "proxy": """
        InitializeProxyRequest InitializeProxyResponse ProxySuccessorNotification
        ProxySuccessorRequest ProxySuccessorResponse
    """,
    "sessions": """
        ArchiveSessionRequest ArchiveSessionResponse CloseSessionRequest CloseSessionResponse
        DeleteSessionRequest DeleteSessionResponse ForkSessionRequest ForkSessionResponse
        ListSessionsRequest ListSessionsResponse LoadSessionRequest LoadSessionResponse
        NewSessionRequest NewSessionResponse ResumeSessionRequest ResumeSessionResponse
        SessionArchiveFilter SessionId SessionInfo SessionStatus SessionStatusRequest
        SessionStatusResponse SetSessionTitleRequest SetSessionTitleResponse SystemPrompt
        SystemPromptMode UnarchiveSessionRequest UnarchiveSessionResponse
    """,
    "subagents": """
        IdleStateUpdate IdleStopReason RequiresActionStateUpdate RunningStateUpdate
        SessionCancelCapabilities SessionMessage SessionMessageChunk StateUpdate
        SubagentSessionCapabilities SubagentUpdate UnknownStateUpdate
    """,
    "terminals": """
        CreateTerminalRequest CreateTerminalResponse KillTerminalRequest KillTerminalResponse
        ReleaseTerminalRequest ReleaseTerminalResponse TerminalExitStatus TerminalId
        TerminalOutputRequest TerminalOutputResponse WaitForTerminalExitRequest
        WaitForTerminalExitResponse
    """,
    "tool_calls": """
        Content Diff Terminal ToolCall ToolCallContent ToolCallId ToolCallLocation ToolCallPatch
        ToolCallStatus ToolCallUpdate ToolKind
    """,
    "updates": """
        AgentMessageChunk AgentThoughtChunk CompactionId CompactionStatus CompactionSummaryChunk
        CompactionUpdate ConfigOptionUpdate ContentChunk Cost CurrentModeUpdate MessageId Notice
        NoticeSeverity SessionInfoUpdate SessionNotification SessionUpdate UsageUpdate
        UserMessageChunk
    """,
}
_PLACE_OF = {
    name: f"{__name__}.{module}" for module, names in _NAMES.items() for name in names.split()
}

__getattr__ = on_first_use(__name__, _PLACE_OF)


__all__ = list(_PLACE_OF)  # pyright: ignore[reportUnsupportedDunderAll]
