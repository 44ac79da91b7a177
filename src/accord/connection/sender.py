"""The half of a connection that sends: notifications, and the pace of whoever sends many.

Must not know: what comes in.

What always holds
    * A frame over the limit is refused before anything of it is written.
    * A sender that sends without end waits for a slow peer, and lets others run.
"""

from collections.abc import Callable, Iterable
from time import monotonic

from anyio.lowlevel import checkpoint, checkpoint_if_cancelled

from accord.connection.limits import (
    CHECK_SECONDS_MAX,
    YIELD_MESSAGES_MAX,
    YIELD_SECONDS_MAX,
    Limits,
)
from accord.errors import ConnectionLost, LocalProtocolError
from accord.jsonrpc.envelope import (
    CARRIAGE_RETURN,
    LINE_FEED,
    notification_framer,
    notification_head,
    one_line,
)
from accord.jsonrpc.framing import Framing, splitter_for
from accord.jsonrpc.peer import Peer
from accord.schema.codec import encode_into
from accord.transport.transport import Transport

# Larger frames are written in parts: a copy would cost more than another write.
COPIED_BYTES_MAX = 64 * 1024
# So much of a session's past is written at once; one write for each message would cost most.
GATHERED_BYTES_MAX = 64 * 1024
GATHERED_BYTES_FIRST = 4 * 1024
_BETWEEN = b"\0"


class Sending:
    """Sends to one peer until there is an `error`."""

    def __init__(
        self,
        transport: Transport,
        *,
        limits: Limits | None,
        framing: Framing | None,
        accept_batches: bool,
        strict: bool,
    ) -> None:
        self.limits = limits or Limits()
        self.error: ConnectionLost | None = None
        self.peer = Peer(
            accept_batches=accept_batches,
            depth_max=self.limits.depth,
            pending_max=self.limits.pending_requests,
            frame_bytes_max=self.limits.frame_bytes,
            strict=strict,
        )
        self._transport = transport
        self._splitter = splitter_for(framing, frame_bytes_max=self.limits.frame_bytes)
        self._sent_since_yield = 0
        self._now = self._yielded_at = self._checked_at = monotonic()

    def _write(self, frame: bytes) -> None:
        # An answer inside a batch waits for the others and has no frame yet.
        if len(frame) > COPIED_BYTES_MAX:
            self._write_parts((frame,))
        elif frame:
            self._transport.write(self._splitter.encode(frame))

    def _write_parts(self, parts: Iterable[bytes]) -> None:
        """Write one large frame that is not in one piece; nothing of it is copied.

        Where the framing allows it, each part is on its way before the next one is made.
        """
        for part in self._splitter.encode_parts(parts):
            self._transport.write(part)

    def post(self, method: str, params: bytes) -> None:
        """Send a notification now, without waiting for anything.

        Raises:
            LocalProtocolError: it is over the limit of a frame.
            ConnectionLost: there is nobody to send it to.
        """
        if self.error is not None:
            raise self.error
        self._transport.write(self._splitter.encode(self.peer.notify(method, params)))

    def poster(self, method: str) -> Callable[[bytes], None]:
        """`post` for one method, with everything looked up once: for what is sent very often."""
        frame_of = notification_framer(method)
        post_frame = self.frame_poster(method)

        def post(params: bytes) -> None:
            post_frame(frame_of(params))

        return post

    def frame_poster(self, method: str) -> Callable[[bytes], None]:
        """The same for frames of that method that are made already."""
        write, encode_frame = self._transport.write, self._splitter.encode
        frame_bytes_max, checked = self.limits.frame_bytes, self.peer.checked

        def post_frame(frame: bytes) -> None:
            if self.error is not None:
                raise self.error
            if len(frame) > frame_bytes_max:
                checked(frame, method)
            write(encode_frame(frame))

        return post_frame

    def gather(self, method: str, before: bytes = b"", behind: bytes = b"") -> "Gathered":
        """Notifications of one method that go out together: for a past that is told again.

        In the params of each, what it says stands between these two.
        """
        return Gathered(self, method, before, behind)

    def write_lines(self, lines: bytes) -> None:
        """Write frames that were checked already, each a line of its own, in one go."""
        if self.error is not None:
            raise self.error
        self._transport.write(self._splitter.encode_lines(lines))

    async def notify(self, method: str, params: bytes) -> None:
        """Send a notification; waits while the peer is slow.  Otherwise as `post`."""
        if self.check_is_due():
            await checkpoint_if_cancelled()
        self.post(method, params)
        if self.wait_is_due():
            await self.give_way()

    # The two questions below cost a tenth of what asking anyio costs.  Between two sends that do
    # not wait no other task runs, so nobody else can have cancelled the sender meanwhile; only a
    # sender that cancels itself is noticed late, by CHECK_SECONDS_MAX.

    def check_is_due(self) -> bool:
        """Whether a sender must look for its cancellation before it sends."""
        now = self._now = monotonic()
        if now - self._checked_at < CHECK_SECONDS_MAX:
            return False
        self._checked_at = now
        return True

    def wait_is_due(self) -> bool:
        """Whether a sender must `give_way` after it has sent."""
        self._sent_since_yield += 1
        return (
            self._sent_since_yield >= YIELD_MESSAGES_MAX
            or self._now - self._yielded_at >= YIELD_SECONDS_MAX
            or self._transport.backlog > self.limits.backlog_bytes
        )

    async def give_way(self) -> None:
        """Wait while the backlog is full; let others run in any case."""
        if self._transport.backlog > self.limits.backlog_bytes:
            await self._transport.drain()
            if self.error is not None:
                raise self.error
        else:
            await checkpoint()
        self._sent_since_yield = 0
        self._now = self._yielded_at = monotonic()

    def require_open(self, doing: str) -> None:
        """Raise with a sentence when the connection is over."""
        if self.error is not None:
            raise LocalProtocolError(f"cannot {doing}: {self.error.message}") from self.error


