"""The WebSocket endpoint as a part of the ASGI application, for any ASGI server."""

from __future__ import annotations

import asyncio

from accord.machine.redacted_logs import logger
from accord.transport.http.message_routes import CONNECTION_HEADER
from accord.transport.remote_limits import RemoteLimits
from accord.transport.resume.extension_messages import (
    GAP,
    UNKNOWN_CONNECTION,
    ResumeRequest,
    read_resume_query,
)
from accord.transport.server.answers import text_answer
from accord.transport.server.connections import Connections
from accord.transport.server.request_guard import Refusal
from accord.transport.server.requests import Message, Receive, RemoteRequest, Scope, Send
from accord.transport.server.server_transport import LIMIT_EXCEEDED, NORMAL_CLOSURE
from accord.transport.server.websocket.socket_transport import WebSocketServerTransport

_log = logger("accord.transport")

# With it, an upgrade is refused with any status.
REFUSAL_EXTENSION = "websocket.http.response"
# A reason travels in a control frame.
REASON_BYTES_MAX = 123
# What the log says of a frame that ACP does not use.
BINARY_IGNORED = "a binary WebSocket frame was ignored"


def open_transport(
    connections: Connections, limits: RemoteLimits, asked: ResumeRequest | None, principal: str
) -> WebSocketServerTransport | None:
    """Return the connection that an upgrade asks for; None if it is unknown, or somebody else's."""
    if asked is None or asked.connection_id is None:
        resumes = asked is not None
        made = WebSocketServerTransport(connections.new_id(), principal, limits, resumes=resumes)
        connections.open(made)
        return made
    found = connections.find(asked.connection_id, principal, WebSocketServerTransport)
    return found if found is not None and found.resumes else None


async def serve_websocket(
    connections: Connections,
    limits: RemoteLimits,
    request: RemoteRequest,
    admitted: str | Refusal,
    scope: Scope,
    receive: Receive,
    send: Send,
) -> None:
    """Serve one WebSocket from its upgrade to its end."""
    await receive()
    if isinstance(admitted, Refusal):
        await _refuse(admitted, scope, send)
        return
    asked = read_resume_query(request.query)
    if (asked is None or asked.connection_id is None) and not connections.has_room:
        await _refuse(Refusal(503, "Too many connections"), scope, send)
        return
    transport = open_transport(connections, limits, asked, admitted)
    headers: list[tuple[bytes, bytes]] = []
    if transport is not None:
        headers.append((CONNECTION_HEADER.encode(), transport.connection_id.encode()))
    await send({"type": "websocket.accept", "headers": headers})
    if transport is None:
        await _close(send, LIMIT_EXCEEDED, UNKNOWN_CONNECTION)
        return
    socket = AsgiSocket(transport)
    if not transport.attach(socket, 0 if asked is None else asked.received):
        await _close(send, LIMIT_EXCEEDED, GAP)
        return
    await socket.run(receive, send)


async def _refuse(refusal: Refusal, scope: Scope, send: Send) -> None:
    """Refuse an upgrade; servers without the extension for it answer with status 403."""
    if REFUSAL_EXTENSION not in (scope.get("extensions") or {}):
        await send({"type": "websocket.close", "code": LIMIT_EXCEEDED, "reason": refusal.reason})
        return

    async def send_refusal(message: Message) -> None:
        await send({**message, "type": f"websocket.{message['type']}"})

    await text_answer(refusal.status, refusal.reason).send(send_refusal)


async def _close(send: Send, code: int, reason: str) -> None:
    await send({"type": "websocket.close", "code": code, "reason": close_reason(reason)})


def close_reason(reason: str) -> str:
    """Return a reason that fits into a control frame."""
    return reason.encode()[:REASON_BYTES_MAX].decode(errors="ignore")


class AsgiSocket:
    """The socket of one connection, as an ASGI server offers it.

    Guards: once another socket has taken over, this one can neither add to the connection nor end
    it, and it never waits for a client for longer than `stall_seconds`.
    """

    def __init__(self, transport: WebSocketServerTransport) -> None:
        self._transport = transport
        self._loop = asyncio.get_running_loop()
        self._idle: asyncio.Future[None] | None = None
        self._room: asyncio.Future[None] | None = None
        # Code and reason, once another socket has taken over.
        self._detached: tuple[int, str] | None = None
        # Whether the client has closed the connection for good.
        self._is_closed = False

    def wake(self) -> None:
        if self._idle is not None and not self._idle.done():
            self._idle.set_result(None)

    def read_again(self) -> None:
        if self._room is not None and not self._room.done():
            self._room.set_result(None)

    def detach(self, code: int, reason: str) -> None:
        self._detached = (code, reason)
        self.wake()
        self.read_again()

    async def run(self, receive: Receive, send: Send) -> None:
        """Carry frames in both directions until either side is gone."""
        reader = self._loop.create_task(self._read(receive))
        try:
            await self._write(send, reader)
        except TimeoutError:
            if self._detached is None and not reader.done():
                seconds = f"{self._transport.limits.stall_seconds:g} s"
                self._transport.lose(f"the client read nothing for {seconds} (stall_seconds)")
        except OSError:
            pass
        finally:
            reader.cancel()
            self._transport.socket_left(self, is_closed=self._is_closed)

    async def _read(self, receive: Receive) -> None:
        transport = self._transport
        try:
            while (message := await receive())["type"] != "websocket.disconnect":
                if self._detached is not None:
                    # The client sends it again on the other socket.
                    continue
                text = message.get("text")
                if text is None:
                    _log.info(BINARY_IGNORED)
                    continue
                frame = text.encode()
                if len(frame) > transport.limits.message_bytes:
                    transport.frame_too_long()
                    return
                transport.frame_received(frame)
                while not transport.reads and not transport.is_over and not self._detached:
                    self._room = self._loop.create_future()
                    await self._room
            self._is_closed = message.get("code") == NORMAL_CLOSURE
        except OSError:
            # Some servers say so that the client is gone.
            pass
        finally:
            self.wake()

    async def _write(self, send: Send, reader: asyncio.Task[None]) -> None:
        transport = self._transport
        while self._detached is None:
            if reader.done() and not transport.is_over:
                # The rest is for the socket with which the client comes back.
                return
            frames = transport.take()
            if frames:
                async with asyncio.timeout(transport.limits.stall_seconds):
                    for frame in frames:
                        await send({"type": "websocket.send", "text": frame.decode()})
                transport.taken(sum(map(len, frames)))
            elif transport.is_over:
                await self._close(send, transport.close_code, transport.close_reason)
                return
            else:
                self._idle = self._loop.create_future()
                await self._idle
                self._idle = None
        await self._close(send, *self._detached)

    async def _close(self, send: Send, code: int, reason: str) -> None:
        async with asyncio.timeout(self._transport.limits.stall_seconds):
            await _close(send, code, reason)


__all__ = ["BINARY_IGNORED", "AsgiSocket", "close_reason", "open_transport", "serve_websocket"]
