"""One reading instead of two for the notification that makes up nearly all of the traffic.

`Peer.receive` leaves params encoded, so that whoever serves a method reads them a second time.
Where one method comes thousands of times a second, its whole frame can be read at once.

Must not know: which method that is.
Always holds: what is read here, `Peer.receive` would have taken as the same notification without
a note; everything else, good or bad, is left to it.
"""

from collections.abc import Callable
from typing import Any, Literal, TypeVar

import msgspec
from msgspec import UNSET, UnsetType

from accord.jsonrpc.envelope import json_text
from accord.jsonrpc.nesting import DEPTH_MAX, is_deeper
from accord.jsonrpc.salvage import is_utf8

P = TypeVar("P")


def notification_reader(
    method: str, params: type[P], *, depth_max: int = DEPTH_MAX
) -> Callable[[bytes], P | None]:
    """A function that gives the params of a frame, or None where it is not clearly this method.

    A frame that does not begin as ours and the official SDKs' do is left to others at once.
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
    begin = b'{"jsonrpc":"2.0","method":' + json_text(method) + b","
    # Each level takes two bytes, so that a shorter frame cannot be too deep.
    shallow_bytes_max = 2 * depth_max

    def read(frame: bytes) -> P | None:
        if not frame.startswith(begin):
            return None
        try:
            message: Any = decode(frame)
        except (ValueError, RecursionError):
            return None
        if len(frame) > shallow_bytes_max and is_deeper(frame, depth_max):
            return None
        if not frame.isascii() and not is_utf8(frame):
            return None
        found: P = message.params
        return found

    return read


__all__ = ["notification_reader"]
