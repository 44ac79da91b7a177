"""What a request is answered with: status, headers and body."""

from __future__ import annotations

from typing import Final, NamedTuple

from accord.jsonrpc.envelope import Id, json_text
from accord.jsonrpc.error_codes import INTERNAL_ERROR
from accord.transport.http.message_routes import JSON_TYPE
from accord.transport.server.asgi import Send
from accord.transport.server.message_faults import ARRAY, error_message

TEXT_TYPE: Final = "text/plain; charset=utf-8"
# The code for what the JSON-RPC server itself defines.
SERVER_ERROR: Final = -32000
GONE = 410
BAD_REQUEST = 400

Header = tuple[str, str]


class HttpAnswer(NamedTuple):
    """A response that is known before it is sent."""

    status: int
    body: bytes = b""
    content_type: str | None = None
    headers: tuple[Header, ...] = ()

    async def send(self, send: Send, more_headers: tuple[Header, ...] = ()) -> None:
        """Send the status, the headers and the body."""
        headers = [("content-length", str(len(self.body))), *self.headers, *more_headers]
        if self.content_type is not None:
            headers.append(("content-type", self.content_type))
        await send(response_start(self.status, headers))
        await send({"type": "http.response.body", "body": self.body, "more_body": False})


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


__all__ = [
    "HttpAnswer",
    "batch_answer",
    "failed_answer",
    "gap_answer",
    "json_answer",
    "response_start",
    "text_answer",
]
