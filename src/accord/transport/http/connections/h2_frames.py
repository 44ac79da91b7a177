"""What `h2` must not see of an HTTP/2 connection, or would see too late.  Pure.

To `h2` a GOAWAY is the end of the connection, and it refuses every frame behind it.  In HTTP/2
(RFC 9113, 6.8) it is an announcement: streams up to the one it names go on to their end.  And a
frame that is too long it refuses only when all of it has arrived.
"""

from typing import Final, NamedTuple

_HEAD_BYTES: Final = 9
_SETTINGS: Final = 4
_GOAWAY: Final = 7
# Two numbers, and a text for people, of which no more than this is read.
_GOAWAY_BYTES_MIN: Final = 8
_GOAWAY_BYTES_MAX: Final = 16 * 1024
_STREAM_BITS: Final = 0x7FFFFFFF


class FrameTooLong(Exception):
    """The server sends a frame that is longer than we allow."""


class GoAway(NamedTuple):
    """The server takes no stream after this one; the code is 0 if nothing is wrong."""

    last_stream_id: int
    error_code: int


class FrameFilter:
    """Divides a connection's bytes into GOAWAYs and runs of everything else.

    Guards: what comes out, with the GOAWAYs put back in their places, is what went in; only the
    head of a frame, and a GOAWAY, is held back.
    """

    def __init__(self, *, frame_bytes_max: int) -> None:
        self._frame_bytes_max = frame_bytes_max
        # The beginning of a head or of a GOAWAY.
        self._held = b""
        # How much of the current frame's payload is still to come.
        self._payload_left = 0

    def feed(self, data: bytes) -> list[bytes | GoAway]:
        """Return what this chunk completes, in order.

        Raises:
            FrameTooLong: the connection cannot go on.
        """
        if self._held:
            data = self._held + data
            self._held = b""
        found: list[bytes | GoAway] = []
        begin, at, size = 0, self._payload_left, len(data)
        while at + _HEAD_BYTES <= size:
            length = int.from_bytes(data[at : at + 3], "big")
            if length > self._frame_bytes_max:
                raise FrameTooLong(f"a frame of {length} bytes, more than {self._frame_bytes_max}")
            end = at + _HEAD_BYTES + length
            if data[at + 3] == _GOAWAY and _GOAWAY_BYTES_MIN <= length <= _GOAWAY_BYTES_MAX:
                if end > size:
                    break
                if at > begin:
                    found.append(data[begin:at])
                payload = data[at + _HEAD_BYTES : at + _HEAD_BYTES + 8]
                last = int.from_bytes(payload[:4], "big") & _STREAM_BITS
                found.append(GoAway(last, int.from_bytes(payload[4:], "big")))
                begin = end
            at = end
        if at >= size:
            self._payload_left = at - size
            passed = size
        else:
            self._payload_left = 0
            passed = at
            self._held = data[at:]
        if passed > begin:
            found.append(data[begin:passed])
        return found


def begins_with_settings(data: bytes) -> bool | None:
    """Whether a server that begins like this speaks HTTP/2; None while that is open."""
    if len(data) < _HEAD_BYTES:
        return False if data.startswith(b"HTTP/") else None
    return data[3] == _SETTINGS and data[5:9] == bytes(4)


__all__ = ["FrameFilter", "FrameTooLong", "GoAway", "begins_with_settings"]
