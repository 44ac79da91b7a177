"""One reading instead of two for the notification that makes up nearly all of the traffic.

`Peer.receive` leaves params encoded, so that whoever serves a method reads them a second time.
Where one method comes thousands of times a second, its whole frame can be read at once.

Must not know: which method that is.
Always holds: what is read here, `Peer.receive` would have taken as the same notification without
a note; everything else, good or bad, is left to it.
"""

from collections.abc import Callable
from typing import Any, Final, Literal, TypeVar

import msgspec
from msgspec import UNSET, UnsetType

from accord.jsonrpc.envelope import notification_head
from accord.jsonrpc.json_depth import DEPTH_MAX, is_deeper
from accord.jsonrpc.malformed_frames import is_utf8

P = TypeVar("P")

_END: Final = ord("}")


def notification_reader(
    method: str, params: type[P], *, depth_max: int = DEPTH_MAX
) -> Callable[[bytes], P | None]:
    """A function that gives the params of a frame, or None where it is not clearly this method.

    A frame that is not written as ours and the official SDKs' are, with the params last and no
    space before them, is left to others at once.
    """
    decode = msgspec.json.Decoder(params).decode
    begin = notification_head(method)
    begin_bytes = len(begin)
    # Each level takes two bytes, so that a shorter frame cannot be too deep.
    shallow_bytes_max = 2 * depth_max

    def read(frame: bytes) -> P | None:
        if not frame.startswith(begin):
            return None
        try:
            # What is between the two ends is one value and nothing else, or it is not read: so
            # there is no further member, and the whole is what it seems to be.
            found = decode(frame[begin_bytes:-1])
        except (ValueError, RecursionError):
            return None
        if frame[-1] != _END or (len(frame) > shallow_bytes_max and is_deeper(frame, depth_max)):
            return None
        if not frame.isascii() and not is_utf8(frame):
            return None
        return found

    return read


def notifications_reader(
    method: str, params: type[P], *, depth_max: int = DEPTH_MAX
) -> Callable[[list[bytes]], list[P]]:
    """A function that gives the params of many frames, up to the first that is not clearly this.

    One after the other, with nothing of Python between them: that is half of what each on its own
    costs.
    """
    whole = msgspec.defstruct(
        "WholeNotification",
        [
            ("jsonrpc", Literal["2.0"]),
            ("method", Literal[method]),
            ("params", params),
            # With any of these it is something else.
            ("id", UnsetType, UNSET),
            ("result", UnsetType, UNSET),
            ("error", UnsetType, UNSET),
        ],
        frozen=True,
        gc=False,
    )
    decode = msgspec.json.Decoder(whole).decode
    shallow_bytes_max = 2 * depth_max

    def is_odd(frame: bytes) -> bool:
        if len(frame) > shallow_bytes_max and is_deeper(frame, depth_max):
            return True
        return not frame.isascii() and not is_utf8(frame)

    def read_all(frames: list[bytes]) -> list[P]:
        messages: list[Any] = []
        try:
            messages.extend(map(decode, frames))
        except (ValueError, RecursionError):
            # What was read before it is there.
            frames = frames[: len(messages)]
        # Few are long, and mostly all are ASCII; only they need a look.
        large = [frame for frame in frames if len(frame) > shallow_bytes_max]
        if not all(map(bytes.isascii, frames)) or any(map(is_odd, large)):
            odd = next((at for at, frame in enumerate(frames) if is_odd(frame)), len(frames))
            del messages[odd:]
        return [message.params for message in messages]

    return read_all
