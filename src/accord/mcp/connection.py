"""The connection to one MCP server, made in the background and renewed when it breaks.

What always holds
    * `state` is one of connecting, connected, failed, lost, closed; only a connected server has a
      session.
    * Connecting, reconnecting and calling are bounded; a call is sent at most once, unless the
      server certainly never saw it.
    * No error message contains a secret.
"""

from __future__ import annotations

import math
from collections.abc import AsyncIterator, Awaitable, Callable, Generator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Any, Literal

import anyio
from anyio import to_thread

from accord.agent.callbacks import sole
from accord.errors import AccordError
from accord.machine import optional_packages
from accord.machine.redacted_logs import logger
from accord.machine.redaction.redactor import Redactor
from accord.mcp.elicitation import Done, Elicit, ServerQuestions
from accord.mcp.error_messages import McpFault, explain, package_missing, was_unreachable
from accord.mcp.log_redaction import redacting, watch_sdk_logs
from accord.mcp.results import McpTool, tool_of
from accord.mcp.schema_validation import session_class
from accord.mcp.server_spec import ServerSpec
from accord.mcp.transports import Channel, open_channel
from accord.version import __version__

if TYPE_CHECKING:
    import mcp_types
    from mcp.client.session import ClientSession
    from mcp.shared.dispatcher import ProgressFnT

CONNECT_SECONDS_MAX = 30.0
"""How long a server may take to start and list its tools; `npx` may have to download it."""

CALL_SECONDS_MAX = 300.0
"""How long a call may take without progress; progress and questions restart the clock."""

RECONNECTS_MAX = 5
"""Failed reconnects before a server is given up."""

PAGES_MAX = 50
"""How many pages of a list are read."""

ITEMS_MAX = 5_000
"""How many tools or resources of one server are kept."""

CLOSED_SECONDS_MAX = 2.0
"""How long to wait for the reason why a connection broke."""

LEAVE_SECONDS_MAX = 2.5
"""How long a server may take to exit; less than a session has for closing."""

SDK_MODULES = ("mcp.client.session", "mcp.client.sse", "mcp.client.streamable_http")

State = Literal["connecting", "connected", "failed", "lost", "closed"]
OnProgress = Callable[[float, float | None, str | None], Awaitable[None]]

_log = logger("accord.mcp")


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionContext:
    """What the connections need of their session."""

    start_soon: Callable[..., object]
    cwd: str
    roots: tuple[str, ...] = ()
    elicit: Elicit | None = None
    page_done: Done | None = None
    # Called when a server failed, was lost or changed its tools.
    on_change: Callable[[ServerConnection], Awaitable[None]] | None = None
    connect_seconds: float = CONNECT_SECONDS_MAX
    call_seconds: float = CALL_SECONDS_MAX


class CallTimeout:
    """The timeout of one call.  Guards: the scope ends after this many seconds without progress."""

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._suspended = 0
        self.scope = anyio.CancelScope(deadline=anyio.current_time() + seconds)

    def renew(self) -> None:
        """Restart the clock after progress."""
        if not self._suspended:
            self.scope.deadline = anyio.current_time() + self._seconds

    @contextmanager
    def suspended(self) -> Generator[None]:
        """Stop the clock while the user is asked."""
        self._suspended += 1
        self.scope.deadline = math.inf
        try:
            yield
        finally:
            self._suspended -= 1
            self.renew()


