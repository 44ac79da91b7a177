"""A judged server as a check meets it: each check has a connection of its own.

What always holds: leaving `connected` ends the connection.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field

import anyio

from accord.conformance.frames.raw_peer import RawPeer
from accord.conformance.network.address import RemoteServer
from accord.conformance.network.http_caller import HttpCaller, NotReached, speaks_http1
from accord.conformance.network.http_link import HttpLink, http_link
from accord.conformance.network.websocket_link import WebSocketLink, websocket_link
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
