"""All MCP servers of a session, by name.

Must not know tool calls or permissions: the caller asks for permission before a call.

What always holds
    * `connect` returns at once; `settled` waits for a bounded time.
    * A server that fails has an error status; the others, and the session, continue.
    * A call does not raise for errors of a server: it returns a result that is not ok.  Cancelling
      a call notifies the server (`notifications/cancelled`).
    * All servers are gone when `aclose` has returned or was cancelled.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import anyio

from accord.mcp.connection import OnProgress, ServerConnection, SessionContext, State, pages
from accord.mcp.elicitation import Elicit, asking
from accord.mcp.error_messages import McpFault
from accord.mcp.results import (
    McpResource,
    McpResult,
    McpTool,
    contents_of,
    resource_of,
    result_of,
)
from accord.mcp.server_spec import Entry, ServerSpec, named_apart, spec_from_entry, spec_of
from accord.schema import v2

if TYPE_CHECKING:
    from mcp.client.session import ClientSession

    from accord.agent.session.agent_session import AgentSession

SETTLE_SECONDS = 5.0
"""How long a caller that needs the tools waits for servers to connect."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerStatus:
    """The status of one server; `error` says why it cannot be used."""

    name: str
    state: State
    error: str | None = None
    tools: int = 0


class McpServers:
    """The servers of one session."""

    def __init__(self, specs: Iterable[ServerSpec], context: SessionContext) -> None:
        self.specs = tuple(named_apart(specs))
        self._links = {spec.name: ServerConnection(spec, context) for spec in self.specs}

    @classmethod
    async def connect(
        cls,
        specs: Iterable[ServerSpec],
        *,
        start_soon: Callable[..., object],
        cwd: str,
        roots: Iterable[str] = (),
        elicit: Elicit | None = None,
        on_change: Callable[[ServerStatus], Awaitable[None]] | None = None,
    ) -> McpServers:
        """Start connecting to every server, in tasks that `start_soon` starts, and return."""

        async def changed(link: ServerConnection) -> None:
            if on_change is not None:
                await on_change(_status(link))

        context = SessionContext(
            start_soon=start_soon,
            cwd=cwd,
            roots=tuple(roots),
            elicit=elicit,
            on_change=changed,
        )
        return cls(specs, context)

    # ---- status

    @property
    def status(self) -> list[ServerStatus]:
        """The status of every server, in the given order."""
        return [_status(link) for link in self._links.values()]

    @property
    def tools(self) -> list[McpTool]:
        """The known tools of all usable servers."""
        return [
            tool
            for link in self._links.values()
            # The next call reconnects a lost server.
            if link.state != "closed"
            for tool in link.tools
        ]

    def tool(self, server: str, name: str) -> McpTool | None:
        """Find a tool by server and name."""
        return next((one for one in self.tools if (one.server, one.name) == (server, name)), None)

    async def settled(self, seconds: float = SETTLE_SECONDS) -> bool:
        """Wait until every server is connected or has failed; return False on a timeout."""
        with anyio.move_on_after(seconds):
            for link in self._links.values():
                await link.settled()
            return True
        return False

    # ---- requests

    async def call(
        self,
        server: str,
        tool: str,
        arguments: Mapping[str, Any] | None = None,
        on_progress: OnProgress | None = None,
        elicit: Elicit | None = None,
    ) -> McpResult:
        """Call a tool.  `elicit` answers questions of the server instead of the user."""
        link = self._links.get(server)
        if link is None:
            known = ", ".join(self._links) or "none"
            return McpResult.failure(f"there is no MCP server {server!r}; there are: {known}")

        async def send(session: ClientSession) -> Any:
            return await session.call_tool(
                tool, dict(arguments or {}), progress_callback=link.waits(on_progress)
            )

        try:
            await link.ready()
            if all(one.name != tool for one in link.tools):
                known = ", ".join(one.name for one in link.tools) or "none"
                return McpResult.failure(
                    f"MCP server {server!r} has no tool {tool!r}; it has: {known}"
                )
            return result_of(await link.ask(send, elicit=elicit), link.clean)
        except McpFault as fault:
            return McpResult.failure(f"MCP server {server!r}: {fault}")

    async def resources(self) -> list[McpResource]:
        """List the resources of all connected servers; a server that fails has none."""
        found: list[McpResource] = []
        for link in self._links.values():
            if link.state not in ("connected", "lost"):
                continue

            async def send(session: ClientSession) -> list[Any]:
                if not _has_resources(session):
                    return []
                return [one async for one in pages(session.list_resources, "resources")]

            try:
                listed = await link.ask(send)
            except McpFault:
                continue
            found.extend(resource_of(link.spec.name, one) for one in listed)
        return found

    async def read_resource(self, uri: str, server: str | None = None) -> McpResult:
        """Read a resource from a server, or from the first one that has it."""

        async def send(session: ClientSession) -> Any:
            return await session.read_resource(uri) if _has_resources(session) else None

        said: list[str] = []
        for link in self._links.values():
            if server not in (None, link.spec.name):
                continue
            try:
                answer = await link.ask(send)
                if answer is not None:
                    return contents_of(answer, link.clean)
            except McpFault as fault:
                said.append(f"MCP server {link.spec.name!r}: {fault}")
        return McpResult.failure("; ".join(said) or f"no MCP server has {uri}")

    async def aclose(self) -> None:
        """Disconnect from every server."""
        async with anyio.create_task_group() as tasks:
            for link in self._links.values():
                tasks.start_soon(link.end)


async def connect_session(
    session: AgentSession,
    configured: Mapping[str, Entry] | None = None,
    previous: McpServers | None = None,
) -> McpServers:
    """Connect the servers that the client gave to a session, and those of the configuration.

    The client's servers override configured ones of the same name.  They are closed with the
    session; failures are shown to the user as notices.  A session that is resumed while it is open
    passes its servers as `previous`: they are kept if nothing changed, and closed otherwise.
    """
    given = [spec for server in session.mcp_servers if (spec := spec_of(server)) is not None]
    own = [spec_from_entry(name, entry) for name, entry in (configured or {}).items()]
    specs = tuple(named_apart((*given, *own)))
    if previous is not None:
        if previous.specs == specs:
            return previous
        await previous.aclose()

    async def changed(status: ServerStatus) -> None:
        if status.error is not None and not session.closed:
            title = f"MCP server {status.name} cannot be used"
            await session.emit(v2.Notice(severity="warning", title=title, description=status.error))

    context = SessionContext(
        start_soon=session.start_soon,
        cwd=str(session.cwd),
        roots=session.roots,
        elicit=asking(session),
        page_done=session.visited,
        on_change=lambda link: changed(_status(link)),
    )
    servers = McpServers(specs, context)
    session.on_close(servers.aclose)
    return servers


def _status(link: ServerConnection) -> ServerStatus:
    return ServerStatus(
        name=link.spec.name, state=link.state, error=link.error, tools=len(link.tools)
    )


def _has_resources(session: ClientSession) -> bool:
    offered = session.server_capabilities
    return offered is not None and offered.resources is not None


__all__ = ["SETTLE_SECONDS", "McpServers", "ServerStatus", "connect_session"]
