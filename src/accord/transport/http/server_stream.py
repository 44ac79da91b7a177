"""One stream of events from the server, over as many requests as it takes.

What always holds
    * With a server that numbers its events, each is handed on once and in order.  A hole in the
      numbers is reported, never passed over.
    * Half an event, from a request that was cut, is dropped with that request.
"""

from typing import Final, Literal, Protocol

from accord.jsonrpc.envelope import one_line
from accord.machine.redacted_logs import logger
from accord.transport.http.connections.exchange import Answer, Exchange, Headers, Loss
from accord.transport.http.event_stream import EventReader, EventTooLong
from accord.transport.http.message_routes import EVENTS_TYPE, is_object
from accord.transport.resume.extension_messages import LAST_EVENT_HEADER, read_count
from accord.transport.resume.reconnection import GAP_REASON

_log = logger("accord.transport")

OK: Final = 200

State = Literal["closed", "opening", "open", "lost"]


class StreamOwner(Protocol):
    """What a stream tells its transport."""

    # How much is kept of the body of a refusal.
    error_body_bytes: int

    def stream_opened(self, stream: "ServerStream", headers: Headers) -> None: ...
    def stream_refused(self, stream: "ServerStream", answer: Answer) -> None: ...
    def stream_lost(self, stream: "ServerStream", loss: Loss) -> None: ...
    def stream_failed(self, stream: "ServerStream", reason: str) -> None: ...
    def messages_received(self, stream: "ServerStream", frames: list[bytes]) -> None: ...


class ServerStream:
    """The stream of a session, or of the connection if `session_id` is None."""

    def __init__(
        self, owner: StreamOwner, session_id: str | None, *, event_bytes_max: int, numbered: bool
    ) -> None:
        self.owner = owner
        self.session_id = session_id
        self.state: State = "closed"
        # Whether messages go on although the server has not answered the request yet.
        self.is_overdue = False
        # Whether an earlier request for it was made.
        self.is_repeated = False
        # Why it can never be opened.
        self.problem: Answer | None = None
        # Why the server refused it; until the session is attached again.
        self.refusal: Answer | None = None
        self.numbered = numbered
        self.has_comments = False
        self.event_count = 0
        self._event_bytes_max = event_bytes_max
        # The number of the last event that was handed on.  None lets the server choose where to
        # begin, which only a first request does.
        self.last_id: int | None = None
        self.request: StreamRequest | None = None

    def begin(self, headers: Headers) -> "StreamRequest":
        """Return the next request, which continues after the last event."""
        self.state = "opening"
        self.is_repeated = self.request is not None
        if self.numbered and self.is_repeated:
            self.last_id = self.last_id or 0
            headers = [*headers, (LAST_EVENT_HEADER.lower(), str(self.last_id))]
        reader = EventReader(event_bytes_max=self._event_bytes_max)
        self.request = StreamRequest(self, headers, reader)
        return self.request

    def opened(self, headers: Headers) -> None:
        """Take notice that the server has opened it."""
        self.state = "open"
        self.owner.stream_opened(self, headers)

    def take(self, reader: EventReader, data: bytes) -> None:
        """Hand on the messages in these bytes."""
        try:
            events = reader.feed(data)
        except EventTooLong as error:
            self.owner.stream_failed(self, str(error))
            return
        self.has_comments = self.has_comments or reader.has_comments
        frames: list[bytes] = []
        gap: tuple[int, int] | None = None
        for event in events:
            if self.numbered and event.id is not None:
                number = read_count(event.id.decode("latin-1"))
                last = self.last_id
                if number is not None and last is not None:
                    if number <= last:
                        continue
                    if number != last + 1:
                        gap = (last, number)
                        break
                self.last_id = last if number is None else number
            if is_object(event.data):
                frames.append(one_line(event.data))
            else:
                _log.warning("skipped an event that is not a JSON object")
        if frames:
            self.event_count += len(frames)
            self.owner.messages_received(self, frames)
        if gap is not None:
            _log.warning("event %d follows event %d", gap[1], gap[0])
            self.owner.stream_failed(self, GAP_REASON)


class StreamRequest(Exchange):
    """One GET of a stream."""

    is_stream = True

    def __init__(self, stream: ServerStream, headers: Headers, reader: EventReader) -> None:
        super().__init__("GET", headers)
        self.is_resumable = stream.numbered
        self._stream = stream
        self._reader = reader
        self._refusal: tuple[int, Headers] | None = None
        self._body = b""

    @property
    def expects_signs(self) -> bool:  # type: ignore[override]
        return self._stream.numbered or self._stream.has_comments

    def answered(self, status: int, headers: Headers) -> None:
        kinds = [value for name, value in headers if name == "content-type"]
        if status == OK and kinds and kinds[0].lower().startswith(EVENTS_TYPE):
            self._stream.opened(headers)
        else:
            self._refusal = (status, headers)

    def data_received(self, data: bytes) -> None:
        if self._refusal is None:
            self._stream.take(self._reader, data)
        elif len(self._body) < self._stream.owner.error_body_bytes:
            self._body += data[: self._stream.owner.error_body_bytes]

    def ended(self) -> None:
        if self._refusal is None:
            self._stream.owner.stream_lost(self._stream, Loss("the server ended it", "reset"))
        else:
            self._stream.owner.stream_refused(self._stream, Answer(*self._refusal, self._body))

    def lost(self, loss: Loss) -> None:
        self._stream.owner.stream_lost(self._stream, loss)


__all__ = ["ServerStream", "StreamOwner", "StreamRequest"]
