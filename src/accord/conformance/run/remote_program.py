"""A judged server as a check meets it: each check has a connection of its own.

What always holds: leaving `connected` ends the connection.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field

import anyio

from accord.conformance.frames.raw_peer import Gone, RawPeer, Unanswered
from accord.conformance.network.address import RemoteServer
from accord.conformance.network.http_caller import (
    CONNECTION,
    HttpCaller,
    NotReached,
    speaks_http1,
)
from accord.conformance.network.http_link import HttpLink, http_link
from accord.conformance.network.websocket_link import (
    UpgradeRefused,
    WebSocketLink,
    websocket_link,
)
from accord.conformance.run.program import NotStarted


@dataclass(slots=True)
class RemoteProgram:
    """One connection to a server, and the peer that talks over it."""

    link: HttpLink | WebSocketLink
    peer: RawPeer
    # What a server says beside the wire cannot be seen.
    stderr: bytearray = field(default_factory=bytearray)

    @property
    def exit_code(self) -> None:
        return None

    async def close_input(self) -> None:
        await self.link.send_eof()

    async def ended(self, seconds: float) -> int | None:
        with anyio.move_on_after(seconds):
            await self.link.over.wait()
            return 0
        return None


# What a server, or something in front of it, says to a user or at a path that it does not serve.
REFUSALS = frozenset({301, 302, 303, 307, 308, 401, 403, 404, 405, 407, 421, 426, 429, 501})
NOT_READY = frozenset({502, 503, 504})
HELLO = {
    "jsonrpc": "2.0",
    "id": 0,
    "method": "initialize",
    "params": {"protocolVersion": 1, "clientCapabilities": {}},
}


class NotAdmitted(Exception):
    """A server refuses its user, or closes without an answer; then `status` is None."""

    def __init__(self, status: int | None, body: bytes = b"", location: str | None = None) -> None:
        super().__init__(f"status {status}")
        self.status = status
        self.body = body
        self.location = location


async def require_admission(server: RemoteServer, patience: float) -> None:
    """Find out whether a server lets its user in at all; only then can it be judged.

    Raises:
        NotReached: nobody listens there.
        NotAdmitted: it refuses every request, or does not speak HTTP.
    """
    try:
        if server.address.transport == "http":
            status, body, location = await _initialized(server, patience)
        else:
            async with websocket_link(server):
                return
    except UpgradeRefused as error:
        if error.answer is None:
            raise NotAdmitted(None) from None
        status, body = int(error.answer.status_code), bytes(error.answer.body or b"")
        location = error.answer.headers.get("location")
    except Gone:
        raise NotAdmitted(None) from None
    except Unanswered:
        # Such as a server that is too slow, which is judged.
        return
    if status in REFUSALS | NOT_READY:
        raise NotAdmitted(status, body, location)


async def _initialized(server: RemoteServer, patience: float) -> tuple[int, bytes, str | None]:
    """Open a connection and end it; what the server answered."""
    is_http2 = not await speaks_http1(server.address)
    caller = HttpCaller(server, patience=patience, is_http2=is_http2)
    answer = await caller.post(HELLO)
    connection = answer.header(CONNECTION)
    if connection is not None:
        await caller.request("DELETE", {CONNECTION: connection})
    return answer.status, answer.body, answer.header("location")


@asynccontextmanager
async def connected(server: RemoteServer, patience: float) -> AsyncGenerator[RemoteProgram]:
    """Connect to a server and read what it says.

    Raises:
        NotStarted: nobody listens there.
        UpgradeRefused: it does not speak WebSocket.
    """
    async with AsyncExitStack() as stack:
        try:
            if server.address.transport == "http":
                # A server that cannot be reached at all is not judged.
                is_http2 = not await speaks_http1(server.address)
                caller = HttpCaller(server, patience=patience, is_http2=is_http2)
                link: HttpLink | WebSocketLink
                link = await stack.enter_async_context(http_link(caller))
            else:
                link = await stack.enter_async_context(websocket_link(server))
        except NotReached as error:
            raise NotStarted(f"cannot reach {error}") from None
        program = RemoteProgram(link, RawPeer(link, link, patience=patience))
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(program.peer.pump)
            yield program
            tasks.cancel_scope.cancel()