class ServerConnection:
    """One server.  Guards: there is at most one connection to it."""

    def __init__(self, spec: ServerSpec, context: SessionContext) -> None:
        self.spec = spec
        self.state: State = "connecting"
        self.error: str | None = None
        self.tools: list[McpTool] = []
        self._context = context
        self._redactor = Redactor(spec.secrets)
        # An option may be followed by a token, which is a known secret from now on.
        self._redactor.words(spec.args)
        # For results, which may legitimately contain the value of a variable.
        self.clean = Redactor(spec.credentials).by_value.text if spec.credentials else None
        self._questions = ServerQuestions(spec.name)
        # How to ask the user during each open call; the last call is the likeliest.
        self._open_calls: list[tuple[Elicit | None, CallTimeout]] = []
        self._session: ClientSession | None = None
        self._channel: Channel | None = None
        self._failures = 0
        self._unreachable = False
        self._begin()

    # ---- lifetime

    def _begin(self) -> None:
        self.state, self.error = "connecting", None
        self._unreachable = False
        self._scope = anyio.CancelScope()
        self._settled, self._stop, self._over = anyio.Event(), anyio.Event(), anyio.Event()
        self._context.start_soon(self._live, self._settled, self._stop, self._over)

    async def _live(self, settled: anyio.Event, stop: anyio.Event, over: anyio.Event) -> None:
        try:
            with self._scope, redacting(self._redactor):
                await self._serve(settled, stop)
        except Exception as error:  # noqa: BLE001 - only this server is lost
            self._broke(error)
        finally:
            self._session = self._channel = None
            if stop.is_set() or self.state in ("connecting", "connected"):
                self.state = "closed"
            settled.set()
            over.set()
        if self.state in ("failed", "lost"):
            await self._tell()

    def _broke(self, error: Exception) -> None:
        self._unreachable = was_unreachable(error)
        self.state = "lost" if self.state == "connected" else "failed"
        self._failures += 1
        self.error = self._redactor.line(explain(error))
        _log.info("MCP server %s is %s: %s", self.spec.name, self.state, self.error)

    async def _tell(self) -> None:
        if self._context.on_change is not None:
            await self._context.on_change(self)

    async def _serve(self, settled: anyio.Event, stop: anyio.Event) -> None:
        if optional_packages.is_missing("mcp"):
            _log.info("installing the packages for MCP servers")
            await optional_packages.install("mcp")
        # In a thread, because it takes most of a second while a client waits.
        await to_thread.run_sync(_load_sdk, abandon_on_cancel=True)
        seconds = self.spec.seconds or self._context.connect_seconds
        with anyio.move_on_after(seconds) as within:
            async with open_channel(self.spec, self.spec.cwd or self._context.cwd) as channel:
                try:
                    await self._converse(channel, within, settled, stop)
                except Exception as error:
                    raise await _with_reason(channel, error) from error
        if within.cancelled_caught and not settled.is_set():
            raise McpFault(f"it did not answer within {seconds:g} seconds")

    async def _converse(
        self, channel: Channel, within: anyio.CancelScope, settled: anyio.Event, stop: anyio.Event
    ) -> None:
        from mcp_types import Implementation

        async with session_class()(
            channel.read,
            channel.write,
            elicitation_callback=None if self._context.elicit is None else self._elicit,
            list_roots_callback=self._list_roots,
            message_handler=self._notified,
            client_info=Implementation(name="accord", version=__version__),
        ) as session:
            await session.initialize()
            self.tools = await self._list_tools(session)
            within.deadline = math.inf
            self._session, self._channel = session, channel
            self.state, self._failures = "connected", 0
            settled.set()
            await _first_of(stop, channel.read.ended)
            within.deadline = anyio.current_time() + LEAVE_SECONDS_MAX
        if not stop.is_set():
            raise McpFault("it closed the connection")

    async def end(self) -> None:
        self._stop.set()
        if self._session is None:
            self._scope.cancel()
        await self._over.wait()
        self.state = "closed"

    async def settled(self) -> None:
        """Wait until it is known whether the server can be used."""
        await self._settled.wait()

    async def ready(self) -> ClientSession:
        """Return the session with the server, reconnecting if necessary.

        Raises:
            McpFault: the server cannot be reached.
        """
        if self.state == "closed":
            raise McpFault("it is closed", unsent=True)
        if self.state in ("failed", "lost"):
            if self._failures >= RECONNECTS_MAX:
                raise McpFault(f"it failed {self._failures} times; {self.error}", unsent=True)
            await self._over.wait()
            if self.state in ("failed", "lost"):
                self._begin()
        await self._settled.wait()
        if self._session is None:
            raise McpFault(self.error or "it is closed", unsent=True)
        return self._session

    # ---- requests

    async def ask(
        self, send: Callable[[ClientSession], Awaitable[Any]], *, elicit: Elicit | None = None
    ) -> Any:
        """Send a request within the timeout; return the answer of the MCP package.

        Raises:
            McpFault: there is no answer, or an invalid one.
        """
        try:
            return await self._ask(send, elicit)
        except McpFault as fault:
            if not fault.unsent or self.state not in ("failed", "lost"):
                raise
            # The connection had already been lost without notice.
            return await self._ask(send, elicit)

    async def _ask(
        self, send: Callable[[ClientSession], Awaitable[Any]], elicit: Elicit | None
    ) -> Any:
        from mcp.shared.exceptions import MCPError

        session = await self.ready()
        seconds = self.spec.seconds or self._context.call_seconds
        timeout = CallTimeout(seconds)
        open_call = (elicit or self._context.elicit, timeout)
        self._open_calls.append(open_call)
        try:
            with redacting(self._redactor), timeout.scope:
                return await send(session)
        except MCPError as error:
            raise await self._fault(error) from None
        except AccordError:
            raise
        except Exception as error:
            # Malformed answers, and results that do not match the tool's schema.
            raise McpFault(self._redactor.line(explain(error))) from error
        finally:
            self._open_calls.remove(open_call)
        raise McpFault(f"it did not answer within {seconds:g} seconds")

    async def _fault(self, error: Any) -> McpFault:
        from mcp_types import CONNECTION_CLOSED

        if self._channel is not None and self._channel.session_unknown:
            # The server was restarted and does not know the session; it did nothing.
            self._failures += 1
            await self.end()
            self.state, self.error = "lost", "it no longer knows this session"
            return McpFault(self.error, unsent=True)
        if error.error.code != CONNECTION_CLOSED:
            return McpFault(self._redactor.line(explain(error)))
        with anyio.move_on_after(CLOSED_SECONDS_MAX):
            await self._over.wait()
        why = self.error or "it closed the connection"
        return McpFault(f"it was lost in the middle of the call: {why}", unsent=self._unreachable)

    def waits(self, on_progress: OnProgress | None) -> ProgressFnT:
        """Return a progress callback that restarts the clock of the call."""

        async def progressed(
            progress: float, total: float | None = None, message: str | None = None
        ) -> None:
            for _, timeout in self._open_calls:
                timeout.renew()
            if on_progress is not None:
                await on_progress(progress, total, message)

        return progressed

    # ---- requests and notifications of the server

    async def _elicit(self, context: Any, params: Any) -> Any:
        from mcp_types import INVALID_PARAMS, ErrorData

        elicit, timeout = self._open_calls[-1] if self._open_calls else (self._context.elicit, None)
        if elicit is None:
            return ErrorData(code=INVALID_PARAMS, message="the user cannot be asked here")
        try:
            if timeout is None:
                return await self._questions.put(elicit, params)
            with timeout.suspended():
                return await self._questions.put(elicit, params)
        except AccordError as error:
            return ErrorData(code=INVALID_PARAMS, message=str(error))

    async def _list_roots(self, context: Any) -> mcp_types.ListRootsResult:
        from pathlib import Path

        from mcp_types import ListRootsResult, Root
        from pydantic import FileUrl

        return ListRootsResult(
            roots=[
                Root(uri=FileUrl(Path(one).as_uri()), name=Path(one).name)
                for one in self._context.roots
            ]
        )

    async def _notified(self, message: Any) -> None:
        from mcp_types import ElicitCompleteNotification, ToolListChangedNotification

        if isinstance(message, ToolListChangedNotification) and self._session is not None:
            self.tools = await self._list_tools(self._session)
            await self._tell()
        elif isinstance(message, ElicitCompleteNotification) and self._context.page_done:
            elicitation_id = message.params.elicitation_id
            await self._questions.completed(elicitation_id, self._context.page_done)

    async def _list_tools(self, session: ClientSession) -> list[McpTool]:
        offered = session.server_capabilities
        if offered is None or offered.tools is None:
            return []
        listed = [one async for one in pages(session.list_tools, "tools")]
        # The session class is made in `schema_validation.py`.
        session.output_schemas = {one.name: one.output_schema for one in listed}  # type: ignore[attr-defined]
        return [tool_of(self.spec.name, one) for one in listed]


