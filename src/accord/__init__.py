"""Accord: everything between a coding agent and the program a person sits in front of.

An agent      Agent  Turn  AgentSession  ToolCallHandle  TerminalHandle  Choice  FormField  Done
Its store     MemoryStore  SqliteStore  SessionStore
A client      Client  Session  PromptTurn  Reply  Implementation  Extensions  Credential
              DraftOptions
The view      Transcript  Update  Message  ToolCall  Plan  Terminal
Permissions   Permissions  PermissionRequest  PermissionOption  Decision  Rule  Grants
Services      FileService  TerminalService  Elicitations  FormRequest  UrlRequest
Content       TextContent  ImageContent  AudioContent  ResourceLink
              EmbeddedResource  EmbeddedResourceResource
In between    Proxy  Translated
MCP servers   McpServerStdio  McpServerHttp  EnvVariable  HttpHeader  McpServers
Transports    Transport  Receiver  Ended
Remote        RemoteApplication  RemoteRequest  RemoteServer  bearer_tokens
Bounds        Limits  RemoteLimits
Errors        AccordError
                ProtocolError: LocalProtocolError  RemoteProtocolError  VersionMismatch
                RequestFailed: AuthenticationRequired  NotFound  MethodMissing
                               RequestCancelled  RateLimited
                ConnectionLost: LimitExceeded  ConnectFailed
                SpawnFailed  McpCallFailed  StoreError
                RequestError, to be raised in a handler

`help(accord.Agent)` and its like say more; docs/ has tutorials, guides and a reference.

The public names are written out below.  Each is imported when it is first used: an editor starts
an agent many times a day, and an agent has no use for the client's half of the package.
"""

from typing import TYPE_CHECKING

from accord.lazy_names import on_first_use
from accord.version import __version__ as __version__

if TYPE_CHECKING:
    from accord.agent import Agent, Turn
    from accord.agent.session.agent_session import AgentSession
    from accord.agent.session.options_and_commands import Choice
    from accord.agent.terminals.command import Done
    from accord.agent.terminals.own_terminals import TerminalHandle
    from accord.agent.tools.elicitation import FormField
    from accord.agent.tools.tool_call import ToolCallHandle
    from accord.client import Client, Extensions, Implementation, PromptTurn, Reply, Session
    from accord.client.credential import Credential
    from accord.client.options import DraftOptions
    from accord.client.permissions.grants import Grants
    from accord.client.permissions.permissions import Permissions
    from accord.client.permissions.request import Decision, PermissionOption, PermissionRequest
    from accord.client.permissions.rules import Rule
    from accord.client.services.elicitation import Elicitations, FormRequest, UrlRequest
    from accord.client.services.files import FileService
    from accord.client.services.terminals import TerminalService
    from accord.connection import Limits
    from accord.errors import (
        AccordError,
        AuthenticationRequired,
        ConnectFailed,
        ConnectionLost,
        LimitExceeded,
        LocalProtocolError,
        McpCallFailed,
        MethodMissing,
        NotFound,
        ProtocolError,
        RateLimited,
        RemoteProtocolError,
        RequestCancelled,
        RequestError,
        RequestFailed,
        SpawnFailed,
        StoreError,
        VersionMismatch,
    )
    from accord.mcp.servers import McpServers
    from accord.proxy import Proxy, Translated
    from accord.schema.v2 import (
        AudioContent,
        EmbeddedResource,
        EmbeddedResourceResource,
        EnvVariable,
        HttpHeader,
        ImageContent,
        McpServerHttp,
        McpServerStdio,
        ResourceLink,
        TextContent,
    )
    from accord.store import MemoryStore, SessionStore
    from accord.store.sqlite import SqliteStore
    from accord.transcript import Message, Plan, Terminal, ToolCall, Transcript, Update
    from accord.transport.remote_limits import RemoteLimits
    from accord.transport.server.application import RemoteApplication
    from accord.transport.server.authorization import bearer_tokens
    from accord.transport.server.listener.remote_server import RemoteServer
    from accord.transport.server.requests import RemoteRequest
    from accord.transport.transport import Ended, Receiver, Transport

