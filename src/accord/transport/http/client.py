"""The client's transport over Streamable HTTP.

Messages go to the server as POSTs, and arrive as events: on the stream of the connection, and on
one stream for each session.  A stream is opened before anything is sent for its session.

What always holds
    * Messages are handled by the server in the order in which they were written: a POST waits for
      the answer to the one before it, or is numbered.
    * With a server that can resume (`Accord-Resume`), a lost connection is opened again, streams
      continue after the last event, and POSTs without an answer are repeated: nothing is lost,
      doubled or reordered.  What cannot be continued ends the transport, and says so.
    * A request that the server refuses fails alone; only what concerns the connection ends it.
    * No task and no wait belongs to a single message.
"""

import random
import ssl
import sys
from collections.abc import Callable, Iterable
from functools import partial
from typing import Final

import anyio
from anyio.abc import TaskGroup

from accord.jsonrpc.envelope import one_line
from accord.jsonrpc.framing import Lines
from accord.machine.redacted_logs import logger
from accord.transport.connect_errors import closed_early
from accord.transport.cookies import Cookies
from accord.transport.http.acknowledgements import Acknowledgements
from accord.transport.http.connection_headers import ConnectionHeaders
from accord.transport.http.connections.connection_pool import ConnectionPool
from accord.transport.http.connections.exchange import Answer, CollectedExchange, Headers, Loss
from accord.transport.http.connections.socket_stream import ENDED_BY_SERVER
from accord.transport.http.delivery import Delivery
from accord.transport.http.initialize_answer import Connected, read_initialize_answer
from accord.transport.http.message_routes import (
    ATTACHING_METHODS,
    EVENTS_TYPE,
    MessageKeys,
    SessionRoutes,
    may_have_id,
    read_keys,
)
from accord.transport.http.outgoing_messages import OutgoingMessage, OutgoingMessages
from accord.transport.http.refusals import (
    NOT_READY,
    SCOPES,
    STREAM_SCOPES,
    failed_request,
    reason_for,
    session_problem,
)
from accord.transport.http.server_stream import ServerStream
from accord.transport.readiness import Driver, driver_for
from accord.transport.remote_address import RemoteAddress
from accord.transport.remote_limits import RemoteLimits
from accord.transport.resume.reconnection import Reconnection
from accord.transport.transport import BACKLOG_BYTES_LOW, Ended, Receiver

_log = logger("accord.transport")

# How long a message waits for the stream of its session: a server may send the headers of a stream
# only with its first event.
STREAM_SECONDS_MAX: Final = 2.0
# How often a message is sent that the server refuses to look at.
TRIES_MAX: Final = 3
# How long closing waits until the rest is sent and the connection is deleted.
FLUSH_SECONDS_MAX: Final = 1.0

_CONFLICT: Final = 409
_REFUSED_STREAM: Final = "the stream of the session was refused"


