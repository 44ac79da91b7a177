"""A permission request of the 2026-02 draft: an operation on a resource, with our own options.

The draft's user answers yes or no and for how long; the six options that say so are offered
through the same `Permissions` as everybody's, and what is chosen for longer is kept there too.
"""

import os
from typing import Any

from accord.client.permissions.open_requests import OpenRequest, describe
from accord.client.permissions.patterns import host_of
from accord.client.permissions.request import Decision, PermissionOption, PermissionRequest
from accord.client.session.state import SessionCore
from accord.client.wire.wire import PermissionAsked
from accord.schema import draft
from accord.schema.codec import encode
from accord.translate.draft.vocabulary import (
    FILE_OPERATIONS,
    PERMISSION_OPTIONS,
    grant_of,
    kind_of_operation,
    known_operation,
)

_SCOPES: dict[str, Any] = {"session": "session", "workspace": "workspace", "always": "always"}
OPTIONS: tuple[PermissionOption, ...] = tuple(
    PermissionOption(row.option_id, row.name, row.kind, _SCOPES.get(row.scope or ""))
    for row in PERMISSION_OPTIONS
)


class DraftOpenRequest(OpenRequest):
    def __init__(
        self, session: SessionCore, wanted: draft.RequestPermissionRequest, permissions: Any
    ) -> None:
        self._wanted = wanted
        tool_call_id = wanted.tool_call_id or None
        asked = PermissionAsked(
            session.id,
            f"{wanted.operation}: {wanted.resource}",
            wanted.reason or None,
            tuple((option.option_id, option.name, option.kind) for option in OPTIONS),
            tool_call_id=tool_call_id,
        )
        super().__init__(session, asked, permissions)

    def described(self) -> PermissionRequest:
        """What the agent says it would do counts, beside what its tool call shows."""
        wanted, session = self._wanted, self._session
        shown = describe(session, self._asked)
        operation, resource = known_operation(wanted.operation), wanted.resource
        paths, hosts, command, mcp_tool = shown.paths, shown.hosts, shown.command, shown.mcp_tool
        if operation in FILE_OPERATIONS:
            # Relative paths count from the working directory.
            path = os.path.join(session.cwd, resource)
            paths = (path, *(other for other in paths if other != path))
        elif operation == "terminal_execute":
            command = resource
        elif operation == "network_access":
            hosts = (host_of(resource) or resource, *hosts)
        elif operation == "mcp_tool":
            mcp_tool = mcp_tool or resource
        return PermissionRequest(
            session_id=session.id,
            title=shown.title,
            reason=shown.reason,
            options=OPTIONS,
            tool_call=shown.tool_call,
            kind=kind_of_operation(operation),
            paths=paths,
            command=command,
            cwd=shown.cwd,
            mcp_tool=mcp_tool,
            hosts=hosts,
            is_given_more=shown.is_given_more,
        )

    def encoded(self, decision: Decision) -> bytes:
        """Granted or not, for how long, and whether to remember it."""
        return encode(grant_of(decision.option_id))


__all__ = ["OPTIONS", "DraftOpenRequest"]
