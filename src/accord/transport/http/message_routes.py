"""Which stream and which headers a message goes with, and which sessions are over.  Pure.

A message of a session travels with that session's id in a header, and on that session's stream;
every other message belongs to the connection.  An answer goes the way of its request.

On the client's side the stream of a session that was closed stays open for a while: the session may
be loaded again, and some servers lose messages when a stream is opened a second time.
"""

import json
from typing import Final, Literal, NamedTuple

from accord.jsonrpc.envelope import Id, decode_envelope
from accord.schema.codec import decode
from accord.schema.invalid import Invalid
from accord.schema.struct import UNSET, BareStruct, E, Omit

# Sessions that were closed, and whose streams are still open.
CLOSED_SESSIONS_MAX: Final = 8
CONNECTION_HEADER: Final = "acp-connection-id"
SESSION_HEADER: Final = "acp-session-id"
VERSION_HEADER: Final = "acp-protocol-version"
JSON_TYPE: Final = "application/json"
EVENTS_TYPE: Final = "text/event-stream"

SESSION_METHODS: Final = frozenset(
    {
        "session/cancel",
        "session/close",
        "session/delete",
        "session/fork",
        "session/load",
        "session/prompt",
        "session/resume",
        "session/set_config_option",
        "session/set_mode",
        "session/set_model",
    }
)
"""Methods of a session that exists: each needs the header, even without `params.sessionId`."""

LOAD_METHOD: Final = "session/load"

ATTACHING_METHODS: Final = frozenset({LOAD_METHOD, "session/resume"})
"""Methods that attach a session to the connection, also after its stream has failed."""

ENDING_METHODS: Final = frozenset({"session/close", "session/delete"})
"""Methods after which nothing more arrives for the session."""


Kind = Literal["request", "notification", "response"]


class MessageKeys(NamedTuple):
    """What routing has to know of a message.

    `session_id` is the one in the params of a request or notification, and for a response the one
    in its result.
    """

    kind: Kind
    id: Id
    method: str
    session_id: str | None
    is_error: bool = False


class _Keys(BareStruct, frozen=True, kw_only=True):
    session_id: E[Omit[str]] = UNSET


class _InitializeKeys(BareStruct, frozen=True, kw_only=True):
    protocol_version: E[Omit[int]] = UNSET
    connection_id: E[Omit[str]] = UNSET


def read_keys(frame: bytes) -> MessageKeys | None:
    """Read the keys of a message; None if it is not a JSON object, or not a message at all."""
    try:
        envelope = decode_envelope(frame)
    except (ValueError, RecursionError):
        return _read_odd_keys(frame)
    method = envelope.method
    if isinstance(method, str):
        session_id = _session_of(envelope.params)
        if envelope.id is UNSET:
            return MessageKeys("notification", None, method, session_id)
        return MessageKeys("request", envelope.id, method, session_id)
    if envelope.id is UNSET:
        return None
    if envelope.result:
        return MessageKeys("response", envelope.id, "", _session_of(envelope.result))
    return MessageKeys("response", envelope.id, "", None, is_error=True)


def _session_of(members: bytes) -> str | None:
    try:
        session_id = decode(_Keys, members).session_id
    except Invalid:
        return None
    return session_id or None


def _read_odd_keys(frame: bytes) -> MessageKeys | None:
    """Read a message with an unusual id, or with half of a surrogate pair in it."""
    try:
        message = json.loads(frame)
    except (ValueError, RecursionError):
        return None
    if not isinstance(message, dict):
        return None
    message_id, method = message.get("id"), message.get("method")
    if not isinstance(message_id, int | str) or isinstance(message_id, bool):
        message_id = None
    holder = message.get("params" if isinstance(method, str) else "result")
    session_id = holder.get("sessionId") if isinstance(holder, dict) else None
    if not isinstance(session_id, str) or not session_id:
        session_id = None
    if isinstance(method, str):
        kind: Kind = "request" if "id" in message else "notification"
        return MessageKeys(kind, message_id, method, session_id)
    if "id" not in message:
        return None
    return MessageKeys("response", message_id, "", session_id, is_error="error" in message)