class HttpTransport:
    """Carries the messages of a client to an agent behind a URL, and back."""

    def __init__(
        self,
        address: RemoteAddress,
        *,
        headers: Iterable[tuple[str, str]] = (),
        tls: ssl.SSLContext | None = None,
        limits: RemoteLimits | None = None,
        cookies: Cookies | None = None,
    ) -> None:
        """`headers` are those of the caller, checked; `cookies` may outlive the connection."""
        self._address = address
        self._limits = limits or RemoteLimits()
        self.error_body_bytes = self._limits.error_body_bytes
        self._headers = ConnectionHeaders(
            tuple(headers),
            cookies if cookies is not None else Cookies(),
            is_encrypted=address.is_encrypted,
        )
        self._pool = ConnectionPool(address, self._limits, tls)
        self._acknowledgements = Acknowledgements(
            self._headers, self._limits, self._pool.send, self._later
        )
        self._outgoing = OutgoingMessages()
        self._routes = SessionRoutes()
        self._streams: dict[str | None, ServerStream] = {}
        self._reconnection = Reconnection(self._limits)
        # Whether the next attempt to reconnect has yet to be made.
        self._is_waiting = False
        self._is_initializing = False
        self._resumes = False
        # The connection has checked the length of what it writes.
        self._lines = Lines(frame_bytes_max=sys.maxsize)
        self._answers = 0
        self._stall_watched = False
        self._is_ended = False
        self._is_closing = False
        self._progress = anyio.Event()
        self._receiver: Receiver | None = None
        self._delivery: Delivery | None = None
        self._driver: Driver | None = None

    @property
    def http_version(self) -> str:
        """`HTTP/2` or `HTTP/1.1`, once connected."""
        return self._pool.version

    @property
    def is_resumable(self) -> bool:
        """Whether the server continues a connection that was interrupted."""
        return self._resumes

    @property
    def backlog(self) -> int:
        """Bytes of messages that the server has not taken yet."""
        return self._outgoing.backlog

    @property
    def _timers(self) -> Driver:
        assert self._driver is not None, "the transport has not been started"
        return self._driver

    def _later(self, seconds: float, callback: Callable[[], None]) -> None:
        self._timers.later(seconds, callback)

    async def start(self, receiver: Receiver, tasks: TaskGroup) -> None:
        """Connect to the server.

        Raises:
            ConnectFailed: it cannot be reached; the message says why.
        """
        self._driver = driver_for(tasks)
        try:
            await self._pool.start(tasks)
        except BaseException:
            self._is_ended = True
            self._pool.close()
            raise
        self._receiver = receiver
        self._delivery = Delivery(receiver, self._driver)

    @property
    def _arrivals(self) -> Delivery:
        assert self._delivery is not None, "the transport has not been started"
        return self._delivery

    # ---- writing

    def write(self, data: bytes) -> None:
        """Send messages, one per line; a message may be written in parts."""
        if self._is_ended:
            return
        for frame in self._lines.feed(data):
            self._put(frame)
        self._send_next()

    def _put(self, frame: bytes) -> None:
        keys = read_keys(frame)
        if keys is None:
            if frame.strip():
                _log.warning("did not send a message that HTTP cannot carry")
        elif keys.kind == "response" and keys.id is None:
            # It is about a message that could not be read; over HTTP nobody waits for it.
            _log.warning("did not send an error about an unreadable message")
        else:
            self._outgoing.put(OutgoingMessage(frame, keys, self._routes.session_of(keys)))

    def _send_next(self) -> None:
        """Send all that may be sent now."""
        while not self._is_ended and not self._is_waiting and not self._is_initializing:
            message = self._outgoing.next()
            if message is None:
                return
            if self._headers.connection_id is None:
                if message.keys.method == "initialize":
                    self._initialize(message)
                    return
                self._outgoing.drop(message)
                self._fail(message.keys, "the first message of a connection is initialize")
            elif message.number is not None or self._is_ready(message):
                self._post(message)
            elif self._outgoing.next() is message:
                return

    def _is_ready(self, message: OutgoingMessage) -> bool:
        """Whether the stream of a message's session is open.

        A message whose stream the server refused is taken out of the queue, and fails.
        """
        if message.session_id is None:
            return True
        stream = self._stream(message.session_id)
        if message.keys.method in ATTACHING_METHODS:
            stream.refusal = None
        refusal = stream.problem or stream.refusal
        if refusal is not None:
            self._outgoing.drop(message)
            self._fail(message.keys, _REFUSED_STREAM, refusal)
            return False
        if stream.state == "closed":
            self._open(stream)
        return stream.state == "open" or stream.is_overdue

    # ---- initialize

    def _initialize(self, message: OutgoingMessage) -> None:
        self._is_initializing = True
        self._outgoing.begin(message)
        headers = self._headers.of_initialize()
        self._send_post(message, headers, self._initialized, self._initialize_lost)

    def _initialize_lost(self, message: OutgoingMessage, loss: Loss) -> None:
        if self._is_ended:
            return
        if loss.kind == "unsent" and message.tries < TRIES_MAX:
            self._is_initializing = False
            self._outgoing.repeat(message)
            self._send_next()
        else:
            is_closed = loss.reason == ENDED_BY_SERVER
            self._end(closed_early(self._address) if is_closed else loss.reason)

    def _initialized(self, message: OutgoingMessage, answer: Answer) -> None:
        if self._is_ended:
            return
        self._is_initializing = False
        self._answers += 1
        self._headers.take_cookies(answer.headers)
        self._outgoing.settle(message)
        read = read_initialize_answer(message.keys, answer, self._headers.hidden)
        if isinstance(read, str):
            self._end(read)
            return
        if read is not None:
            self._connected(read)
        self._arrivals.deliver([one_line(answer.body)])
        self._made_progress()
        self._send_next()

    def _connected(self, read: Connected) -> None:
        self._headers.connection_id = read.connection_id
        self._headers.protocol_version = read.protocol_version
        self._resumes = read.resumes
        if self._resumes:
            # Over HTTP/1.1, several at once would need as many connections.
            self._outgoing.number(is_one_by_one=self._pool.version != "HTTP/2")
        self._open(self._stream(None))

    # ---- POST

    def _post(self, message: OutgoingMessage) -> None:
        self._outgoing.begin(message)
        headers = self._headers.of_message(message.session_id, message.number)
        if message.tries == 1:
            self._routes.sent(message.keys, message.session_id)
        self._send_post(message, headers, self._posted, self._post_lost)

    def _send_post(
        self,
        message: OutgoingMessage,
        headers: Headers,
        on_answer: Callable[[OutgoingMessage, Answer], None],
        on_loss: Callable[[OutgoingMessage, Loss], None],
    ) -> None:
        is_first = self._headers.connection_id is None
        self._pool.send(
            CollectedExchange(
                "POST",
                headers,
                message.frame,
                on_answer=partial(on_answer, message),
                on_loss=partial(on_loss, message),
                body_bytes_max=self._limits.message_bytes if is_first else self.error_body_bytes,
                is_repeatable=message.number is not None,
            )
        )
        self._watch_stall()

    def _posted(self, message: OutgoingMessage, answer: Answer) -> None:
        if self._is_ended:
            return
        self._headers.take_cookies(answer.headers)
        self._answers += 1
        if self._resumes and answer.status in NOT_READY:
            self._outgoing.repeat(message)
            self._recover(f"the server is not ready (status {answer.status})")
            return
        self._reconnection.progressed()
        self._check_restored()
        self._outgoing.settle(message)
        if not 200 <= answer.status < 300:
            self._post_refused(message, answer)
        self._made_progress()
        self._send_next()

    def _post_refused(self, message: OutgoingMessage, answer: Answer) -> None:
        keys, session_id = message.keys, message.session_id
        scope = SCOPES.get(answer.status, "request")
        is_open = session_id is None or self._routes.failed(keys)
        if scope == "session" and session_id is not None:
            self._refuse_session(self._stream(session_id), answer)
            self._fail(keys, "the server refused the session", answer)
        elif scope == "connection" or keys.kind != "request":
            self._end(reason_for(answer, self._headers.hidden))
        elif is_open:
            self._fail(keys, f"the server refused the request (status {answer.status})", answer)

    def _post_lost(self, message: OutgoingMessage, loss: Loss) -> None:
        if self._is_ended:
            return
        if self._resumes:
            self._outgoing.repeat(message)
            self._recover(loss.reason)
        elif loss.kind == "unsent" and message.tries < TRIES_MAX:
            self._outgoing.repeat(message)
            self._send_next()
        elif loss.kind != "network" and message.keys.kind == "request":
            self._outgoing.settle(message)
            self._routes.failed(message.keys)
            self._fail(message.keys, loss.reason)
            self._made_progress()
            self._send_next()
        else:
            self._end(loss.reason)

    def _fail(self, keys: MessageKeys, reason: str, answer: Answer | None = None) -> None:
        """Answer a request of ours that cannot be delivered; other messages are dropped."""
        if keys.kind == "request":
            hidden = self._headers.hidden
            self._arrivals.deliver_soon(failed_request(self._address, keys, reason, answer, hidden))
        else:
            _log.warning("%s was not delivered: %s", keys.method or "an answer", reason)

    def _watch_stall(self) -> None:
        if not self._stall_watched:
            self._stall_watched = True
            check = partial(self._check_stall, self._answers)
            self._timers.later(self._limits.stall_seconds, check)

    def _check_stall(self, answers: int) -> None:
        self._stall_watched = False
        if self._is_ended or not self._outgoing.is_on_the_way:
            return
        # While nothing is read, or there is no connection, the server is not to blame.
        is_excused = self._arrivals.is_paused or self._reconnection.lost_at is not None
        if answers == self._answers and not is_excused:
            seconds = f"{self._limits.stall_seconds:g} s (stall_seconds)"
            self._end(f"the server did not answer for {seconds}")
        else:
            self._watch_stall()

    # ---- streams

    def _stream(self, session_id: str | None) -> ServerStream:
        stream = self._streams.get(session_id)
        if stream is not None:
            return stream
        bytes_max = self._limits.message_bytes
        stream = ServerStream(self, session_id, event_bytes_max=bytes_max, numbered=self._resumes)
        if session_id is not None:
            stream.problem = session_problem(session_id, len(self._streams), self._limits)
        if stream.problem is None:
            self._streams[session_id] = stream
        return stream

    def _open(self, stream: ServerStream) -> None:
        headers = self._headers.of(stream.session_id, ("accept", EVENTS_TYPE))
        self._pool.send(stream.begin(headers))
        self._timers.later(STREAM_SECONDS_MAX, self._check_streams)

    def _check_streams(self) -> None:
        """Let messages go on whose streams the server has not opened after a while."""
        if self._is_ended:
            return
        for stream in self._streams.values():
            if stream.state == "opening":
                stream.is_overdue = True
        self._send_next()

    def stream_opened(self, stream: ServerStream, headers: Headers) -> None:
        """Take notice that the server has opened a stream."""
        self._headers.take_cookies(headers)
        self._check_restored()
        self._send_next()

    def _check_restored(self) -> None:
        """End the time of grace if every stream is there, and messages are answered."""
        if all(one.state in ("open", "closed") for one in self._streams.values()):
            self._reconnection.restored()

    def stream_refused(self, stream: ServerStream, answer: Answer) -> None:
        """Take notice that the server does not open a stream."""
        if self._is_ended:
            return
        self._headers.take_cookies(answer.headers)
        is_temporary = answer.status in NOT_READY or (
            # The server may not have noticed yet that the request before this one is gone.
            answer.status == _CONFLICT and stream.is_repeated
        )
        if self._resumes and is_temporary:
            stream.state = "lost"
            self._recover(f"the server is not ready (status {answer.status})")
        elif stream.session_id is None or STREAM_SCOPES.get(answer.status) == "connection":
            self._end(reason_for(answer, self._headers.hidden))
        else:
            self._refuse_session(stream, answer)
            self._send_next()

    def _refuse_session(self, stream: ServerStream, answer: Answer) -> None:
        """Fail what is open in a session, and what is sent later, until it is attached again."""
        stream.refusal = answer
        self._close_stream(stream)
        self._fail_requests(stream, _REFUSED_STREAM, answer)

    def _close_stream(self, stream: ServerStream) -> None:
        if stream.request is not None:
            self._pool.cancel(stream.request)
        stream.state = "closed"
        stream.is_overdue = False

    def _fail_requests(
        self, stream: ServerStream, reason: str, answer: Answer | None = None
    ) -> None:
        for keys in self._routes.take_requests(stream.session_id):
            self._fail(keys, reason, answer)

    def stream_lost(self, stream: ServerStream, loss: Loss) -> None:
        """Take notice that a stream has ended, or was interrupted."""
        if self._is_ended:
            return
        if self._routes.is_closed(stream.session_id) and loss.kind != "network":
            stream.state = "closed"
        elif self._resumes:
            stream.state = "lost"
            self._recover(loss.reason)
        elif stream.session_id is None or loss.kind == "network":
            self._end(loss.reason)
        else:
            stream.state = "closed"
            self._fail_requests(stream, f"the stream of the session ended: {loss.reason}")
            self._send_next()

    def stream_failed(self, stream: ServerStream, reason: str) -> None:
        """Take notice that a stream cannot go on: it has a hole, or too long an event."""
        self._end(reason)

    def messages_received(self, stream: ServerStream, frames: list[bytes]) -> None:
        """Hand on messages, and remember what their answers need."""
        self._reconnection.progressed()
        if stream.last_id is not None:
            size = sum(map(len, frames))
            self._acknowledgements.received(stream.session_id, stream.last_id, size)
        ended: list[str] = []
        later: list[bytes] = []
        for frame in frames:
            keys = read_keys(frame) if may_have_id(frame) else None
            if keys is None:
                continue
            arrival = self._routes.received(keys, stream.session_id)
            if arrival.ended is not None:
                ended.append(arrival.ended)
            if arrival.opened is not None:
                opened = self._stream(arrival.opened)
                if opened.state == "closed" and not (opened.refusal or opened.problem):
                    self._open(opened)
            if arrival.loaded is not None:
                later.append(frame)
                self._arrivals.deliver_after_history(frame, self._stream(arrival.loaded))
        self._arrivals.deliver([one for one in frames if one not in later] if later else frames)
        for session_id in ended:
            closed = self._streams.pop(session_id, None)
            if closed is not None:
                self._close_stream(closed)

    # ---- reading

    def pause(self) -> None:
        self._arrivals.pause()
        self._pool.pause()

    def resume(self) -> None:
        self._arrivals.resume()
        self._pool.resume()

    # ---- interruptions

    def _recover(self, reason: str) -> None:
        """Try again: at once, then after a growing delay, until the grace time is over."""
        if self._is_waiting or self._is_ended:
            return
        if self._is_closing:
            self._end(reason)
            return
        if self._reconnection.lost_at is None:
            self._timers.later(self._limits.grace_seconds, self._check_grace)
        delay = self._reconnection.delay(anyio.current_time(), random.random(), reason)
        if delay is None:
            self._give_up()
            return
        if (notice := self._reconnection.notice(self._address)) is not None:
            _log.warning("%s", notice)
        self._is_waiting = True
        self._timers.later(delay, self._retry)

    def _retry(self) -> None:
        self._is_waiting = False
        if self._is_ended:
            return
        for stream in list(self._streams.values()):
            if stream.state == "lost":
                self._open(stream)
        self._send_next()

    def _check_grace(self) -> None:
        if not self._is_ended and self._reconnection.is_over(anyio.current_time()):
            self._give_up()

    def _give_up(self) -> None:
        seconds, reason = self._limits.grace_seconds, self._reconnection.reason
        self._end(f"it was not restored within {seconds:g} s: {reason}")

    # ---- the end

    def _made_progress(self) -> None:
        self._progress.set()
        self._progress = anyio.Event()

    async def drain(self) -> None:
        """Wait until the server has taken most messages, or the transport has ended."""
        while self.backlog > BACKLOG_BYTES_LOW and not self._is_ended:
            await self._progress.wait()

    def _end(self, reason: str) -> None:
        if self._is_ended:
            return
        self._is_ended = True
        self._outgoing.clear()
        self._pool.close()
        self._made_progress()
        if self._driver is not None:
            self._driver.close()
        if self._delivery is not None:
            self._delivery.end()
        if self._receiver is not None:
            # A server may close first when it is told to.
            why = Ended("closed here", clean=True)
            if not self._is_closing:
                is_new = self._headers.connection_id is None
                what = "cannot connect to {}" if is_new else "the connection to {} is lost"
                why = Ended(f"{what.format(self._address)}: {reason}")
            self._receiver.ended(why)

    async def aclose(self) -> None:
        """Send the rest, delete the connection on the server, and close.  May be called again."""
        self._is_closing = True
        if not self._is_ended and self._receiver is not None:
            with anyio.move_on_after(FLUSH_SECONDS_MAX, shield=True):
                while not self._outgoing.is_empty and self._is_connected:
                    await self._progress.wait()
                if self._headers.connection_id is not None and self._is_connected:
                    await self._delete()
        self._end("closed here")

    @property
    def _is_connected(self) -> bool:
        return not self._is_ended and self._reconnection.lost_at is None

    async def _delete(self) -> None:
        answered = anyio.Event()
        self._pool.send(
            CollectedExchange(
                "DELETE",
                self._headers.of(None),
                b"",
                on_answer=lambda _: answered.set(),
                on_loss=lambda _: answered.set(),
                body_bytes_max=0,
            )
        )
        await answered.wait()


__all__ = ["HttpTransport"]
