"""The capabilities of both sides of the 2026-02 draft.

A capability that is absent is one that the peer did not think of, which is not the same as one
that it refuses; so flags stay three-valued here, and absent is false in a condition.
"""

from typing import Literal, TypeAlias

from accord.schema.struct import UNSET, Omit, Raw, Uint32, WireStruct, Z, field

McpTransportName: TypeAlias = Literal["stdio", "http", "sse", "acp"] | str


class FileSystemCapabilities(WireStruct, frozen=True, kw_only=True):
    """File methods that the client serves."""

    read: Z[Omit[bool]] = UNSET
    write: Z[Omit[bool]] = UNSET
    watch: Z[Omit[bool]] = UNSET


class TerminalCapabilities(WireStruct, frozen=True, kw_only=True):
    """Terminals that the client runs, and how many at once."""

    create: Z[Omit[bool]] = UNSET
    interactive: Z[Omit[bool]] = UNSET
    max_concurrent: Z[Omit[Uint32]] = UNSET


class UiCapabilities(WireStruct, frozen=True, kw_only=True):
    """What the client can show to its user."""

    permission_dialogs: Z[Omit[bool]] = UNSET
    diff_viewer: Z[Omit[bool]] = UNSET
    code_navigation: Z[Omit[bool]] = UNSET


class ClientCapabilities(WireStruct, frozen=True, kw_only=True):
    """The capabilities of a client.  Also the form in which an agent lists what it requires."""

    fs: Z[Omit[FileSystemCapabilities]] = UNSET
    terminal: Z[Omit[TerminalCapabilities]] = UNSET
    ui: Z[Omit[UiCapabilities]] = UNSET
    custom: Z[Omit[dict[str, Raw]]] = field(name="_custom", default=UNSET)


class McpCapabilities(WireStruct, frozen=True, kw_only=True):
    """Whether the agent connects to MCP servers, and over what."""

    servers: Z[Omit[bool]] = UNSET
    transport: Z[Omit[list[McpTransportName]]] = UNSET


class PromptCapabilities(WireStruct, frozen=True, kw_only=True):
    """What the agent can do with a prompt."""

    streaming: Z[Omit[bool]] = UNSET
    cancellation: Z[Omit[bool]] = UNSET
    attachments: Z[Omit[bool]] = UNSET


class SessionCapabilities(WireStruct, frozen=True, kw_only=True):
    """Modes and options that every session of the agent has, by name."""

    modes: Z[Omit[list[str]]] = UNSET
    config_options: Z[Omit[list[str]]] = UNSET
    persistence: Z[Omit[bool]] = UNSET


class AgentCapabilities(WireStruct, frozen=True, kw_only=True):
    """What the agent offers."""

    load_session: Z[Omit[bool]] = UNSET
    mcp_capabilities: Z[Omit[McpCapabilities]] = UNSET
    prompt_capabilities: Z[Omit[PromptCapabilities]] = UNSET
    session_capabilities: Z[Omit[SessionCapabilities]] = UNSET
    custom: Z[Omit[dict[str, Raw]]] = field(name="_custom", default=UNSET)