async def pages(listing: Callable[..., Awaitable[Any]], name: str) -> AsyncIterator[Any]:
    """Yield every item of a paginated list."""
    from mcp_types import PaginatedRequestParams

    cursor: str | None = None
    left = ITEMS_MAX
    for _ in range(PAGES_MAX):
        params = None if cursor is None else PaginatedRequestParams(cursor=cursor)
        page = await listing(params=params)
        for item in getattr(page, name)[:left]:
            left -= 1
            yield item
        cursor = page.next_cursor
        if cursor is None:
            return


def _load_sdk() -> None:
    try:
        for module in SDK_MODULES:
            import_module(module)
    except ImportError as error:
        raise package_missing(error) from None
    watch_sdk_logs()


async def _with_reason(channel: Channel, error: Exception) -> Exception:
    """Return the error itself, or a better reason that the channel knows."""
    from mcp.shared.exceptions import MCPError

    if not isinstance(sole(error), MCPError | McpFault):
        return error
    why = await channel.why()
    return McpFault(why) if why else error


async def _first_of(*events: anyio.Event) -> None:
    async with anyio.create_task_group() as tasks:

        async def one(event: anyio.Event) -> None:
            await event.wait()
            tasks.cancel_scope.cancel()

        for event in events:
            tasks.start_soon(one, event)