def may_have_id(data: bytes) -> bool:
    """Whether a message in these bytes may be more than a notification: a quick first look.

    A key may be written with escapes.
    """
    return b'"id"' in data or b"\\u00" in data


def is_object(data: bytes) -> bool:
    """Whether this text can only be a JSON object."""
    return data.lstrip(b" \t\r\n").startswith(b"{")


def answer_session(method: str, session_id: str | None) -> str | None:
    """Return the session on whose stream the answer to a client's request is sent.

    None is the connection's stream: there `session/load` is answered too, although it has the
    header of its session.
    """
    return None if method == LOAD_METHOD else session_id


def read_initialize_result(frame: bytes) -> tuple[str | None, int | None]:
    """Read the connection's id and the version from the answer to `initialize`, if it has them."""
    try:
        keys = decode(_InitializeKeys, decode_envelope(frame).result)
    except (Invalid, ValueError, RecursionError):
        return None, None
    version = keys.protocol_version
    return keys.connection_id or None, version if isinstance(version, int) else None


class Arrival(NamedTuple):
    """What a message that arrived means for the streams."""

    # A session that the server knows from now on.
    opened: str | None = None
    # A session whose stream nobody needs any more.
    ended: str | None = None
    # A session whose history was sent on another stream than this answer.
    loaded: str | None = None


_NOTHING = Arrival()


class SessionRoutes:
    """Remembers the sessions of open requests, the server's and ours."""

    def __init__(self) -> None:
        # Of the server's requests, whose answers carry the header of the session.
        self._answers: dict[Id, str] = {}
        # Of our requests: the session and the method.
        self._requests: dict[Id, tuple[str, str]] = {}
        # Sessions that were closed, the oldest first.
        self._closed: dict[str, None] = {}

    def is_closed(self, session_id: str | None) -> bool:
        """Whether a session was closed, and nothing was sent for it since."""
        return session_id in self._closed

    def session_of(self, keys: MessageKeys) -> str | None:
        """Return the session with whose header a message is sent; an answer is forgotten."""
        if keys.kind == "response":
            return self._answers.pop(keys.id, None)
        return keys.session_id

    def sent(self, keys: MessageKeys, session_id: str | None) -> None:
        """Remember a message that goes out, if it is a request of a session."""
        if session_id is not None:
            self._closed.pop(session_id, None)
        if keys.kind == "request" and session_id is not None:
            self._requests[keys.id] = (session_id, keys.method)

    def failed(self, keys: MessageKeys) -> bool:
        """Forget a request of a session; False if it was answered before."""
        return self._requests.pop(keys.id, None) is not None

    def received(self, keys: MessageKeys, stream_session: str | None) -> Arrival:
        """Take note of a request or an answer on the stream of a session, or of the connection."""
        if keys.kind == "request":
            if stream_session is not None:
                self._answers[keys.id] = stream_session
            return _NOTHING
        if keys.kind == "notification":
            return _NOTHING
        session_id, method = self._requests.pop(keys.id, (None, ""))
        if method in ENDING_METHODS and not keys.is_error and session_id is not None:
            self._closed[session_id] = None
            if len(self._closed) <= CLOSED_SESSIONS_MAX:
                return _NOTHING
            oldest = next(iter(self._closed))
            del self._closed[oldest]
            return Arrival(ended=oldest)
        is_load = method == LOAD_METHOD and session_id != stream_session
        return Arrival(opened=keys.session_id, loaded=session_id if is_load else None)

    def take_requests(self, session_id: str | None) -> list[MessageKeys]:
        """Forget all open requests of a session, and return them."""
        found = [
            MessageKeys("request", request_id, method, session_id)
            for request_id, (owner, method) in self._requests.items()
            if owner == session_id
        ]
        for keys in found:
            del self._requests[keys.id]
        return found


__all__ = [
    "ATTACHING_METHODS",
    "CONNECTION_HEADER",
    "ENDING_METHODS",
    "EVENTS_TYPE",
    "JSON_TYPE",
    "LOAD_METHOD",
    "SESSION_HEADER",
    "SESSION_METHODS",
    "VERSION_HEADER",
    "Arrival",
    "MessageKeys",
    "SessionRoutes",
    "answer_session",
    "is_object",
    "may_have_id",
    "read_initialize_result",
    "read_keys",
]
