"""What POST, GET and DELETE do, with the status codes of Streamable HTTP."""

from __future__ import annotations

import asyncio

from accord.errors import ConnectionLost
from accord.transport.http.message_routes import (
    CONNECTION_HEADER,
    EVENTS_TYPE,
    JSON_TYPE,
    SESSION_HEADER,
    MessageKeys,
    read_keys,
)
from accord.transport.remote_limits import RemoteLimits
from accord.transport.resume.extension_messages import (
    LAST_EVENT_HEADER,
    MESSAGE_HEADER,
    RESUME_HEADER,
    RESUME_VERSION,
    ReceivedSaid,
    read_count,
    read_extension_frame,
)
from accord.transport.server.answers import (
    ARRAY,
    BAD_EVENT_ID,
    BAD_NUMBER,
    EVENT_HEADERS,
    HAS_READER,
    LONG_ID,
    MISSING_CONNECTION,
    NO_INITIALIZE_ID,
    NO_ROOM,
    NO_WEBSOCKET,
    NOT_EVENTS,
    NOT_JSON,
    NOT_JSON_BODY,
    NOT_JSON_TYPE,
    NOT_OBJECT_BODY,
    SECOND_INITIALIZE,
    TAKEN,
    TOO_EARLY,
    TOO_MANY_WAIT,
    UNKNOWN_CONNECTION,
    Fault,
    Header,
    HttpAnswer,
    batch_answer,
    error_message,
    failed_answer,
    fault_of,
    gap_answer,
    json_answer,
    text_answer,
)
from accord.transport.server.connections import Connections
from accord.transport.server.event_response import EventResponse
from accord.transport.server.http_transport import HttpServerTransport, Message
from accord.transport.server.requests import Bodies, BodyRefused, Receive, RemoteRequest, Send
from accord.transport.server.server_transport import CLOSED_BY_CLIENT
from accord.transport.transport import Ended

INITIALIZE = "initialize"
_RESUME, _MESSAGE, _LAST_EVENT = (
    name.lower() for name in (RESUME_HEADER, MESSAGE_HEADER, LAST_EVENT_HEADER)
)


