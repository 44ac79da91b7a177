"""Permissions of the 2026-02 draft beside the official ones: operations, options and grants."""

from __future__ import annotations

from collections.abc import Iterable
from types import MappingProxyType
from typing import Any, Final, NamedTuple

OPERATION_KINDS: Final = MappingProxyType(
    {
        "file_read": "read",
        "file_write": "edit",
        "file_delete": "delete",
        "terminal_execute": "execute",
        "network_access": "fetch",
        "mcp_tool": "other",
    }
)
KIND_OPERATIONS: Final = MappingProxyType(
    {
        "read": "file_read",
        "search": "file_read",
        "edit": "file_write",
        "move": "file_write",
        "delete": "file_delete",
        "execute": "terminal_execute",
        "fetch": "network_access",
        "other": "mcp_tool",
        "think": "mcp_tool",
        "switch_mode": "mcp_tool",
    }
)
FILE_OPERATIONS: Final = frozenset({"file_read", "file_write", "file_delete"})


def known_operation(operation: str) -> str:
    """Return the operation for a name; a tool kind is replaced by its operation.

    A rule that rejects `execute` applies to an agent that asks for `execute`.
    """
    meant = operation_of_kind(operation)
    return operation if operation in OPERATION_KINDS or meant == "mcp_tool" else meant


def kind_of_operation(operation: str) -> str:
    """Return the tool kind of an operation of the draft."""
    return OPERATION_KINDS.get(operation, "other")


def operation_of_kind(kind: str) -> str:
    """Return the operation of the draft for a tool kind."""
    return KIND_OPERATIONS.get(kind, "mcp_tool")


class PermissionOption(NamedTuple):
    """An option to offer officially for a permission of the draft, and the draft's answer."""

    option_id: str
    kind: str
    name: str
    granted: bool
    scope: str | None
    remember: bool


PERMISSION_OPTIONS: Final = (
    PermissionOption("once", "allow_once", "Allow once", True, "once", False),
    PermissionOption("session", "allow_always", "Allow for this session", True, "session", True),
    PermissionOption(
        "workspace", "allow_always", "Allow in this workspace", True, "workspace", True
    ),
    PermissionOption("always", "allow_always", "Always allow", True, "always", True),
    PermissionOption("deny", "reject_once", "Deny", False, None, False),
    PermissionOption("deny_always", "reject_always", "Always deny", False, None, True),
)
OPTIONS_BY_ID: Final = MappingProxyType({row.option_id: row for row in PERMISSION_OPTIONS})


def grant_of(option_id: str | None) -> dict[str, Any]:
    """Return the draft's answer for the chosen option; None, or any other id, grants nothing."""
    row = OPTIONS_BY_ID.get(option_id) if option_id is not None else None
    if row is None:
        return {"granted": False}
    grant: dict[str, Any] = {"granted": row.granted, "remember": row.remember}
    if row.scope is not None:
        grant["scope"] = row.scope
    return grant


def option_kinds_for(granted: bool, scope: str | None, remember: bool) -> tuple[str, ...]:
    """Return the kinds of official option that match the draft's answer, the best first."""
    lasting = remember or scope not in (None, "once")
    if granted:
        return ("allow_always", "allow_once") if lasting else ("allow_once",)
    return ("reject_always", "reject_once") if remember else ("reject_once",)


def choose_option(
    granted: bool, scope: str | None, remember: bool, options: Iterable[tuple[str, str]]
) -> str | None:
    """Choose an option among (id, kind) pairs; None means the outcome `cancelled`."""
    offered = list(options)
    for wanted in option_kinds_for(granted, scope, remember):
        for option_id, kind in offered:
            if kind == wanted:
                return option_id
    return None
