"""A permission request of the 2026-02 draft: an operation on a resource, with our own options.

The draft's user answers yes or no and for how long; the six options that say so are offered
through the same `Permissions` as everybody's, and what is chosen for longer is kept there too.
"""

import os
from dataclasses import replace
from typing import Any

from accord.client.connection.agent_connection import AgentLink
from accord.client.permissions.open_requests import OpenRequest
from accord.client.permissions.path_and_host_patterns import host_of
from accord.client.permissions.request import PermissionOption, PermissionRequest
from accord.client.services.service_interfaces import Outcome, Service
from accord.client.session.state import SessionCore
from accord.client.wire.draft.wire import kept_details
from accord.client.wire.wire_interface import PermissionAsked
from accord.connection.connection import IncomingRequest
from accord.schema.codec import to_python
from accord.translate.draft.permission_options import (
    FILE_OPERATIONS,
    PERMISSION_OPTIONS,
    kind_of_operation,
    known_operation,
)

_SCOPES: dict[str, Any] = {"session": "session", "workspace": "workspace", "always": "always"}
OPTIONS: tuple[PermissionOption, ...] = tuple(
    PermissionOption(row.option_id, row.name, row.kind, _SCOPES.get(row.scope or ""))
    for row in PERMISSION_OPTIONS
)


def permission_service(link: AgentLink[SessionCore]) -> Service:
    """Answers the permission requests of a draft agent."""

    def ask(request: IncomingRequest) -> Outcome:
        asked = link.wire.read_permission(request.params)
        told = kept_details(to_python(request.params))
        session = link.session(asked.session_id)
        question = DraftOpenRequest(session, asked, link.services.permissions, told)
        request.on_cancel = question.withdraw
        return question.answer

    return ask


class DraftOpenRequest(OpenRequest):
    def __init__(
        self, session: SessionCore, asked: PermissionAsked, permissions: Any, told: dict[str, Any]
    ) -> None:
        self._operation = known_operation(told["operation"])
        self._resource: str = told["resource"]
        super().__init__(session, asked, permissions)

    def described(self) -> PermissionRequest:
        """A request whose operation counts as well as the content of its tool call."""
        shown, operation, resource = super().described(), self._operation, self._resource
        paths, hosts, command, mcp_tool = shown.paths, shown.hosts, shown.command, shown.mcp_tool
        if operation in FILE_OPERATIONS:
            # Relative paths count from the working directory.
            path = os.path.join(self._session.cwd, resource)
            paths = (path, *(other for other in paths if other != path))
        elif operation == "terminal_execute":
            command = resource
        elif operation == "network_access":
            hosts = (host_of(resource) or resource, *hosts)
        elif operation == "mcp_tool":
            mcp_tool = mcp_tool or resource
        return replace(
            shown,
            options=OPTIONS,
            kind=kind_of_operation(operation),
            paths=paths,
            command=command,
            mcp_tool=mcp_tool,
            hosts=hosts,
        )
