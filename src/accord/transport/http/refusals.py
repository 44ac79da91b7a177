"""What a server's refusal means for a client: the status codes as a table, and in words.  Pure."""

from typing import Final, Literal

from accord.jsonrpc.envelope import error_frame
from accord.jsonrpc.error_codes import INTERNAL_ERROR
from accord.schema.codec import encode
from accord.transport.connect_errors import status_reason
from accord.transport.http.connections.exchange import Answer
from accord.transport.http.message_routes import MessageKeys
from accord.transport.remote_address import RemoteAddress
from accord.transport.remote_limits import RemoteLimits
from accord.transport.request_headers import HiddenValues, fits_header
from accord.transport.resume.reconnection import GAP_REASON

Scope = Literal["connection", "session", "request"]

SCOPES: Final[dict[int, Scope]] = {
    401: "connection",
    403: "connection",
    404: "connection",
    409: "session",
    410: "connection",
}
"""What a refused POST ends; every other status ends the request alone."""

STREAM_SCOPES: Final[dict[int, Scope]] = {401: "connection", 403: "connection", 410: "connection"}
"""What a refused stream of a session ends; every other status ends the session alone."""

NOT_READY: Final = frozenset({502, 503, 504})
"""What a server or a gateway says that may be ready later."""

_GONE: Final = frozenset({404, 410})


def session_problem(session_id: str, count: int, limits: RemoteLimits) -> Answer | None:
    """Refuse a session here that no request can name, or that is one too many.

    `count` is how many sessions have a stream already.
    """
    if len(session_id) > limits.id_chars or not fits_header(session_id):
        return Answer(400, [], b"HTTP cannot carry the id of this session in a header")
    if count >= limits.session_streams:
        return Answer(429, [], b"this client has no more room for sessions (session_streams)")
    return None


def reason_for(answer: Answer, hidden: HiddenValues) -> str:
    """Explain a refusal that ends the connection."""
    if answer.status == 410 and b'"gap"' in answer.body:
        return GAP_REASON
    if answer.status in _GONE:
        return (
            f"the server no longer has this connection (status {answer.status}); open a new one"
            " and continue the session with session/load"
        )
    return initialize_reason(answer, hidden)


def initialize_reason(answer: Answer, hidden: HiddenValues) -> str:
    """Explain a refusal of the first request."""
    body, location = answer.body.decode("utf-8", "replace"), answer.header("location")
    return status_reason(answer.status, hidden, location=location, body=body)


def failed_request(
    address: RemoteAddress,
    keys: MessageKeys,
    reason: str,
    answer: Answer | None,
    hidden: HiddenValues,
) -> bytes:
    """Return the answer to a request of ours that could not be delivered."""
    data = None
    if answer is not None:
        body = hidden.hide(answer.body.decode("utf-8", "replace"))
        data = encode({"status": answer.status, "body": body})
    return error_frame(keys.id, INTERNAL_ERROR, f"{address}: {reason}", data)


__all__ = [
    "NOT_READY",
    "SCOPES",
    "STREAM_SCOPES",
    "Scope",
    "failed_request",
    "initialize_reason",
    "reason_for",
    "session_problem",
]
