"""Whether the computer at the other end of a TCP connection is still there, as the kernel sees it.

A client that does not read still acknowledges probes; one that is gone acknowledges nothing.
Linux only: elsewhere nothing is known, and the system's own keep-alive decides.
"""

from __future__ import annotations

import socket
import struct
from typing import Final

# In `struct tcp_info`: how many segments are unacknowledged, and the milliseconds since the last
# acknowledgement.
_NUMBER: Final = struct.Struct("=I")
_UNACKNOWLEDGED_AT: Final = 24
_LAST_ACK_AT: Final = 56
_INFO_BYTES: Final = 60
_PROBES: Final = 3


def keep_alive(sock: socket.socket, seconds: float, silence_seconds: float) -> None:
    """Let the kernel probe an idle connection, so that it ends after `silence_seconds`."""
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
    interval = max(1, int((silence_seconds - seconds) / _PROBES))
    options = {"TCP_KEEPIDLE": max(1, int(seconds)), "TCP_KEEPINTVL": interval}
    for name, value in {**options, "TCP_KEEPCNT": _PROBES}.items():
        if hasattr(socket, name):
            sock.setsockopt(socket.IPPROTO_TCP, getattr(socket, name), value)


def tcp_info(sock: socket.socket) -> bytes:
    """Return what the kernel knows of a connection; nothing where it does not say."""
    if not hasattr(socket, "TCP_INFO"):
        return b""
    try:
        return sock.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, _INFO_BYTES)
    except OSError:
        return b""


def is_gone(info: bytes, silence_seconds: float) -> bool:
    """Whether something was sent, and nothing was acknowledged for this long.  Pure."""
    if len(info) < _INFO_BYTES:
        return False
    unacknowledged: int = _NUMBER.unpack_from(info, _UNACKNOWLEDGED_AT)[0]
    milliseconds: int = _NUMBER.unpack_from(info, _LAST_ACK_AT)[0]
    return unacknowledged > 0 and milliseconds >= silence_seconds * 1000


__all__ = ["is_gone", "keep_alive", "tcp_info"]
