"""What a request is answered with: status, headers, body, and each text in words."""

from __future__ import annotations

from typing import Final, NamedTuple

from accord.jsonrpc.envelope import Id, json_id, json_text
from accord.jsonrpc.error_codes import INTERNAL_ERROR, INVALID_REQUEST, PARSE_ERROR
from accord.jsonrpc.json_depth import is_deeper
from accord.jsonrpc.malformed_frames import is_utf8, is_whole
from accord.transport.http.message_routes import EVENTS_TYPE, JSON_TYPE
from accord.transport.server.requests import Message, Send

TEXT_TYPE: Final = "text/plain; charset=utf-8"
# The code for what the JSON-RPC server itself defines.
SERVER_ERROR: Final = -32000
NO_CONTENT = 204
GONE = 410
BAD_REQUEST = 400
Header = tuple[str, str]
# Deeper objects are left to the agent, whose limit it is.
DEPTH_MAX: Final = 128
NO_BATCHES: Final = "JSON-RPC batches are not supported"


class Fault(NamedTuple):
    """The code of the error, its message, and whether the text is an object after all."""

    code: int
    message: str
    is_object: bool = False


NOT_JSON: Final = Fault(PARSE_ERROR, "Parse error")
ARRAY: Final = Fault(INVALID_REQUEST, NO_BATCHES)
NOT_AN_OBJECT: Final = Fault(INVALID_REQUEST, "Invalid request")
NOT_A_MESSAGE: Final = Fault(INVALID_REQUEST, "Invalid request", is_object=True)


def fault_of(text: bytes) -> Fault | None:
    """Say what is wrong with a text in which `read_keys` finds no message.

    None is an object that is nested too deeply, which the agent answers with its id.
    """
    # Nothing is built of the text: 32 MiB of `[{},{},…` would become a gigabyte of objects.
    start = text.lstrip()[:1]
    if not is_utf8(text) or not is_whole(text):
        return NOT_JSON
    if start == b"[":
        return ARRAY
    if start != b"{":
        return NOT_AN_OBJECT
    return None if is_deeper(text, DEPTH_MAX) else NOT_A_MESSAGE


def error_message(request_id: Id, code: int, message: str) -> bytes:
    """Return a JSON-RPC error."""
    return b'{"jsonrpc":"2.0","id":%b,"error":{"code":%d,"message":%b}}' % (
        json_id(request_id),
        code,
        json_text(message),
    )


class HttpAnswer(NamedTuple):
    """A response that is known before it is sent."""

    status: int
    body: bytes = b""
    content_type: str | None = None
    headers: tuple[Header, ...] = ()

    async def send(self, send: Send, more_headers: tuple[Header, ...] = ()) -> None:
        """Send the status, the headers and the body."""
        headers = [*self.headers, *more_headers]
        if self.status != NO_CONTENT:
            headers.append(("content-length", str(len(self.body))))
        if self.content_type is not None:
            headers.append(("content-type", self.content_type))
        await send(response_start(self.status, headers))
        await send({"type": "http.response.body", "body": self.body, "more_body": False})


def without_body(send: Send) -> Send:
    """Return a `send` for the answer to HEAD, since granian would send its body over HTTP/2."""

    async def send_head(message: Message) -> None:
        if message["type"] == "http.response.body":
            message = {**message, "body": b""}
        await send(message)

    return send_head


def response_start(status: int, headers: list[Header]) -> dict[str, object]:
    """Return the start of a response, in the form of ASGI."""
    raw = [(name.encode("latin-1"), value.encode("latin-1")) for name, value in headers]
    raw += [(b"x-content-type-options", b"nosniff")]
    return {"type": "http.response.start", "status": status, "headers": raw}


def text_answer(status: int, reason: str, *headers: Header) -> HttpAnswer:
    """Return an answer that says in one sentence what is wrong."""
    return HttpAnswer(status, reason.encode(), TEXT_TYPE, headers)


def json_answer(status: int, body: bytes, *headers: Header) -> HttpAnswer:
    """Return an answer with JSON in its body."""
    return HttpAnswer(status, body, JSON_TYPE, headers)


def gap_answer() -> HttpAnswer:
    """Return the answer to a reader that asks for events that are gone."""
    message = "events after the given Last-Event-ID are gone; load the session again"
    return json_answer(
        GONE,
        b'{"error":{"code":%d,"message":%b,"data":{"reason":"gap"}}}'
        % (SERVER_ERROR, json_text(message)),
    )


def batch_answer() -> HttpAnswer:
    """Return the answer to a JSON array."""
    return json_answer(BAD_REQUEST, error_message(None, ARRAY.code, ARRAY.message))


def failed_answer(request_id: Id, reason: str) -> HttpAnswer:
    """Return the answer to an `initialize` that failed inside."""
    return json_answer(500, error_message(request_id, INTERNAL_ERROR, reason))


TAKEN = HttpAnswer(202)
MISSING_CONNECTION = text_answer(400, "Missing Acp-Connection-Id")
UNKNOWN_CONNECTION = text_answer(404, "Unknown Acp-Connection-Id")
LONG_ID = text_answer(400, "An id is too long (id_chars)")
NOT_JSON_BODY = text_answer(400, "The body is not JSON")
NOT_OBJECT_BODY = text_answer(400, "The body is not a JSON object")
SECOND_INITIALIZE = text_answer(400, "initialize is not allowed on an existing connection")
NO_INITIALIZE_ID = text_answer(400, "initialize needs an id")
BAD_NUMBER = text_answer(400, "Accord-Message must be a number from 1 on")
TOO_EARLY = text_answer(503, "Too many messages wait for an earlier one", ("retry-after", "1"))
TOO_MANY_WAIT = text_answer(
    429,
    "Too many messages wait for the client to read its streams, or for the agent (backlog_bytes);"
    " read the streams, and send this one again later",
    ("retry-after", "1"),
)
NO_ROOM = text_answer(503, "Too many connections", ("retry-after", "5"))
NOT_JSON_TYPE = text_answer(415, "The content type must be application/json")
NOT_EVENTS = text_answer(406, "The client must accept text/event-stream")
NO_WEBSOCKET = text_answer(426, "WebSocket is not offered here")
HAS_READER = text_answer(409, "That stream has a reader already")
BAD_EVENT_ID = text_answer(400, "Last-Event-ID must be a number")
# nginx would otherwise hold events back until it has enough of them.
EVENT_HEADERS: Final = (
    ("content-type", EVENTS_TYPE),
    ("cache-control", "no-cache"),
    ("x-accel-buffering", "no"),
)
WRONG_METHOD = text_answer(405, "Method not allowed", ("allow", "DELETE, GET, POST"))

__all__ = [
    "ARRAY",
    "BAD_EVENT_ID",
    "BAD_NUMBER",
    "EVENT_HEADERS",
    "HAS_READER",
    "LONG_ID",
    "MISSING_CONNECTION",
    "NOT_EVENTS",
    "NOT_JSON",
    "NOT_JSON_BODY",
    "NOT_JSON_TYPE",
    "NOT_OBJECT_BODY",
    "NO_INITIALIZE_ID",
    "NO_ROOM",
    "NO_WEBSOCKET",
    "SECOND_INITIALIZE",
    "TAKEN",
    "TOO_EARLY",
    "TOO_MANY_WAIT",
    "UNKNOWN_CONNECTION",
    "WRONG_METHOD",
    "Fault",
    "HttpAnswer",
    "batch_answer",
    "error_message",
    "failed_answer",
    "fault_of",
    "gap_answer",
    "json_answer",
    "response_start",
    "text_answer",
    "without_body",
]
