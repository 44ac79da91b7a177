"""What each side can do, as exchanged by `initialize`.

A boolean counts when it is true; a marker object counts when it is there and not null, even when
it is empty.  Must not know: which method a capability opens; `methods.py` says that.
"""

from accord.schema.struct import UNSET, BareStruct, E, Omit, Patch, U, UnstableStruct, WireStruct


class FileSystemCapabilities(WireStruct, frozen=True, kw_only=True):
    """Which file methods the client answers."""

    read_text_file: E[bool] = False
    write_text_file: E[bool] = False


class BooleanConfigOptionCapabilities(WireStruct, frozen=True, kw_only=True):
    """Marker: the client can show on/off options."""


class SessionConfigOptionsCapabilities(WireStruct, frozen=True, kw_only=True):
    """Which kinds of config option the client can show besides lists."""

    boolean: E[Patch[BooleanConfigOptionCapabilities]] = UNSET


class CompactionCapabilities(BareStruct, frozen=True, kw_only=True):
    """Marker: the client understands compaction updates."""


class NoticeCapabilities(BareStruct, frozen=True, kw_only=True):
    """Marker: the client shows notices."""


class ClientSessionCapabilities(WireStruct, frozen=True, kw_only=True):
    """What the client understands inside a session."""

    compaction: E[Patch[CompactionCapabilities]] = UNSET
    config_options: E[Patch[SessionConfigOptionsCapabilities]] = UNSET
    notices: E[Patch[NoticeCapabilities]] = UNSET


class AuthCapabilities(WireStruct, frozen=True, kw_only=True):
    """Which login flows the client can run."""

    terminal: E[bool] = False


class ElicitationFormCapabilities(WireStruct, frozen=True, kw_only=True):
    """Marker: the client can show forms."""


class ElicitationUrlCapabilities(WireStruct, frozen=True, kw_only=True):
    """Marker: the client can send the user to a URL."""


class ElicitationCapabilities(WireStruct, frozen=True, kw_only=True):
    """How the client can ask its user; empty means it cannot."""

    form: E[Patch[ElicitationFormCapabilities]] = UNSET
    url: E[Patch[ElicitationUrlCapabilities]] = UNSET


class SubagentCapabilities(UnstableStruct, frozen=True, kw_only=True):
    """Marker: the client understands child sessions."""


class PlanCapabilities(UnstableStruct, frozen=True, kw_only=True):
    """Marker: the client understands plans with ids."""


class ClientCapabilities(WireStruct, frozen=True, kw_only=True):
    """Everything the client offers to the agent."""

    fs: E[Omit[FileSystemCapabilities]] = UNSET
    terminal: E[bool] = False
    session: E[Patch[ClientSessionCapabilities]] = UNSET
    subagents: U[E[Patch[SubagentCapabilities]]] = UNSET
    plan: U[E[Patch[PlanCapabilities]]] = UNSET
    auth: E[Omit[AuthCapabilities]] = UNSET
    elicitation: E[Patch[ElicitationCapabilities]] = UNSET


class PromptCapabilities(WireStruct, frozen=True, kw_only=True):
    """Which content blocks a prompt may hold besides text and links."""

    image: E[bool] = False
    audio: E[bool] = False
    embedded_context: E[bool] = False


class McpCapabilities(WireStruct, frozen=True, kw_only=True):
    """Which MCP transports the agent can use besides stdio."""

    http: E[bool] = False
    sse: E[bool] = False
    acp: U[E[bool]] = False


class AuthStatusCapabilities(UnstableStruct, frozen=True, kw_only=True):
    """Marker: the agent can say whether it is logged in."""


class LogoutCapabilities(WireStruct, frozen=True, kw_only=True):
    """Marker: the agent can log out."""


class AgentAuthCapabilities(WireStruct, frozen=True, kw_only=True):
    """What the agent can do about logins besides `authenticate`."""

    status: U[E[Patch[AuthStatusCapabilities]]] = UNSET
    logout: E[Patch[LogoutCapabilities]] = UNSET


class SessionListCapabilities(WireStruct, frozen=True, kw_only=True):
    """Marker: the agent lists its sessions."""


class SessionDeleteCapabilities(WireStruct, frozen=True, kw_only=True):
    """Marker: the agent deletes sessions."""


class SessionAdditionalDirectoriesCapabilities(WireStruct, frozen=True, kw_only=True):
    """Marker: a session may have more roots than its working directory."""


class SessionSystemPromptOverrideCapabilities(UnstableStruct, frozen=True, kw_only=True):
    """Marker: a system prompt may replace the agent's own."""


class SessionSystemPromptModeCapabilities(UnstableStruct, frozen=True, kw_only=True):
    """How a system prompt may be combined with the agent's own."""

    override: E[Patch[SessionSystemPromptOverrideCapabilities]] = UNSET


class SessionSystemPromptCapabilities(UnstableStruct, frozen=True, kw_only=True):
    """The agent takes a system prompt for a session."""

    mode: E[Patch[SessionSystemPromptModeCapabilities]] = UNSET


class SessionForkCapabilities(UnstableStruct, frozen=True, kw_only=True):
    """Marker: the agent can fork a session."""


class SessionArchiveCapabilities(UnstableStruct, frozen=True, kw_only=True):
    """Marker: the agent can hide sessions from its list and bring them back."""


class SessionStatusCapabilities(UnstableStruct, frozen=True, kw_only=True):
    """Marker: the agent can say whether a session is in memory."""


class SessionTitleCapabilities(UnstableStruct, frozen=True, kw_only=True):
    """Marker: the client may rename sessions."""


class SessionResumeCapabilities(WireStruct, frozen=True, kw_only=True):
    """Marker: the agent can resume a session without replay."""


class SessionCloseCapabilities(WireStruct, frozen=True, kw_only=True):
    """Marker: the agent can close a session."""


class SessionCapabilities(WireStruct, frozen=True, kw_only=True):
    """What the agent can do with sessions besides creating and prompting them."""

    list: E[Patch[SessionListCapabilities]] = UNSET
    delete: E[Patch[SessionDeleteCapabilities]] = UNSET
    additional_directories: E[Patch[SessionAdditionalDirectoriesCapabilities]] = UNSET
    system_prompt: U[E[Patch[SessionSystemPromptCapabilities]]] = UNSET
    fork: U[E[Patch[SessionForkCapabilities]]] = UNSET
    archive: U[E[Patch[SessionArchiveCapabilities]]] = UNSET
    status: U[E[Patch[SessionStatusCapabilities]]] = UNSET
    title: U[E[Patch[SessionTitleCapabilities]]] = UNSET
    resume: E[Patch[SessionResumeCapabilities]] = UNSET
    close: E[Patch[SessionCloseCapabilities]] = UNSET


class ProvidersCapabilities(UnstableStruct, frozen=True, kw_only=True):
    """Marker: the client may set the agent's model providers."""


class AgentCapabilities(WireStruct, frozen=True, kw_only=True):
    """Everything the agent offers to the client."""

    load_session: E[bool] = False
    prompt_capabilities: E[Omit[PromptCapabilities]] = UNSET
    mcp_capabilities: E[Omit[McpCapabilities]] = UNSET
    session_capabilities: E[Omit[SessionCapabilities]] = UNSET
    auth: E[Omit[AgentAuthCapabilities]] = UNSET
    providers: U[E[Patch[ProvidersCapabilities]]] = UNSET
