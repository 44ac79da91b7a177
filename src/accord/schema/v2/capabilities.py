"""The capabilities of both sides of v2, and those of one tool call or terminal.

Support is said by an object, and `{}` is a whole yes.  Absent, null and malformed all mean no, so
a flag such as v1's `"image": true` does not count as support.
"""

from accord.schema.struct import UNSET, E, Patch, U, UnstableStruct, WireStruct


class TerminalAuthCapabilities(WireStruct, frozen=True, kw_only=True):
    """The client can run the agent's command in a terminal that the user sees."""


class ElicitationFormCapabilities(WireStruct, frozen=True, kw_only=True):
    """The client can show forms."""


class ElicitationUrlCapabilities(WireStruct, frozen=True, kw_only=True):
    """The client can send the user to a URL."""


class AuthStatusCapabilities(UnstableStruct, frozen=True, kw_only=True):
    """The agent answers `auth/status` and announces changes of it."""


class McpStdioCapabilities(WireStruct, frozen=True, kw_only=True):
    """MCP servers over stdio may be named."""


class McpHttpCapabilities(WireStruct, frozen=True, kw_only=True):
    """MCP servers over HTTP may be named."""


class McpAcpCapabilities(UnstableStruct, frozen=True, kw_only=True):
    """MCP servers that are reached through this connection may be named."""


class PromptImageCapabilities(WireStruct, frozen=True, kw_only=True):
    """Prompts may hold images."""


class PromptAudioCapabilities(WireStruct, frozen=True, kw_only=True):
    """Prompts may hold audio."""


class PromptEmbeddedContextCapabilities(WireStruct, frozen=True, kw_only=True):
    """Prompts may hold embedded resources."""


class ProvidersCapabilities(UnstableStruct, frozen=True, kw_only=True):
    """The agent answers `providers/*`."""


class SessionAdditionalDirectoriesCapabilities(WireStruct, frozen=True, kw_only=True):
    """Sessions may have more roots than their `cwd`."""


class SessionArchiveCapabilities(UnstableStruct, frozen=True, kw_only=True):
    """Sessions can be archived, and lists filtered by that."""


class SessionCancelCapabilities(UnstableStruct, frozen=True, kw_only=True):
    """A child session may be cancelled by the client."""


class SessionDeleteCapabilities(WireStruct, frozen=True, kw_only=True):
    """The agent answers `session/delete`."""


class SessionForkCapabilities(UnstableStruct, frozen=True, kw_only=True):
    """The agent answers `session/fork`."""


class SessionStatusCapabilities(UnstableStruct, frozen=True, kw_only=True):
    """The agent answers `session/status`."""


class SessionSystemPromptOverrideCapabilities(UnstableStruct, frozen=True, kw_only=True):
    """A system prompt may replace the agent's own."""


class SessionTitleCapabilities(UnstableStruct, frozen=True, kw_only=True):
    """The agent answers `session/set_title`."""


class TerminalCancelCapabilities(WireStruct, frozen=True, kw_only=True):
    """The client may stop the process of this terminal."""


class ToolCallCancelCapabilities(WireStruct, frozen=True, kw_only=True):
    """The client may stop this tool call."""


class ClientAuthCapabilities(WireStruct, frozen=True, kw_only=True):
    """Which kinds of login the client can carry out."""

    terminal: E[Patch[TerminalAuthCapabilities]] = UNSET


class ElicitationCapabilities(WireStruct, frozen=True, kw_only=True):
    """How the client can ask the user something."""

    form: E[Patch[ElicitationFormCapabilities]] = UNSET
    url: E[Patch[ElicitationUrlCapabilities]] = UNSET


class ClientCapabilities(WireStruct, frozen=True, kw_only=True):
    """All capabilities of a client."""

    auth: E[Patch[ClientAuthCapabilities]] = UNSET
    elicitation: E[Patch[ElicitationCapabilities]] = UNSET


class AgentAuthCapabilities(WireStruct, frozen=True, kw_only=True):
    """Extras of authentication; login and logout follow from `authMethods` alone."""

    status: U[E[Patch[AuthStatusCapabilities]]] = UNSET


class PromptCapabilities(WireStruct, frozen=True, kw_only=True):
    """What a prompt may hold besides text and links."""

    image: E[Patch[PromptImageCapabilities]] = UNSET
    audio: E[Patch[PromptAudioCapabilities]] = UNSET
    embedded_context: E[Patch[PromptEmbeddedContextCapabilities]] = UNSET


class McpCapabilities(WireStruct, frozen=True, kw_only=True):
    """Over what the agent can reach MCP servers."""

    stdio: E[Patch[McpStdioCapabilities]] = UNSET
    http: E[Patch[McpHttpCapabilities]] = UNSET
    acp: U[E[Patch[McpAcpCapabilities]]] = UNSET


class SessionSystemPromptModeCapabilities(UnstableStruct, frozen=True, kw_only=True):
    """Which modes besides `append` a system prompt may have."""

    override: E[Patch[SessionSystemPromptOverrideCapabilities]] = UNSET


class SessionSystemPromptCapabilities(UnstableStruct, frozen=True, kw_only=True):
    """Sessions may bring a system prompt."""

    mode: E[Patch[SessionSystemPromptModeCapabilities]] = UNSET


class SessionCapabilities(WireStruct, frozen=True, kw_only=True):
    """`{}` is new, list, resume, close, prompt, cancel and update, all of them."""

    prompt: E[Patch[PromptCapabilities]] = UNSET
    mcp: E[Patch[McpCapabilities]] = UNSET
    delete: E[Patch[SessionDeleteCapabilities]] = UNSET
    additional_directories: E[Patch[SessionAdditionalDirectoriesCapabilities]] = UNSET
    system_prompt: U[E[Patch[SessionSystemPromptCapabilities]]] = UNSET
    fork: U[E[Patch[SessionForkCapabilities]]] = UNSET
    archive: U[E[Patch[SessionArchiveCapabilities]]] = UNSET
    status: U[E[Patch[SessionStatusCapabilities]]] = UNSET
    title: U[E[Patch[SessionTitleCapabilities]]] = UNSET


class AgentCapabilities(WireStruct, frozen=True, kw_only=True):
    """All capabilities of an agent; without `session` it serves no `session/*`."""

    session: E[Patch[SessionCapabilities]] = UNSET
    auth: E[Patch[AgentAuthCapabilities]] = UNSET
    providers: U[E[Patch[ProvidersCapabilities]]] = UNSET


class ToolCallCapabilities(WireStruct, frozen=True, kw_only=True):
    """What can be done to one tool call while it advertises it."""

    cancel: E[Patch[ToolCallCancelCapabilities]] = UNSET


class TerminalCapabilities(WireStruct, frozen=True, kw_only=True):
    """What can be done to one terminal while it advertises it."""

    cancel: E[Patch[TerminalCancelCapabilities]] = UNSET


class SubagentSessionCapabilities(UnstableStruct, frozen=True, kw_only=True):
    """What the client may do to a child session."""

    cancel: E[Patch[SessionCancelCapabilities]] = UNSET
