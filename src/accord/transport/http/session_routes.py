"""Which session an answer belongs to, and which sessions are over, on the client's side.  Pure.

The stream of a session that was closed stays open for a while: the session may be loaded again,
and some servers lose messages when a stream is opened a second time.
"""

from typing import Final, NamedTuple

from accord.jsonrpc.envelope import Id
from accord.transport.http.message_routes import ENDING_METHODS, LOAD_METHOD, MessageKeys

# Sessions that were closed, and whose streams are still open.
CLOSED_SESSIONS_MAX: Final = 8


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


__all__ = ["Arrival", "SessionRoutes"]
