"""MCP requests to servers that the client runs, sent over this connection (unstable).

The inner request has its own id; while it is open, its server may send notifications that name it.
The outcome of the inner request is inside the outer result: an error of the outer request only
means that the server was not reached.

What always holds
    * An id is open from the request until its answer, and is never used again.
    * A notification for an id that is not open is dropped.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from accord.connection import Connection
from accord.errors import LocalProtocolError, McpCallFailed, RemoteProtocolError, RequestError
from accord.schema import v2
from accord.schema.codec import Invalid, decode, encode, to_python, to_raw
from accord.schema.struct import UNSET, Raw

MESSAGE = "mcp/message"

# Gets the inner method and its params, in wire order; it must not block.
OnNotification = Callable[[str, Mapping[str, Any]], None]


class McpCalls:
    """The open inner requests of one connection."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._ids = itertools.count(1)
        self._open: dict[tuple[str, str], OnNotification | None] = {}

    async def call(
        self,
        servers: Iterable[Any],
        server_id: str,
        method: str,
        params: Mapping[str, Any] | None,
        on_notification: OnNotification | None,
    ) -> Any:
        """Call a server of the client; see `AgentSession.call_mcp`."""
        if not any(server.server_id == server_id for server in acp_servers(servers)):
            raise LocalProtocolError(f"this session has no MCP server {server_id!r} over ACP")
        key = (server_id, f"mcp_{next(self._ids)}")
        request = v2.MessageMcpRequest(
            server_id=server_id,
            request_id=key[1],
            method=method,
            params=UNSET if params is None else {name: to_raw(one) for name, one in params.items()},
        )
        self._open[key] = on_notification

        def answered(_result: Raw) -> None:
            # In wire order: notifications after the answer are dropped.
            self._open.pop(key, None)

        try:
            answer = await self._connection.call(MESSAGE, encode(request), on_result=answered)
        finally:
            self._open.pop(key, None)
        return _outcome(method, answer)

    def notification(self, params: Raw) -> None:
        """Pass a notification to the request that it belongs to."""
        told = decode(v2.MessageMcpNotification, params)
        handler = self._open.get((told.server_id, told.request_id))
        if handler is not None:
            given = told.params or {}
            handler(told.method, {name: to_python(one) for name, one in given.items()})


def _outcome(method: str, answer: Raw) -> Any:
    try:
        outcome = decode(v2.MessageMcpResponse, answer)
    except Invalid as error:
        raise RemoteProtocolError(
            f"not the outcome of an MCP request: {error}", bytes(answer).decode("utf-8", "replace")
        ) from None
    failure = outcome.failure
    if failure is None:
        assert isinstance(outcome.result, Raw)
        return to_python(outcome.result)
    data = None if failure.data is UNSET else to_python(failure.data)
    raise McpCallFailed(method, failure.code, failure.message, data)


def acp_servers(servers: Iterable[Any]) -> list[v2.McpServerAcp]:
    """The servers that are reached through the connection."""
    return [server for server in servers if isinstance(server, v2.McpServerAcp)]


def check_server_ids(servers: Iterable[Any], others: Iterable[Iterable[Any]]) -> None:
    """Refuse an id that would name two servers of one connection."""
    names = {server.server_id: server.name for listed in others for server in acp_servers(listed)}
    seen: set[str] = set()
    for index, server in enumerate(servers):
        if not isinstance(server, v2.McpServerAcp):
            continue
        taken = names.get(server.server_id, server.name) != server.name
        if taken or server.server_id in seen:
            raise RequestError.invalid_params(
                f"{server.server_id!r} names two MCP servers", f"$.mcpServers[{index}].serverId"
            )
        seen.add(server.server_id)
