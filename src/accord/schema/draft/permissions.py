"""Asking for permission in the 2026-02 draft: an operation on a resource, yes or no, how long."""

from typing import Literal, TypeAlias

from accord.schema.struct import UNSET, Omit, WireStruct, Z

PermissionOperation: TypeAlias = (
    Literal[
        "file_read",
        "file_write",
        "file_delete",
        "terminal_execute",
        "network_access",
        "mcp_tool",
    ]
    | str
)
PermissionScope: TypeAlias = Literal["once", "session", "workspace", "always"] | str


class RequestPermissionRequest(WireStruct, frozen=True, kw_only=True):
    """Asks the user whether an operation may happen."""

    session_id: str
    operation: PermissionOperation
    resource: str
    reason: Z[Omit[str]] = UNSET
    tool_call_id: Z[Omit[str]] = UNSET


class RequestPermissionResponse(WireStruct, frozen=True, kw_only=True):
    """The user's word, and for how long it holds."""

    granted: bool
    remember: Z[Omit[bool]] = UNSET
    scope: Z[Omit[PermissionScope]] = UNSET