_PLACES = {
    "accord.agent": (
        "Agent",
        "Turn",
    ),
    "accord.agent.tools.elicitation": ("FormField",),
    "accord.agent.session.options_and_commands": ("Choice",),
    "accord.agent.session.agent_session": ("AgentSession",),
    "accord.agent.terminals.own_terminals": ("TerminalHandle",),
    "accord.agent.tools.tool_call": ("ToolCallHandle",),
    "accord.agent.terminals.command": ("Done",),
    "accord.client": (
        "Client",
        "Extensions",
        "Implementation",
        "PromptTurn",
        "Reply",
        "Session",
    ),
    "accord.client.permissions.request": (
        "Decision",
        "PermissionOption",
        "PermissionRequest",
    ),
    "accord.client.credential": ("Credential",),
    "accord.client.options": ("DraftOptions",),
    "accord.client.services.elicitation": (
        "Elicitations",
        "FormRequest",
        "UrlRequest",
    ),
    "accord.client.services.files": ("FileService",),
    "accord.client.permissions.grants": ("Grants",),
    "accord.client.permissions.permissions": ("Permissions",),
    "accord.client.permissions.rules": ("Rule",),
    "accord.client.services.terminals": ("TerminalService",),
    "accord.connection": ("Limits",),
    "accord.errors": (
        "AccordError",
        "AuthenticationRequired",
        "ConnectFailed",
        "ConnectionLost",
        "LimitExceeded",
        "LocalProtocolError",
        "McpCallFailed",
        "MethodMissing",
        "NotFound",
        "ProtocolError",
        "RateLimited",
        "RemoteProtocolError",
        "RequestCancelled",
        "RequestError",
        "RequestFailed",
        "SpawnFailed",
        "StoreError",
        "VersionMismatch",
    ),
    "accord.mcp.servers": ("McpServers",),
    "accord.proxy.proxy": ("Proxy",),
    "accord.proxy.relay.translated_transport": ("Translated",),
    "accord.schema.v2": (
        "AudioContent",
        "EmbeddedResource",
        "EmbeddedResourceResource",
        "EnvVariable",
        "HttpHeader",
        "ImageContent",
        "McpServerHttp",
        "McpServerStdio",
        "ResourceLink",
        "TextContent",
    ),
    "accord.store": (
        "MemoryStore",
        "SessionStore",
    ),
    "accord.store.sqlite": ("SqliteStore",),
    "accord.transport.server.listener.remote_server": ("RemoteServer",),
    "accord.transport.server.application": ("RemoteApplication",),
    "accord.transport.server.authorization": ("bearer_tokens",),
    "accord.transport.server.requests": ("RemoteRequest",),
    "accord.transport.remote_limits": ("RemoteLimits",),
    "accord.transport.transport": (
        "Ended",
        "Receiver",
        "Transport",
    ),
    "accord.transcript": (
        "Message",
        "Plan",
        "Terminal",
        "ToolCall",
        "Transcript",
        "Update",
    ),
}
_PLACE_OF = {name: place for place, names in _PLACES.items() for name in names}

__getattr__ = on_first_use(__name__, _PLACE_OF)


def __dir__() -> list[str]:
    """The public names, imported or not, so that `help(accord)` and completion show them."""
    return sorted({*globals(), *__all__})


__all__ = [
    "AccordError",
    "Agent",
    "AgentSession",
    "AudioContent",
    "AuthenticationRequired",
    "Choice",
    "Client",
    "ConnectFailed",
    "ConnectionLost",
    "Credential",
    "Decision",
    "Done",
    "DraftOptions",
    "Elicitations",
    "EmbeddedResource",
    "EmbeddedResourceResource",
    "Ended",
    "EnvVariable",
    "Extensions",
    "FileService",
    "FormField",
    "FormRequest",
    "Grants",
    "HttpHeader",
    "ImageContent",
    "Implementation",
    "LimitExceeded",
    "Limits",
    "LocalProtocolError",
    "McpCallFailed",
    "McpServerHttp",
    "McpServerStdio",
    "McpServers",
    "MemoryStore",
    "Message",
    "MethodMissing",
    "NotFound",
    "PermissionOption",
    "PermissionRequest",
    "Permissions",
    "Plan",
    "PromptTurn",
    "ProtocolError",
    "Proxy",
    "RateLimited",
    "Receiver",
    "RemoteApplication",
    "RemoteLimits",
    "RemoteProtocolError",
    "RemoteRequest",
    "RemoteServer",
    "Reply",
    "RequestCancelled",
    "RequestError",
    "RequestFailed",
    "ResourceLink",
    "Rule",
    "Session",
    "SessionStore",
    "SpawnFailed",
    "SqliteStore",
    "StoreError",
    "Terminal",
    "TerminalHandle",
    "TerminalService",
    "TextContent",
    "ToolCall",
    "ToolCallHandle",
    "Transcript",
    "Translated",
    "Transport",
    "Turn",
    "Update",
    "UrlRequest",
    "VersionMismatch",
    "bearer_tokens",
]
