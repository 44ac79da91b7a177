"""The upgrade of a connection to WebSocket, outside of an HTTP server."""

from __future__ import annotations

import asyncio

from websockets.http11 import Request
from websockets.server import ServerProtocol

from accord.machine.redacted_logs import SILENT
from accord.transport.http.message_routes import CONNECTION_HEADER
from accord.transport.remote_limits import RemoteLimits
from accord.transport.resume.extension_messages import (
    GAP,
    UNKNOWN_CONNECTION,
    read_resume_query,
)
from accord.transport.server.connections import Connections
from accord.transport.server.request_guard import Refusal
from accord.transport.server.requests import RemoteRequest
from accord.transport.server.websocket.asgi_socket import open_transport
from accord.transport.server.websocket.native_socket import NativeSocket
from accord.transport.server.websocket.socket_transport import WebSocketServerTransport
from accord.transport.transport import Ended

NO_ROOM = 503
# The package has no answer for a request that it cannot read.
_MALFORMED = (
    b"HTTP/1.1 400 Bad Request\r\ncontent-type: text/plain; charset=utf-8\r\n"
    b"content-length: 24\r\nconnection: close\r\n\r\nThe request is malformed"
)


class Handshake:
    """One upgrade.  The package `websockets` reads the request and writes the response."""

    def __init__(self, transport: asyncio.Transport, head: bytes) -> None:
        self._transport = transport
        self._protocol = ServerProtocol(logger=SILENT)
        self._protocol.receive_data(head)
        events = self._protocol.events_received()
        self._request = events[0] if events and isinstance(events[0], Request) else None

    def request(self) -> RemoteRequest | None:
        """Return the request; a malformed one is answered, and is None."""
        if self._request is None:
            self._transport.write(_MALFORMED)
            self._transport.close()
            return None
        path, _, query = self._request.path.partition("?")
        headers: dict[str, str] = {}
        for name, value in self._request.headers.raw_items():
            key = name.lower()
            headers[key] = f"{headers[key]}, {value}" if key in headers else value
        peer = self._transport.get_extra_info("peername")
        return RemoteRequest(
            method="GET",
            path="/" + path.strip("/"),
            query=query,
            headers=headers,
            client=str(peer[0]) if isinstance(peer, tuple) else None,
            is_websocket=True,
            is_encrypted=self._transport.get_extra_info("sslcontext") is not None,
        )

    def refuse(self, refusal: Refusal) -> None:
        """Answer with an HTTP status instead of an upgrade, and close."""
        response = self._protocol.reject(refusal.status, refusal.reason)
        for name, value in refusal.headers:
            response.headers[name] = value
        self._send(response)
        self._transport.close()

    def _send(self, response: object) -> None:
        self._protocol.send_response(response)  # type: ignore[arg-type]
        self._transport.write(b"".join(self._protocol.data_to_send()))

    def accept(
        self, connections: Connections, limits: RemoteLimits, request: RemoteRequest, principal: str
    ) -> NativeSocket | None:
        """Complete the upgrade, and return the socket that reads on; None if it was refused."""
        assert self._request is not None
        response = self._protocol.accept(self._request)
        if self._protocol.handshake_exc is not None:
            self._send(response)
            self._transport.close()
            return None
        asked = read_resume_query(request.query)
        is_new = asked is None or asked.connection_id is None
        if is_new and not connections.has_room:
            self.refuse(Refusal(NO_ROOM, "Too many connections"))
            return None
        connection = open_transport(connections, limits, asked, principal)
        if connection is not None:
            response.headers[CONNECTION_HEADER] = connection.connection_id
        self._send(response)
        if connection is None:
            # It exists for this socket only, and says why it is closed.
            nobody = WebSocketServerTransport("", principal, limits, resumes=False)
            nobody.end(Ended(UNKNOWN_CONNECTION))
            socket = NativeSocket(nobody, self._transport)
            socket.refuse(UNKNOWN_CONNECTION)
            return socket
        socket = NativeSocket(connection, self._transport)
        if not connection.attach(socket, 0 if asked is None else asked.received):
            socket.refuse(GAP)
        elif asked is not None:
            socket.wake()
        return socket


__all__ = ["Handshake"]
