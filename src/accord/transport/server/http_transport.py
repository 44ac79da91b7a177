"""One client's HTTP connection: its POSTs in order, and the streams that answer them.

What always holds
    * An answer goes to the stream of the header that its request came with, and that of
      `initialize` to the body of its POST.  A client that cannot resume gets the answer to
      `session/load` on the connection's stream.
    * Whatever else names a session goes to the session's stream.  A client that attaches a session
      without the header has no such stream yet, and gets its history on the connection's.
    * Numbered POSTs are handled once each, and in order.
    * POSTs that wait, for the client to read its streams or for the agent, hold `backlog_bytes`.
"""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Generator
from contextlib import contextmanager
from typing import NamedTuple

from accord.errors import ConnectionLost
from accord.jsonrpc.envelope import Id, json_text
from accord.transport.http.message_routes import MessageKeys, answer_session, read_keys
from accord.transport.remote_limits import RemoteLimits
from accord.transport.resume.message_order import MessageOrder
from accord.transport.server.outgoing_stream import OutgoingStream, StreamReader
from accord.transport.server.server_transport import ServerTransport

# So many open requests of either side are remembered with their stream; fewer may be open.
_OPEN_MAX = 4096

# Counted for each message that waits besides its bytes, so that small ones have a bound too.
_WAITING_OVERHEAD_BYTES = 4096

HEADER_METHODS = frozenset(
    {
        "session/cancel",
        "session/close",
        "session/prompt",
        "session/set_config_option",
        "session/set_mode",
    }
)
"""Methods that every client sends with the header of their session."""


class Message(NamedTuple):
    """A message of the client, and the session of its header."""

    frame: bytes
    keys: MessageKeys | None
    session_header: str | None

    @property
    def needs_answer(self) -> bool:
        """Whether the agent says something for it."""
        return self.keys is None or self.keys.kind == "request"


class _Answer(NamedTuple):
    """Where a request is answered: on which stream, and after what is in another one."""

    session_id: str | None
    after: str | None = None


