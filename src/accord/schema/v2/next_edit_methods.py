"""The methods that v2 had in August 2026 and has lost since.  Nothing of ours calls or serves them.

Gates are paths in the capabilities of that time.
"""

from accord.schema.method import Method, table
from accord.schema.v2 import documents, next_edit

AGENT_METHODS: dict[str, Method] = table(
    Method(
        "nes/start",
        "agent",
        "request",
        next_edit.StartNesRequest,
        next_edit.StartNesResponse,
        gate="nes",
        unstable=True,
    ),
    Method(
        "nes/suggest",
        "agent",
        "request",
        next_edit.SuggestNesRequest,
        next_edit.SuggestNesResponse,
        gate="nes",
        unstable=True,
    ),
    Method(
        "nes/close",
        "agent",
        "request",
        next_edit.CloseNesRequest,
        next_edit.CloseNesResponse,
        gate="nes",
        unstable=True,
    ),
    Method(
        "nes/accept",
        "agent",
        "notification",
        next_edit.AcceptNesNotification,
        gate="nes",
        unstable=True,
    ),
    Method(
        "nes/reject",
        "agent",
        "notification",
        next_edit.RejectNesNotification,
        gate="nes",
        unstable=True,
    ),
    *(
        Method(
            f"document/{event}",
            "agent",
            "notification",
            params,
            gate=f"nes.events.document.{event}",
            unstable=True,
        )
        for event, params in {
            "didOpen": documents.DidOpenDocumentNotification,
            "didChange": documents.DidChangeDocumentNotification,
            "didClose": documents.DidCloseDocumentNotification,
            "didSave": documents.DidSaveDocumentNotification,
            "didFocus": documents.DidFocusDocumentNotification,
        }.items()
    ),
)

CLIENT_METHODS: dict[str, Method] = table(
    Method(
        "mcp/connect",
        "client",
        "request",
        next_edit.ConnectMcpRequest,
        next_edit.ConnectMcpResponse,
        unstable=True,
    ),
    Method(
        "mcp/disconnect",
        "client",
        "request",
        next_edit.DisconnectMcpRequest,
        next_edit.DisconnectMcpResponse,
        unstable=True,
    ),
)

__all__ = ["AGENT_METHODS", "CLIENT_METHODS"]
