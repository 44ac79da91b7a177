"""One direction of numbered frames: what the sender keeps, and when the receiver acknowledges.

Frames are numbered 1, 2, 3 … in the order of `append`.  A frame first waits to be sent, then is
kept until the peer has acknowledged it, since the peer may come back and ask for it again.

Invariants
    * `take` returns every frame in order, and no frame twice unless `rewind` went back.
    * Frames that were never sent are never dropped; their owner bounds them by `unsent_bytes`.
    * Sent frames are kept within `kept_bytes_max`, except that the newest is always kept.
    * `rewind` succeeds exactly if every frame after the given number is still there.
    * Received frames are handled in order; `count` is the number of the newest.  An acknowledgement
      is due after `acknowledge_frames` frames or `acknowledge_bytes` bytes; the owner sends one
      after `acknowledge_seconds` at the latest while `is_owing`.
"""

from collections import deque

from accord.transport.remote_limits import RemoteLimits


class SentFrames:
    """The frames of one direction that the peer may still need."""

    def __init__(self, kept_bytes_max: int) -> None:
        self._kept_bytes_max = kept_bytes_max
        self._kept: deque[bytes] = deque()
        self._unsent: deque[bytes] = deque()
        self.kept_bytes = 0
        self.unsent_bytes = 0
        # The number of the newest frame that `take` has returned.
        self.sent_count = 0

    @property
    def count(self) -> int:
        """The number of the newest frame."""
        return self.sent_count + len(self._unsent)

    @property
    def gone_count(self) -> int:
        """The number of the newest frame that is no longer kept."""
        return self.sent_count - len(self._kept)

    @property
    def has_unsent(self) -> bool:
        """Whether `take` has something to return."""
        return bool(self._unsent)

    @property
    def would_drop(self) -> bool:
        """Whether to `take` the next frame would drop one that is kept."""
        if not self._unsent or not self._kept:
            return False
        return self.kept_bytes + self.next_bytes > self._kept_bytes_max

    @property
    def next_bytes(self) -> int:
        """The length of the next frame to send, of which there must be one."""
        return len(self._unsent[0])

    def append(self, frame: bytes) -> int:
        """Add a frame that waits to be sent, and return its number."""
        self._unsent.append(frame)
        self.unsent_bytes += len(frame)
        return self.sent_count + len(self._unsent)

    def take(self) -> bytes | None:
        """Return the next frame to send, or None; from now on it counts as sent."""
        if not self._unsent:
            return None
        frame = self._unsent.popleft()
        self.unsent_bytes -= len(frame)
        self._keep(frame)
        return frame

    def append_sent(self, frame: bytes) -> int:
        """Add a frame that is sent at once, and return its number.  Nothing may be unsent."""
        assert not self._unsent, "frames are sent in order"
        self._keep(frame)
        return self.sent_count

    def _keep(self, frame: bytes) -> None:
        self.sent_count += 1
        self._kept.append(frame)
        self.kept_bytes += len(frame)
        while self.kept_bytes > self._kept_bytes_max and len(self._kept) > 1:
            self.kept_bytes -= len(self._kept.popleft())

    def acknowledge(self, number: int) -> bool:
        """Drop the frames up to this number.

        Returns False, and drops nothing, for a number that was never sent.
        """
        if number < 0 or number > self.sent_count:
            return False
        for _ in range(number - self.gone_count):
            self.kept_bytes -= len(self._kept.popleft())
        return True

    def rewind(self, number: int) -> bool:
        """Acknowledge the frames up to this number, and send the frames after it again.

        Returns False, and changes nothing, if one of those is gone (a gap) or `number` was never
        sent.
        """
        if number < self.gone_count or not self.acknowledge(number):
            return False
        self._unsent.extendleft(reversed(self._kept))
        self.unsent_bytes += self.kept_bytes
        self.sent_count -= len(self._kept)
        self._kept.clear()
        self.kept_bytes = 0
        return True


class ReceivedFrames:
    """Counts frames, and says when to acknowledge them."""

    def __init__(self, limits: RemoteLimits) -> None:
        self._frames_max = limits.acknowledge_frames
        self._bytes_max = limits.acknowledge_bytes
        self.count = 0
        self.acknowledged_count = 0
        self._unacknowledged_bytes = 0

    @property
    def is_owing(self) -> bool:
        """Whether a handled frame is not acknowledged yet."""
        return self.count > self.acknowledged_count

    def add(self, frame_bytes: int, frames: int = 1) -> bool:
        """Count frames that were handled; returns whether an acknowledgement is due now."""
        self.count += frames
        self._unacknowledged_bytes += frame_bytes
        return (
            self.count - self.acknowledged_count >= self._frames_max
            or self._unacknowledged_bytes >= self._bytes_max
        )

    def acknowledged(self) -> int:
        """Take notice that an acknowledgement goes out; returns the count that it names."""
        self.acknowledged_count = self.count
        self._unacknowledged_bytes = 0
        return self.count


__all__ = ["ReceivedFrames", "SentFrames"]