class HttpServerTransport(ServerTransport):
    """The streams of one connection, and which message goes to which."""

    def __init__(
        self, connection_id: str, principal: str, limits: RemoteLimits, *, resumes: bool
    ) -> None:
        super().__init__(connection_id, principal, limits)
        self.resumes = resumes
        self._kept_bytes_max = limits.kept_bytes if resumes else 0
        # Whether sending waits for acknowledgements rather than drop what may be asked for again.
        # With less room than is acknowledged at once, it would wait after every few messages.
        self._waits = resumes and limits.kept_bytes >= 2 * limits.acknowledge_bytes
        self._streams: dict[str | None, OutgoingStream] = {}
        self._unsent_bytes = 0
        self._kept_bytes = 0
        self._readers = 0
        # The client's open requests, and the session on whose stream each is answered.
        self._answers: dict[Id, _Answer] = {}
        # The agent's open requests that went to the stream of a session.
        self._asked: dict[Id, str] = {}
        # Sessions whose history goes to the connection's stream, by the request that asked for it.
        self._attaching: dict[Id, str] = {}
        self._order: MessageOrder[Message | None] | None = None
        self._early: asyncio.TimerHandle | None = None
        self._initialized: tuple[Id, asyncio.Future[bytes]] | None = None
        # Updates of the same session follow each other: how they begin, and their stream.
        self._usual: tuple[bytes, OutgoingStream] | None = None
        self._room: asyncio.Event | None = None
        self._waiting_bytes = 0
        if resumes:
            self._order = MessageOrder(limits)

    # ---- messages of the client

    def initialize(self, frame: bytes, keys: MessageKeys) -> asyncio.Future[bytes]:
        """Hand over the first message; the future gets its answer."""
        answer: asyncio.Future[bytes] = asyncio.get_running_loop().create_future()
        self._initialized = (keys.id, answer)
        self.deliver(frame)
        return answer

    def header_problem(self, message: Message) -> str | None:
        """Say what is wrong with the session header of a message; None if nothing is.

        The official Python SDK sends the header neither with its answers nor with the methods
        that attach a session, so that only a wrong one is refused there.
        """
        keys, header = message.keys, message.session_header
        if keys is None:
            return None
        wanted = self._asked.get(keys.id) if keys.kind == "response" else keys.session_id
        if header is None:
            return "Missing Acp-Session-Id" if keys.method in HEADER_METHODS else None
        if wanted is not None and wanted != header:
            return "Mismatched Acp-Session-Id"
        return None

    async def accept(self, message: Message) -> bool:
        """Hand over a message, as soon as the connection reads and its answer has room.

        Returns False if too many others wait for that already.
        """
        with self._waiting(len(message.frame)) as may_wait:
            if may_wait:
                if message.needs_answer:
                    await self.drain()
                self._hand_over(message)
                await self._read()
            return may_wait

    @contextmanager
    def _waiting(self, size: int) -> Generator[bool]:
        """Count a message of this size as one that waits; False if it may not."""
        size += _WAITING_OVERHEAD_BYTES
        waiting = self._waiting_bytes
        if waiting and waiting + size > self.limits.backlog_bytes:
            yield False
            return
        self._waiting_bytes += size
        try:
            yield True
        finally:
            self._waiting_bytes -= size

    async def accept_numbered(self, number: int, message: Message | None, size: int) -> bool:
        """Take a numbered POST, in its turn; one that was refused takes its number too.

        Returns False if there is no room for it: it may come again.
        """
        with self._waiting(size) as may_wait:
            return may_wait and await self._accept_numbered(number, message, size)

    async def _accept_numbered(self, number: int, message: Message | None, size: int) -> bool:
        assert self._order is not None
        if message is not None and message.needs_answer:
            await self.drain()
        if self._order.offer(number, message, size) == "refused":
            return False
        before = self._order.count
        while True:
            count = self._order.count
            ready = self._order.ready()
            if self._order.count == count:
                break
            if ready is not None:
                self._hand_over(ready)
        self._watch_early(moved=self._order.count != before)
        await self._read()
        return True

    def _watch_early(self, *, moved: bool) -> None:
        """End a connection whose missing message does not come."""
        assert self._order is not None
        if self._early is not None and (moved or not self._order.is_waiting):
            self._early.cancel()
            self._early = None
        if self._early is None and self._order.is_waiting:
            self._early = self.call_later(self._early_seconds_max, self._early_is_over)

    @property
    def _early_seconds_max(self) -> float:
        """How long a missing message is waited for.

        A client on a dead connection, which still looks alive here, notices it only after
        `silence_seconds`, and then has `grace_seconds` to come back with the message.
        """
        limits = self.limits
        return limits.silence_seconds + limits.grace_seconds + limits.early_seconds

    def _early_is_over(self) -> None:
        assert self._order is not None
        missing, seconds = self._order.count + 1, self._early_seconds_max
        self.lose(f"message {missing} did not come within {seconds:g} s (early_seconds)")

    async def _read(self) -> None:
        """Wait until the connection has taken every message."""
        while not self.is_over and not self.is_reading:
            if self._room is None:
                self._room = asyncio.Event()
            await self._room.wait()

    def reading_again(self) -> None:
        if self._room is not None:
            self._room.set()
            self._room = None

    def _hand_over(self, message: Message) -> None:
        frame, keys, header = message
        if keys is not None and keys.kind == "request":
            if len(self._answers) >= _OPEN_MAX:
                # Answered without its id, or never: what is not a request in full.
                del self._answers[next(iter(self._answers))]
            # On the stream of its session, the answer to `session/load` cannot overtake the
            # history that it completes, whatever is cut; a client that resumes expects it there.
            answered = header if self.resumes else answer_session(keys.method, header)
            # Elsewhere it waits until the history has been sent.
            after = header if answered is None else None
            self._answers[keys.id] = _Answer(answered, after)
            if header is None and keys.session_id is not None:
                self._attaching[keys.id] = keys.session_id
                self._usual = None
        elif keys is not None and keys.kind == "response":
            self._asked.pop(keys.id, None)
        self.deliver(frame)

    # ---- messages of the agent

    @property
    def unsent_bytes(self) -> int:
        return self._unsent_bytes

    def send_frame(self, frame: bytes) -> None:
        usual = self._usual
        if usual is not None and frame.startswith(usual[0]):
            self._unsent_bytes += len(frame)
            usual[1].append(frame)
            return
        keys = read_keys(frame)
        if keys is not None and keys.kind == "response":
            self._send_answer(frame, keys.id)
            return
        stream = self._send_on(self._route(keys), frame)
        if stream is not None and keys is not None and keys.session_id is not None:
            self._remember_usual(frame, keys, stream)

    def _send_answer(self, frame: bytes, answered: Id) -> None:
        if self._is_first_answer(answered, frame):
            return
        if self._attaching.pop(answered, None) is not None:
            self._usual = None
        session_id, after = self._answers.pop(answered, _Answer(None))
        history = None if after is None else self._streams.get(after)
        if history is not None:
            history.afterwards(lambda: self._send_on(session_id, frame))
        else:
            self._send_on(session_id, frame)

    def _send_on(self, session_id: str | None, frame: bytes) -> OutgoingStream | None:
        stream = self.stream(session_id)
        if stream is None:
            streams = f"{self.limits.session_streams} (session_streams)"
            self.lose(f"the client reads none of the streams of {streams} sessions")
            return None
        self._unsent_bytes += len(frame)
        stream.append(frame)
        return stream

    def _is_first_answer(self, answered: Id, frame: bytes) -> bool:
        if self._initialized is None or answered != self._initialized[0]:
            return False
        answer = self._initialized[1]
        self._initialized = None
        if not answer.done():
            answer.set_result(frame)
        return True

    def _route(self, keys: MessageKeys | None) -> str | None:
        """Return the session on whose stream a message goes; None is the connection's."""
        if keys is None:
            return None
        session_id = keys.session_id
        if session_id is None or self._is_attached_here(session_id):
            return None
        if keys.kind == "request" and len(self._asked) < _OPEN_MAX:
            self._asked[keys.id] = session_id
        return session_id

    def _is_attached_here(self, session_id: str) -> bool:
        if session_id not in self._attaching.values():
            return False
        stream = self._streams.get(session_id)
        return stream is None or stream.reader is None

    def _remember_usual(self, frame: bytes, keys: MessageKeys, stream: OutgoingStream) -> None:
        head = b'{"jsonrpc":"2.0","method":%b,"params":{"sessionId":%b,' % (
            json_text(keys.method),
            json_text(keys.session_id or ""),
        )
        if frame.startswith(head):
            self._usual = (head, stream)

    def stream(self, session_id: str | None) -> OutgoingStream | None:
        """Return a stream, made if necessary; None if there are too many already."""
        stream = self._streams.get(session_id)
        if stream is None:
            if len(self._streams) > self.limits.session_streams and not self._forget_stream():
                return None
            kept_bytes_max = sys.maxsize if self._waits else self._kept_bytes_max
            stream = self._streams[session_id] = OutgoingStream(kept_bytes_max)
        return stream

    def _forget_stream(self) -> bool:
        """Drop the oldest stream that nobody reads and nothing waits in."""
        for session_id, stream in self._streams.items():
            if session_id is not None and stream.is_empty:
                del self._streams[session_id]
                self._kept_bytes -= stream.frames.kept_bytes
                self._usual = None
                return True
        return False

    # ---- readers

    def read(self, stream: OutgoingStream, reader: StreamReader, last_event: int | None) -> bool:
        """Give a stream to a reader; False if events in between are gone."""
        frames, had_reader = stream.frames, stream.reader is not None
        unsent, kept = frames.unsent_bytes, frames.kept_bytes
        if not stream.attach(reader, last_event):
            return False
        self._unsent_bytes += frames.unsent_bytes - unsent
        self._kept_bytes += frames.kept_bytes - kept
        self._readers += not had_reader
        self.client_is_here()
        return True

    def leave(self, stream: OutgoingStream, reader: StreamReader) -> None:
        """Take notice that a response has ended."""
        if stream.leave(reader):
            self._readers -= 1
            if not self._readers:
                self.client_left()
            stream.was_sent()

    def take(self, stream: OutgoingStream) -> list[bytes]:
        """Return the next events of a stream; the ones before were sent."""
        stream.was_sent()
        before = stream.frames.kept_bytes
        pieces, size = stream.take(self._may_keep)
        self._unsent_bytes -= size
        self._kept_bytes += stream.frames.kept_bytes - before
        if self._kept_bytes > self._kept_bytes_max and self.resumes and not self._waits:
            self._bound_kept()
        return pieces

    def _may_keep(self, taken: int, more: int) -> bool:
        """Whether there is room for this many more bytes, or nobody can ask for them again.

        A message of any size may be sent while little is kept: a client need not acknowledge the
        last `acknowledge_bytes`.
        """
        kept, kept_max = self._kept_bytes + taken, self._kept_bytes_max
        is_room = kept + more <= kept_max or kept < kept_max // 2
        return is_room or not self._waits or self.is_over

    def acknowledged(self, session_id: str | None, count: int) -> None:
        """Forget the events of a stream up to this number: its client has them."""
        stream = self._streams.get(session_id)
        if stream is None:
            return
        before = stream.frames.kept_bytes
        # A number that was never sent is about a stream of the same session that is forgotten.
        stream.frames.acknowledge(count)
        self._kept_bytes -= before - stream.frames.kept_bytes
        for one in self._streams.values():
            if one.reader is not None and one.frames.has_unsent:
                one.reader.wake()

    def _bound_kept(self) -> None:
        """Keep what is kept of all streams within one bound: the fullest stream loses first."""
        while self._kept_bytes > self._kept_bytes_max:
            fullest = max(self._streams.values(), key=lambda one: one.frames.kept_bytes).frames
            if fullest.gone_count + 1 >= fullest.sent_count:
                # The newest event of each stream is always kept.
                return
            before = fullest.kept_bytes
            fullest.acknowledge(fullest.gone_count + 1)
            self._kept_bytes -= before - fullest.kept_bytes

    def seen(self) -> None:
        """Take notice of a request: a client without a stream has a new time of grace."""
        self.client_is_here()
        if not self._readers:
            self.client_left()

    # ---- the end

    def over(self) -> None:
        if self._early is not None:
            self._early.cancel()
        self.reading_again()
        if self._initialized is not None and not self._initialized[1].done():
            self._initialized[1].set_exception(ConnectionLost("the connection is over"))
        for stream in self._streams.values():
            if stream.reader is not None:
                stream.reader.wake()


__all__ = ["HEADER_METHODS", "HttpServerTransport", "Message"]
