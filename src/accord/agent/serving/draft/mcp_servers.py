"""MCP servers of the draft's clients: those of v1, with a working folder and a time limit.

The draft's `session/load` names no servers, so a session remembers its own: those without secrets
(no variables, no headers, no login or query in the address) beside its log, all others while it
is open.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from accord.agent.serving.wire import to_plain
from accord.errors import RequestError
from accord.schema import v1, v2
from accord.schema.codec import Invalid, decode, encode
from accord.schema.struct import UNSET
from accord.translate.mcp_servers import server_to_v2
from accord.translate.meta_store import DRAFT, kept

if TYPE_CHECKING:
    from accord.agent.session.session_state import SessionState

KEPT_AS = "draft.mcp_servers"


class StdioServer(v2.McpServerStdio, frozen=True, kw_only=True):
    """A program, and the folder to start it in."""

    cwd: str | None = None


class HttpServer(v2.McpServerHttp, frozen=True, kw_only=True):
    """A server behind an address, and how many seconds an answer of it may take."""

    timeout: float | None = None


def servers_as_named(listed: Sequence[v1.McpServer], accepted: frozenset[str]) -> tuple[Any, ...]:
    """The servers in v2's form; a program that cannot be found fails when it is started.

    Raises:
        RequestError: a transport that this agent does not have.
    """
    for index, server in enumerate(listed):
        kind = "stdio" if server.type is UNSET else server.type
        if kind not in accepted:
            raise RequestError.invalid_params(
                f"this agent does not support {kind!r} MCP servers",
                f"$.mcpServers[{index}].transport.type",
            )
    return tuple(map(server_to_v2, listed))


def detailed(server: Any, asked: v1.McpServer, cwd: str) -> Any:
    """Return the server with the data in its `_meta`, for a session in `cwd`."""
    said = kept(to_plain(asked), DRAFT)
    if isinstance(server, v2.McpServerStdio):
        folder = said.get("cwd")
        return StdioServer(
            name=server.name,
            command=server.command,
            args=server.args,
            env=server.env,
            cwd=os.path.join(cwd, folder) if isinstance(folder, str) else None,
        )
    if isinstance(server, v2.McpServerHttp):
        limit = said.get("timeout")
        return HttpServer(
            name=server.name,
            url=server.url,
            headers=server.headers,
            timeout=limit / 1000 if isinstance(limit, int) else None,
        )
    return server


async def keep_servers(session: SessionState, listed: Sequence[v1.McpServer]) -> None:
    """Keep beside a session's log those of its servers that have no secret."""
    harmless = [one for one in listed if _is_harmless(one)]
    if harmless:
        await session.stored.keep(KEPT_AS, encode(harmless))


def kept_servers(raw: bytes | None) -> list[v1.McpServer]:
    """The servers that a session was kept with; none where that cannot be read."""
    if raw is None:
        return []
    try:
        return decode(list[v1.McpServer], raw)
    except Invalid:
        return []


def _is_harmless(server: v1.McpServer) -> bool:
    if server.env or server.headers:
        return False
    if server.url is UNSET:
        return True
    try:
        parts = urlsplit(server.url)
    except ValueError:
        return False
    return not (parts.query or "@" in parts.netloc)
