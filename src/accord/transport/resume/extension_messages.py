"""The words of the resume extension: headers, query parameters and the two notifications.

Frames with a method below `_accord/` belong to the extension; they are neither counted nor kept.
A sender writes that name without JSON escapes.
"""

from typing import Final, NamedTuple
from urllib.parse import parse_qsl, urlencode

from accord.jsonrpc.envelope import decode_envelope
from accord.schema.codec import decode, encode
from accord.schema.invalid import Invalid
from accord.schema.struct import WireStruct

# HTTP: offered by the client with `initialize`, confirmed by the server with the same header.
RESUME_HEADER: Final = "Accord-Resume"
RESUME_VERSION: Final = "1"
# HTTP: the number of a POST.
MESSAGE_HEADER: Final = "Accord-Message"
LAST_EVENT_HEADER: Final = "Last-Event-ID"

# WebSocket: query parameters of the upgrade, and the value for a first connection.
RESUME_PARAMETER: Final = "accord-resume"
RECEIVED_PARAMETER: Final = "accord-received"
NEW_CONNECTION: Final = "new"

# WebSocket: why a connection cannot be resumed, as the reason of close code 1008.
CLOSE_CODE: Final = 1008
GAP: Final = "gap"
UNKNOWN_CONNECTION: Final = "unknown connection"
# WebSocket: why a socket is closed with the same code although the connection goes on.
TAKEN_OVER: Final = "another socket has taken over this connection"

METHOD_PREFIX: Final = "_accord/"
CONNECTION_METHOD: Final = "_accord/connection"
RECEIVED_METHOD: Final = "_accord/received"
# More digits than this are not a count.
_COUNT_DIGITS_MAX = 18
_MARK: Final = b"_accord/"


class ConnectionSaid(WireStruct, frozen=True, kw_only=True):
    """The server's first frame: the connection's id, and how many of the client's frames it has."""

    connection_id: str
    received: int


class ReceivedSaid(WireStruct, frozen=True, kw_only=True):
    """How many frames the peer has handled."""

    count: int


class OtherSaid(NamedTuple):
    """A notification of the extension that this version does not know, or a malformed one."""

    method: str


class ResumeRequest(NamedTuple):
    """What an upgrade asks for; `connection_id` is None for a new connection."""

    connection_id: str | None
    received: int


Said = ConnectionSaid | ReceivedSaid | OtherSaid


def connection_frame(connection_id: str, received: int) -> bytes:
    """Name the connection, and how many of the client's frames the server has."""
    params = encode(ConnectionSaid(connection_id=connection_id, received=received))
    return b'{"jsonrpc":"2.0","method":"_accord/connection","params":%b}' % params


def received_frame(count: int) -> bytes:
    """Acknowledge the first `count` frames."""
    return b'{"jsonrpc":"2.0","method":"_accord/received","params":{"count":%d}}' % count


def read_extension_frame(frame: bytes) -> Said | None:
    """Read a frame of the extension; None for every other frame."""
    if _MARK not in frame:
        return None
    try:
        envelope = decode_envelope(frame)
    except (ValueError, RecursionError):
        return None
    method = envelope.method
    if not isinstance(method, str) or not method.startswith(METHOD_PREFIX):
        return None
    try:
        if method == CONNECTION_METHOD:
            said = decode(ConnectionSaid, envelope.params)
            return said if said.received >= 0 else OtherSaid(method)
        if method == RECEIVED_METHOD:
            return decode(ReceivedSaid, envelope.params)
    except Invalid:
        pass
    return OtherSaid(method)


def resume_query(connection_id: str | None = None, received: int = 0) -> str:
    """Return the query parameters that ask for a new connection or to come back to one."""
    if connection_id is None:
        return urlencode({RESUME_PARAMETER: NEW_CONNECTION})
    return urlencode({RESUME_PARAMETER: connection_id, RECEIVED_PARAMETER: str(received)})


def read_resume_query(query: str) -> ResumeRequest | None:
    """Read what an upgrade asks for; None for a client that does not know the extension.

    A request to come back without a valid count is one that nobody can fill: it reads as a count
    of -1.
    """
    given = dict(parse_qsl(query, keep_blank_values=True))
    connection_id = given.get(RESUME_PARAMETER)
    if connection_id is None:
        return None
    if connection_id == NEW_CONNECTION:
        return ResumeRequest(None, 0)
    count = read_count(given.get(RECEIVED_PARAMETER, ""))
    return ResumeRequest(connection_id, -1 if count is None else count)


def read_count(text: str) -> int | None:
    """Read a count or a number of the extension; None for anything else."""
    is_count = text.isascii() and text.isdecimal() and len(text) <= _COUNT_DIGITS_MAX
    return int(text) if is_count else None


__all__ = [
    "ConnectionSaid",
    "OtherSaid",
    "ReceivedSaid",
    "ResumeRequest",
    "Said",
    "connection_frame",
    "read_count",
    "read_extension_frame",
    "read_resume_query",
    "received_frame",
    "resume_query",
]
