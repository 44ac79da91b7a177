"""One direction of numbered frames, on the side that receives them.

Invariants
    * `count` is the number of the newest frame that was handled; frames are handled in order.
    * An acknowledgement is due after `acknowledge_frames` frames or `acknowledge_bytes` bytes; the
      owner sends one after `acknowledge_seconds` at the latest while `is_owing`.
"""

from accord.transport.remote_limits import RemoteLimits


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


__all__ = ["ReceivedFrames"]
