"""MCP servers as clients of the 2026-02 draft give them, with what only the draft can say.

Inside they are v2's structs with two fields more: the folder that a program is started in, and how
long a server behind an address may take.

The draft's `session/load` names no servers, so a session remembers its own: those without secrets
(no variables, no headers, no login or query in the address) beside its log, all others while it
is open.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from accord.errors import RequestError
from accord.machine.processes.program_lookup import find_program
from accord.schema import draft, v2
from accord.schema.codec import Invalid, decode, encode
from accord.schema.struct import UNSET, UnknownVariant

if TYPE_CHECKING:
    from accord.agent.session.state import SessionState

KEPT_AS = "draft.mcp_servers"


class StdioServer(v2.McpServerStdio, frozen=True, kw_only=True):
    """A program, and the folder to start it in."""

    cwd: str | None = None


class HttpServer(v2.McpServerHttp, frozen=True, kw_only=True):
    """A server behind an address, and how many seconds an answer of it may take."""

    timeout: float | None = None


def servers_of(
    listed: Sequence[draft.McpServer], cwd: str, transports: Collection[str]
) -> tuple[Any, ...]:
    """The servers of a session in `cwd`.

    Raises:
        RequestError: a transport that this agent does not have, or that nobody knows.
    """
    return tuple(_server(one, cwd, transports, index) for index, one in enumerate(listed))


def _server(server: draft.McpServer, cwd: str, transports: Collection[str], index: int) -> Any:
    how = server.transport
    path = f"$.mcpServers[{index}].transport.type"
    if isinstance(how, UnknownVariant):
        raise RequestError.invalid_params(f"unknown transport {how.tag!r}", path)
    kind = str(type(how).__struct_config__.tag)
    if isinstance(how, draft.McpAcp) or kind not in transports:
        raise RequestError(
            -32601,
            f"this agent takes no {kind!r} MCP server",
            {"reason": "capability_not_supported", "path": path},
        )
    if isinstance(how, draft.McpStdio):
        return StdioServer(
            name=server.name,
            command=_command(how.command),
            args=how.args,
            env=_pairs(v2.EnvVariable, how.env),
            cwd=os.path.join(cwd, how.cwd) if isinstance(how.cwd, str) else None,
        )
    if isinstance(how, draft.McpHttp):
        return HttpServer(
            name=server.name,
            url=how.url,
            headers=_pairs(v2.HttpHeader, how.headers),
            timeout=how.timeout / 1000 if isinstance(how.timeout, int) else None,
        )
    # v2 has no SSE; what a v1 client sends of it is kept whole in the same way.
    headers = [
        {"name": name, "value": value}
        for name, value in (how.headers if isinstance(how.headers, dict) else {}).items()
    ]
    members = {"type": "sse", "name": server.name, "url": how.url, "headers": headers}
    return UnknownVariant("type", "sse", encode(members))


def _command(command: str) -> str:
    """Found as a shell would; what is not found fails when it is started, and says so then."""
    if os.path.isabs(command) or os.path.dirname(command):
        return command
    return find_program(command) or command


def _pairs(wanted: Any, given: Any) -> Any:
    if not isinstance(given, Mapping):
        return UNSET
    return [wanted(name=name, value=value) for name, value in given.items()]


# ---- remembering


async def keep_servers(session: SessionState, listed: Sequence[draft.McpServer]) -> None:
    """Keep beside a session's log those of its servers that have no secret."""
    harmless = [one for one in listed if _is_harmless(one.transport)]
    if harmless:
        await session.stored.keep(KEPT_AS, encode(harmless))


async def kept_servers(raw: bytes | None) -> list[draft.McpServer]:
    """The servers that a session was kept with; none where that cannot be read."""
    if raw is None:
        return []
    try:
        return decode(list[draft.McpServer], raw)
    except Invalid:
        return []


def _is_harmless(how: Any) -> bool:
    if isinstance(how, draft.McpStdio):
        return not how.env
    if isinstance(how, draft.McpHttp | draft.McpSse):
        try:
            parts = urlsplit(how.url)
        except ValueError:
            return False
        return not (how.headers or parts.query or "@" in parts.netloc)
    return False


__all__ = ["HttpServer", "StdioServer", "keep_servers", "kept_servers", "servers_of"]
