"""The kit's server for judged clients: Streamable HTTP and WebSocket at one address.

Whatever a client sends is kept first and judged later: `seen` has every request, `binary_frames`
what came in place of text.  Requests are answered as a right server answers them.

What always holds: what is kept has a bound.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from secrets import token_hex
from typing import Any

import anyio
from anyio.abc import ByteStream

from accord.conformance.frames.raw_peer import Message
from accord.conformance.network.http1 import (
    BadHttp,
    Head,
    Headers,
    HttpReader,
    fits_header,
    head_bytes,
)
from accord.conformance.network.http_caller import CONNECTION, EVENTS_TYPE, JSON_TYPE, SESSION
from accord.conformance.network.line_stream import LineStream
from accord.conformance.network.served_connection import ServedHttp
from accord.conformance.network.websocket_link import MESSAGE_BYTES_MAX, WebSocketLink
from accord.conformance.time_limits import AWAY_SECONDS, COMMENT_SECONDS

COOKIE = "accord-check"
REQUESTS_MAX = 20_000
CONNECTIONS_MAX = 64
REASONS = {200: "OK", 202: "Accepted"}


@dataclass(slots=True)
class Seen:
    """One request of a client and its answer."""

    head: Head
    body: bytes = b""
    status: int = 0

    @property
    def method(self) -> str:
        return self.head.words[0]

    @property
    def message(self) -> Message:
        try:
            message = json.loads(self.body)
        except (ValueError, RecursionError):
            return {}
        return message if isinstance(message, dict) else {}

    def __str__(self) -> str:
        shown = [f"{name}: {value}" for name, value in self.head.headers if _is_shown(name)]
        text = self.body[:300].decode("utf-8", "backslashreplace")
        return "\n".join([" ".join(self.head.words[:2]), *shown, text]).rstrip()


@dataclass(frozen=True, slots=True)
class Response:
    """The response to a request."""

    status: int
    body: bytes = b""
    kind: str = "text/plain; charset=utf-8"
    headers: Headers = ()


@dataclass(slots=True)
class HttpListener:
    """Serves connections; `connected` is called with each that sends `initialize`."""

    connected: Callable[[LineStream], None]
    path: str = "/acp"
    seen: list[Seen] = field(default_factory=list)
    connections: dict[str, ServedHttp] = field(default_factory=dict)
    # The ids of all connections, also of those that have ended.
    given_ids: set[str] = field(default_factory=set[str])
    binary_frames: list[bytes] = field(default_factory=list)

    async def serve(self, stream: ByteStream) -> None:
        """Answer the requests of one network connection until it ends."""
        reader = HttpReader(stream)
        async with stream:
            try:
                while (head := await reader.head()) is not None:
                    if "upgrade" in (head.header("connection") or "").lower():
                        self._note(Seen(head, status=101))
                        await self.upgrade(stream, head, bytes(reader.held))
                        break
                    body = await reader.body(head, of_response=False)
                    if not await self._answer(stream, Seen(head, body)):
                        break
            except (BadHttp, anyio.BrokenResourceError, anyio.ClosedResourceError):
                pass

    def _note(self, seen: Seen) -> None:
        if len(self.seen) < REQUESTS_MAX:
            self.seen.append(seen)

    async def _answer(self, stream: ByteStream, seen: Seen) -> bool:
        """Answer one request; return whether another may follow."""
        self._note(seen)
        if seen.method == "GET":
            served = self.get(seen)
            if isinstance(served, tuple):
                seen.status = 200
                await self.send_events(stream, *served)
                return False
            response = served
        else:
            response = await self.respond(seen)
        seen.status = response.status
        await stream.send(self.response_bytes(response))
        return (seen.head.header("connection") or "").lower() != "close"

    async def respond(self, seen: Seen) -> Response:
        if seen.head.words[1].partition("?")[0] != self.path:
            return Response(404, b"Not found")
        if seen.method == "POST":
            return await self.post(seen)
        if seen.method == "DELETE":
            return await self.delete(seen)
        return Response(405, b"Method not allowed")

    def response_bytes(self, response: Response) -> bytes:
        headers = [("Content-Length", str(len(response.body))), *response.headers]
        if response.body:
            headers.append(("Content-Type", response.kind))
        first = f"HTTP/1.1 {response.status} {REASONS.get(response.status, 'No')}"
        return head_bytes(first, headers) + response.body

    # POST

    async def post(self, seen: Seen) -> Response:
        if seen.head.content_type != JSON_TYPE:
            return Response(415, b"The content type must be application/json")
        try:
            message = json.loads(seen.body)
        except (ValueError, RecursionError):
            return Response(400, b"The body is not JSON")
        if isinstance(message, list):
            return self.refuse_array()
        if not isinstance(message, dict):
            return Response(400, b"The body is not an object")
        if message.get("method") == "initialize" and "id" in message:
            return await self.initialize(seen, message)
        found = self.find(seen)
        if isinstance(found, Response):
            return found
        problem = self.session_problem(found, seen, message)
        if problem:
            return Response(400, problem.encode())
        return await self.take(found, seen, message)

    def refuse_array(self) -> Response:
        error = {"code": -32600, "message": "batches are not supported"}
        body = {"jsonrpc": "2.0", "id": None, "error": error}
        return Response(400, json.dumps(body).encode(), JSON_TYPE)

    async def initialize(self, seen: Seen, message: Message) -> Response:
        if seen.head.header(CONNECTION) is not None:
            return Response(400, b"initialize is not allowed on an existing connection")
        if len(self.connections) >= CONNECTIONS_MAX:
            return Response(503, b"Too many connections")
        connection = ServedHttp(token_hex(16))
        self.connections[connection.id] = connection
        self.given_ids.add(connection.id)
        self.connected(connection)
        answer = await connection.initialize(seen.body, message["id"])
        if answer is None:
            return Response(500, b"initialize was not answered")
        headers = ((CONNECTION.title(), connection.id), self.cookie(connection))
        return Response(200, answer, JSON_TYPE, headers)

    def cookie(self, connection: ServedHttp) -> tuple[str, str]:
        return ("Set-Cookie", f"{COOKIE}={connection.id}; Path=/; HttpOnly")

    def find(self, seen: Seen) -> ServedHttp | Response:
        """Return the connection that a request names, or the refusal."""
        name = seen.head.header(CONNECTION)
        if name is None:
            return Response(400, b"Missing Acp-Connection-Id")
        found = self.connections.get(name)
        return Response(404, b"Unknown Acp-Connection-Id") if found is None else found

    def session_problem(self, connection: ServedHttp, seen: Seen, message: Message) -> str:
        """Describe a fault in the header with the session; empty if it is valid."""
        given = seen.head.header(SESSION)
        needed = connection.session_of(message)
        if needed is not None and given is None:
            return "Missing Acp-Session-Id"
        named = _session_in(message)
        return (
            "Acp-Session-Id differs from the message"
            if given and named not in (None, given)
            else ""
        )

    async def take(self, connection: ServedHttp, seen: Seen, message: Message) -> Response:
        await connection.take(seen.body, message, seen.head.header(SESSION))
        return Response(202)

    # GET and DELETE

    def get(self, seen: Seen) -> tuple[ServedHttp, str | None] | Response:
        """Return the stream that a request opens, or the refusal."""
        if EVENTS_TYPE not in (seen.head.header("accept") or ""):
            return Response(406, b"The client must accept text/event-stream")
        found = self.find(seen)
        if isinstance(found, Response):
            return found
        session = seen.head.header(SESSION)
        if not found.attach(session):
            return Response(409, b"That stream has a reader already")
        return found, session

    async def send_events(
        self, stream: ByteStream, connection: ServedHttp, session: str | None
    ) -> None:
        """Send the events of a stream until the connection ends."""
        headers = [("Content-Type", EVENTS_TYPE), ("Cache-Control", "no-cache")]
        try:
            await stream.send(
                head_bytes("HTTP/1.1 200 OK", [*headers, ("Transfer-Encoding", "chunked")])
            )
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(_wait_for_end, stream, tasks.cancel_scope)
                await self._send_lines(stream, connection, session)
                tasks.cancel_scope.cancel()
        except* (anyio.BrokenResourceError, anyio.ClosedResourceError):
            pass
        finally:
            connection.detach(session)
        if session is None:
            await connection.wait_for_reader(AWAY_SECONDS)

    async def _send_lines(
        self, stream: ByteStream, connection: ServedHttp, session: str | None
    ) -> None:
        while True:
            line: bytes | None = b""
            with anyio.move_on_after(COMMENT_SECONDS):
                line = await connection.next_for(session)
            if line is None:
                break
            event = self.event(line) if line else b":\n\n"
            await stream.send(b"%x\r\n%b\r\n" % (len(event), event))
        await stream.send(b"0\r\n\r\n")

    def event(self, line: bytes) -> bytes:
        return b"data: " + line + b"\n\n"

    async def delete(self, seen: Seen) -> Response:
        found = self.find(seen)
        if isinstance(found, Response):
            return found
        del self.connections[found.id]
        found.end()
        return Response(202)

    # WebSocket

    async def upgrade(self, stream: ByteStream, head: Head, rest: bytes) -> None:
        await serve_websocket(stream, head, rest, self.connected, self.binary_frames)

    def end(self) -> None:
        """End the streams of all clients."""
        for connection in self.connections.values():
            connection.end()
        self.connections.clear()


async def _wait_for_end(stream: ByteStream, scope: anyio.CancelScope) -> None:
    """End a response when its client disconnects; it sends nothing after its request."""
    try:
        while True:
            await stream.receive()
    except (anyio.EndOfStream, anyio.BrokenResourceError, anyio.ClosedResourceError):
        scope.cancel()


def _session_in(message: Message) -> str | None:
    params = message.get("params")
    name: Any = params.get("sessionId") if isinstance(params, dict) else None
    return name if fits_header(name) else None


def _is_shown(name: str) -> bool:
    return name.startswith(("acp-", "content-", "accept", "cookie"))


async def serve_websocket(
    stream: ByteStream,
    head: Head,
    rest: bytes,
    connected: Callable[[LineStream], None],
    binary_frames: list[bytes],
    headers: dict[str, str] | None = None,
) -> None:
    """Upgrade, pass the socket to `connected`, and serve it until either side closes."""
    from websockets.protocol import State
    from websockets.server import ServerProtocol

    protocol: Any = ServerProtocol(max_size=MESSAGE_BYTES_MAX)
    # The head was already read: the protocol reads it again.
    protocol.receive_data(head_bytes(" ".join(head.words), head.headers) + rest)
    request, *early = protocol.events_received()
    response = protocol.accept(request)
    named = {CONNECTION.title(): token_hex(16), "Set-Cookie": f"{COOKIE}=1; Path=/"}
    for name, value in (named if headers is None else headers).items():
        response.headers[name] = value
    protocol.send_response(response)
    link = WebSocketLink(stream, protocol)
    await link.flush()
    if protocol.state is not State.OPEN:
        return
    link.early, link.binary_frames = early, binary_frames
    connected(link)
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(link.run)
        await link.read()
        tasks.cancel_scope.cancel()