class Endpoint:
    """The connections of one application over HTTP."""

    def __init__(self, connections: Connections, limits: RemoteLimits) -> None:
        self._connections = connections
        self._limits = limits
        self._bodies = Bodies(limits)

    # ---- POST

    async def post(self, request: RemoteRequest, principal: str, receive: Receive) -> HttpAnswer:
        """Take one message of the client."""
        content_type = request.headers.get("content-type", "").partition(";")[0]
        if content_type.strip().lower() != JSON_TYPE:
            return NOT_JSON_TYPE
        if self._has_long_id(request):
            return LONG_ID
        try:
            body = await self._bodies.read(request, receive)
        except BodyRefused as refused:
            return text_answer(refused.status, refused.reason)
        keys = read_keys(body)
        fault = fault_of(body) if keys is None else None
        if fault is not None and (refusal := _refusal_of(fault)) is not None:
            return refusal
        connection_id = request.headers.get(CONNECTION_HEADER)
        if keys is not None and keys.method == INITIALIZE and keys.kind == "request":
            if connection_id is not None:
                return SECOND_INITIALIZE
            return await self._initialize(request, principal, body, keys)
        if connection_id is None:
            return MISSING_CONNECTION
        transport = self._connections.find(connection_id, principal, HttpServerTransport)
        if transport is None:
            return UNKNOWN_CONNECTION
        if transport.resumes and (said := read_extension_frame(body)) is not None:
            transport.seen()
            if isinstance(said, ReceivedSaid):
                transport.acknowledged(request.headers.get(SESSION_HEADER), said.count)
            return TAKEN
        if fault is not None:
            transport.send_frame(error_message(None, fault.code, fault.message))
            return TAKEN
        return await self._accept(transport, request, body, keys)

    async def _accept(
        self,
        transport: HttpServerTransport,
        request: RemoteRequest,
        body: bytes,
        keys: MessageKeys | None,
    ) -> HttpAnswer:
        transport.seen()
        # A line break in valid JSON stands between tokens only.
        frame = body.replace(b"\n", b" ").replace(b"\r", b" ")
        message = Message(frame, keys, request.headers.get(SESSION_HEADER))
        problem = transport.header_problem(message)
        if not transport.resumes or _MESSAGE not in request.headers:
            if problem is not None:
                return text_answer(400, problem)
            if not await transport.accept(message):
                return TOO_MANY_WAIT
        else:
            number = read_count(request.headers[_MESSAGE])
            if not number:
                return BAD_NUMBER
            taken = message if problem is None else None
            if not await transport.accept_numbered(number, taken, len(frame)):
                return TOO_EARLY
            if problem is not None:
                return text_answer(400, problem)
        return UNKNOWN_CONNECTION if transport.is_over else TAKEN

    async def _initialize(
        self, request: RemoteRequest, principal: str, body: bytes, keys: MessageKeys
    ) -> HttpAnswer:
        if keys.id is None:
            return NO_INITIALIZE_ID
        if not self._connections.has_room:
            return NO_ROOM
        resumes = request.headers.get(_RESUME) == RESUME_VERSION
        transport = HttpServerTransport(
            self._connections.new_id(), principal, self._limits, resumes=resumes
        )
        self._connections.open(transport)
        frame = body.replace(b"\n", b" ").replace(b"\r", b" ")
        try:
            async with asyncio.timeout(self._limits.initialize_seconds):
                answer = await transport.initialize(frame, keys)
        except (TimeoutError, ConnectionLost):
            transport.lose("initialize was not answered (initialize_seconds)")
            return failed_answer(keys.id, "initialize failed")
        except BaseException:
            # The server has given the request up, and nobody has learnt of the connection.
            transport.end(Ended(CLOSED_BY_CLIENT, clean=True))
            raise
        transport.seen()
        headers = [(CONNECTION_HEADER, transport.connection_id)]
        if resumes:
            headers.append((RESUME_HEADER, RESUME_VERSION))
        return json_answer(200, answer, *headers)

    # ---- GET

    async def get(
        self,
        request: RemoteRequest,
        principal: str,
        receive: Receive,
        send: Send,
        more_headers: tuple[Header, ...],
    ) -> HttpAnswer | None:
        """Send the events of a stream, or return why not."""
        if request.headers.get("upgrade", "").lower() == "websocket":
            return NO_WEBSOCKET
        if EVENTS_TYPE not in request.headers.get("accept", "").lower():
            return NOT_EVENTS
        if self._has_long_id(request):
            return LONG_ID
        connection_id = request.headers.get(CONNECTION_HEADER)
        if connection_id is None:
            return MISSING_CONNECTION
        transport = self._connections.find(connection_id, principal, HttpServerTransport)
        if transport is None:
            return UNKNOWN_CONNECTION
        last_event: int | None = 0 if transport.resumes else None
        if _LAST_EVENT in request.headers:
            last_event = read_count(request.headers[_LAST_EVENT])
            if last_event is None:
                return BAD_EVENT_ID
        stream = transport.stream(request.headers.get(SESSION_HEADER))
        if stream is None:
            return text_answer(503, "Too many sessions have a stream (session_streams)")
        if stream.reader is not None and not transport.resumes:
            return HAS_READER
        response = EventResponse(transport, stream)
        if not transport.read(stream, response, last_event):
            return gap_answer()
        await response.run([*EVENT_HEADERS, *more_headers], receive, send)
        return None

    # ---- DELETE

    async def delete(self, request: RemoteRequest, principal: str) -> HttpAnswer:
        """Let the client end its connection and all streams of it."""
        connection_id = request.headers.get(CONNECTION_HEADER)
        if connection_id is None:
            return MISSING_CONNECTION
        transport = self._connections.find(connection_id, principal, HttpServerTransport)
        if transport is None:
            return UNKNOWN_CONNECTION
        transport.end(Ended(CLOSED_BY_CLIENT, clean=True))
        return TAKEN

    def _has_long_id(self, request: RemoteRequest) -> bool:
        ids = (request.headers.get(name, "") for name in (CONNECTION_HEADER, SESSION_HEADER))
        return any(len(one) > self._limits.id_chars for one in ids)


def _refusal_of(fault: Fault) -> HttpAnswer | None:
    """Return the answer to a body that is not an object."""
    if fault == ARRAY:
        return batch_answer()
    if fault == NOT_JSON:
        return NOT_JSON_BODY
    return None if fault.is_object else NOT_OBJECT_BODY


__all__ = ["Endpoint"]
