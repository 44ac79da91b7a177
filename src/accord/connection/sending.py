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
from accord.transport.transport import Transport

# Larger frames are written in parts: a copy would cost more than another write.
COPIED_BYTES_MAX = 64 * 1024
# So much of a session's past is written at once; one write for each message would cost most.
GATHERED_BYTES_MAX = 64 * 1024
GATHERED_BYTES_FIRST = 4 * 1024


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

    def gather(self, method: str) -> "Gathered":
        """Notifications of one method that go out together: for a past that is told again."""
        return Gathered(self, method)

    def write_gathered(self, frames: list[bytes]) -> None:
        """Write frames that were checked already, in one go."""
        if self.error is not None:
            raise self.error
        self._transport.write(self._splitter.encode_all(frames))

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


__all__ = ["Sending"]


class Gathered:
    """Notifications that wait to be written together; nothing is lost if `flush` comes last."""

    def __init__(self, sending: Sending, method: str) -> None:
        self._sending = sending
        self._method = method
        self._head = notification_head(method)
        self._frame_bytes_max = sending.limits.frame_bytes
        self._frames: list[bytes] = []
        self._bytes = 0
        # The first go out early, so that the peer has something to do.
        self._bytes_wanted = GATHERED_BYTES_FIRST

    def add(self, params: bytes) -> bool:
        """Take one; True when there are so many that they should be flushed."""
        frame = self._head + params + b"}"
        frame_bytes = len(frame)
        if frame_bytes > self._frame_bytes_max:
            self._sending.peer.checked(frame, self._method)
        self._frames.append(frame)
        self._bytes += frame_bytes
        return self._bytes >= self._bytes_wanted

    async def flush(self) -> None:
        """Write what is there, and give way."""
        frames, self._frames, self._bytes = self._frames, [], 0
        self._bytes_wanted = min(2 * self._bytes_wanted, GATHERED_BYTES_MAX)
        if frames:
            # Looked for in all of them at once, since there is hardly ever one.
            whole = b"".join(frames)
            if LINE_FEED in whole or CARRIAGE_RETURN in whole:
                frames = list(map(one_line, frames))
            self._sending.write_gathered(frames)
        await self._sending.give_way()