class Gathered:
    """Notifications that wait to be written together; nothing is lost if `flush` comes last.

    Each is encoded right behind the one before it, and nothing is made of it in between.
    """

    __slots__ = ("_begin", "_buffer", "_bytes_wanted", "_method", "_next", "_sending")

    def __init__(self, sending: Sending, method: str, before: bytes, behind: bytes) -> None:
        self._sending = sending
        self._method = method
        self._begin = notification_head(method) + before
        # Ends one and begins the next, with a byte between them that no JSON has.
        self._next = behind + b"}" + _BETWEEN + self._begin
        self._buffer = bytearray(self._begin)
        # The first go out early, so that the peer has something to do.
        self._bytes_wanted = GATHERED_BYTES_FIRST

    def add(self, said: object) -> bool:
        """Take one; True when there are so many that they should be flushed."""
        buffer = self._buffer
        encode_into(said, buffer, -1)
        buffer += self._next
        return len(buffer) >= self._bytes_wanted

    async def flush(self) -> None:
        """Write what is there, and give way.

        Raises:
            LocalProtocolError: one of them is over the limit of a frame; those before it are
                written.
        """
        self._bytes_wanted = min(2 * self._bytes_wanted, GATHERED_BYTES_MAX)
        gathered, self._buffer = self._buffer, bytearray(self._begin)
        del gathered[len(gathered) - len(self._begin) :]
        # Looked for in all of them at once, since there is hardly ever one.
        if (
            LINE_FEED in gathered
            or CARRIAGE_RETURN in gathered
            or len(gathered) > self._sending.limits.frame_bytes
        ):
            self._write_each(bytes(gathered))
        elif gathered:
            self._sending.write_lines(bytes(gathered.replace(_BETWEEN, b"\n")))
        await self._sending.give_way()

    def _write_each(self, gathered: bytes) -> None:
        for frame in gathered.split(_BETWEEN)[:-1]:
            checked = self._sending.peer.checked(one_line(frame), self._method)
            self._sending.write_lines(checked + b"\n")


__all__ = ["Gathered", "Sending"]
