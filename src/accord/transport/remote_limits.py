"""The bounds of remote connections, by name: HTTP and WebSocket, client and server."""

from dataclasses import dataclass, fields

from accord.errors import LocalProtocolError

MIB = 1024 * 1024
# Limits that may be zero: a server that keeps nothing and waits for nobody.
_MAY_BE_NONE = frozenset({"early_messages", "kept_bytes"})


@dataclass(frozen=True, slots=True, kw_only=True)
class RemoteLimits:
    """The resources that one remote peer may use.  A program may change any of them."""

    # ---- messages
    # One message in either direction; a longer one ends the connection.
    message_bytes: int = 32 * MIB
    # Connection and session ids.
    id_chars: int = 1024
    # The headers of one request or response.
    header_bytes: int = 64 * 1024
    # How much of a refused request's body an error shows.
    error_body_bytes: int = 8 * 1024

    # ---- resume
    # How long a connection without its peer is kept.
    grace_seconds: float = 60.0
    # Frames that were sent and may be asked for again; over it the oldest are dropped.
    kept_bytes: int = 8 * MIB
    # Frames that could not be sent yet; over it the writer waits.  With what is kept, and the
    # history that the agent has of it, one client that is away costs less than 64 MiB.
    backlog_bytes: int = 16 * MIB
    # A receiver acknowledges after this many frames or bytes, or this long after the first of them;
    # over HTTP after this many bytes.
    acknowledge_frames: int = 256
    acknowledge_bytes: int = MIB
    acknowledge_seconds: float = 2.0
    # POSTs that overtook an earlier one and wait for it.
    early_messages: int = 256
    early_bytes: int = 64 * MIB
    # Counted from when a client that lost its connection must be back.
    early_seconds: float = 30.0

    # ---- reconnecting
    # Back-off doubles from the first to the second, with jitter.
    reconnect_seconds_min: float = 0.1
    reconnect_seconds_max: float = 10.0
    # One attempt: name lookup, TCP, TLS, and the answer to the upgrade.
    connect_seconds: float = 30.0

    # ---- liveness
    # An idle side says something this often; a peer that is silent for longer is gone.
    keep_alive_seconds: float = 15.0
    silence_seconds: float = 30.0
    # A peer that takes nothing of what was sent for this long is lost, and so is a server that
    # answers no request.
    stall_seconds: float = 60.0
    # How long closing waits for the peer.
    close_seconds: float = 5.0

    # ---- servers
    connections: int = 20_000
    # Session streams of one connection.
    session_streams: int = 1024
    # From the first byte of a connection to the end of its first request's head.
    head_seconds: float = 10.0
    # One message: the body of a request, or a WebSocket message that comes in pieces.  Each
    # `body_bytes_per_second` of it that have come allow one second more.
    body_seconds: float = 30.0
    body_bytes_per_second: int = 16 * 1024
    # All bodies of one server that are being read; over it a request is refused with status 503.
    bodies_bytes: int = 256 * MIB
    # The `auth` function of a server, for one request; over it the request is refused.
    auth_seconds: float = 30.0
    # From the upgrade to `initialize`.
    initialize_seconds: float = 30.0

    def body_seconds_for(self, size: int) -> float:
        """Return how long a message may take of which `size` bytes have come."""
        return self.body_seconds + size / self.body_bytes_per_second

    def checked(self) -> "RemoteLimits":
        """Return these limits if they are valid.

        Raises:
            LocalProtocolError: a limit is not a number, or is too small.
        """
        for field in fields(self):
            name, value = field.name, getattr(self, field.name)
            is_time = "_seconds" in name
            least = 0 if is_time or name in _MAY_BE_NONE else 1
            kinds = int | float if is_time else int
            if isinstance(value, bool) or not isinstance(value, kinds) or not value >= least:
                raise LocalProtocolError(f"the limit {name} must be at least {least}: {value!r}")
        return self


__all__ = ["RemoteLimits"]
