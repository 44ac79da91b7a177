"""A network that is played: latency, cuts at any byte, half-open connections, refusals.

`SocketStream` runs on its sockets unchanged, and so do asyncio's own socket transports (`loop.py`);
what comes of a connection is drawn when it is made (`Fate`).

What always holds: bytes come out in the order in which they went in, none twice, and none is lost
in the middle.  A connection that loses bytes loses all that follow.
"""

import asyncio
import errno
import os
import socket as real_socket
import struct
from collections.abc import Callable
from dataclasses import dataclass
from random import Random
from typing import Any, Literal
from zlib import crc32

from tests.simulation.runtime.loop import Readiness, SeededLoop

FIRST_FD = 2_000_000
NEVER = float("inf")
# The clock of a world begins here; plans count from it.
STARTED_AT = 1000.0
# Within this a played TCP connection is made.
CONNECT_SECONDS_MAX = 0.05
CutKind = Literal["reset", "end", "half_open", "answers_lost", "stall"]
# After these nothing arrives any more in either direction.
_FINAL = frozenset({"reset", "end", "half_open"})


@dataclass(frozen=True, slots=True)
class Fate:
    """What happens to a connection after some bytes in one direction, or some seconds."""

    kind: CutKind
    to_server: bool
    after_bytes: int
    after_seconds: float
    # How long a stall lasts, or a server goes on that is no longer heard.
    seconds: float
    # Whether what is on its way is lost.
    loses: bool


@dataclass(frozen=True, slots=True)
class Outage:
    """A time in which nobody gets a new connection."""

    begins: float
    ends: float
    # Refused at once, or never answered.
    refuses: bool


class Pipe:
    """One direction of a connection."""

    def __init__(self, capacity: int) -> None:
        self.capacity = capacity
        self.held = bytearray()
        self.passed = 0
        # When the reader may see what is there; bytes of a silent pipe are never seen.
        self.seen_at = 0.0
        self.is_silent = False
        self.writer_open = True
        self.reader_open = True
        self.is_reset = False
        # Told of every write.
        self.on_passed: Callable[[], None] | None = None
        # For TCP_INFO: since when bytes wait that the other side does not acknowledge.
        self.unacknowledged_since: float | None = None

    def silence(self, now: float) -> None:
        """Let nothing pass from now on."""
        if not self.is_silent:
            self.is_silent = True
            self.unacknowledged_since = now if self.held else None


class PlayedSocket:
    """One end of a connection, or one that is not connected yet; as `socket.socket`."""

    family = real_socket.AF_INET
    type = real_socket.SOCK_STREAM
    proto = 0

    def __init__(self, network: "Network", name: tuple[str, int]) -> None:
        self._network = network
        self.fd = network.register(self)
        self.name = name
        self.peer = ("127.0.0.1", 0)
        self.incoming: Pipe | None = None
        self.outgoing: Pipe | None = None
        self.connecting: asyncio.TimerHandle | None = None
        # The outcome of `connect_ex`, once it is known.
        self.error: int | None = None
        self.is_closed = False

    def fileno(self) -> int:
        return -1 if self.is_closed else self.fd

    def setblocking(self, flag: bool) -> None:
        assert not flag

    def setsockopt(self, level: int, option: int, value: object) -> None:
        """Options change nothing here."""

    def getsockopt(self, level: int, option: int, size: int = 0) -> Any:
        if level == real_socket.SOL_SOCKET and option == real_socket.SO_ERROR:
            return self.error or 0
        if option == getattr(real_socket, "TCP_INFO", None):
            return self._network.tcp_info(self)
        return 0

    def getsockname(self) -> tuple[str, int]:
        return self.name

    def getpeername(self) -> tuple[str, int]:
        return self.peer

    def connect_ex(self, place: Any) -> int:
        self._network.connect(self, place)
        return errno.EINPROGRESS

    def send(self, data: Any) -> int:
        return self._network.send(self, data)

    def sendmsg(self, buffers: Any) -> int:
        return self._network.send(self, b"".join(buffers))

    def recv(self, size: int) -> bytes:
        return self._network.recv(self, size)

    def shutdown(self, how: int) -> None:
        if self.outgoing is not None:
            self.outgoing.writer_open = False

    def close(self) -> None:
        if not self.is_closed:
            self.is_closed = True
            self._network.closed(self)


class SocketModule:
    """As the module `socket`, for code that makes its own sockets."""

    def __init__(self, network: "Network") -> None:
        self._network = network

    def socket(self, family: int, kind: int) -> PlayedSocket:
        return self._network.socket()

    def __getattr__(self, name: str) -> Any:
        return getattr(real_socket, name)


Accept = Callable[[PlayedSocket], None]


class Network(Readiness):
    """All sockets of one world."""

    def __init__(
        self, loop: SeededLoop, random: Random, draw_fate: Callable[[], Fate | None]
    ) -> None:
        self._loop = loop
        self._random = random
        self._draw_fate = draw_fate
        self._sockets: dict[int, PlayedSocket] = {}
        self._next_fd = FIRST_FD
        self._next_port = 40_000
        self._delay_seconds = random.choice((0.0, 0.0005, 0.02, 0.2))
        self._splits = random.random() < 0.5
        self._capacity = random.choice((500, 4096, 65536, 1 << 20))
        self._listeners: dict[Any, Accept] = {}
        # Connections whose fate is drawn, and those whose fate is not.
        self._fated: list[FatedConnection] = []
        self._spared: list[tuple[Pipe, Pipe]] = []
        # All that are not within the server's machine.
        self._remote: list[tuple[Pipe, Pipe]] = []
        self.outages: tuple[Outage, ...] = ()
        # What nothing is done to any more: the world comes to rest.
        self.is_calm = True
        # How many cuts, stalls and refused attempts there were, and when the last one ended.
        self.troubles = 0
        self.trouble_until = 0.0
        self.checksum = 0
        loop.readiness = self

    # ---- sockets

    def register(self, sock: PlayedSocket) -> int:
        self._next_fd += 1
        self._sockets[self._next_fd] = sock
        return self._next_fd

    def socket(self) -> PlayedSocket:
        """A socket of a client that is not connected yet."""
        self._next_port += 1
        return PlayedSocket(self, ("127.0.0.1", self._next_port))

    def listen(self, place: Any, accept: Accept) -> None:
        """Hand new connections for a port, or for a path, to this function."""
        self._listeners[place] = accept

    def stop_listening(self, place: Any) -> None:
        self._listeners.pop(place, None)

    def open_sockets(self) -> list[int]:
        """What nobody has closed."""
        return [fd for fd, sock in self._sockets.items() if not sock.is_closed]

    def silence_all(self) -> None:
        """Nothing passes any more over the connections that there are, and nobody is told."""
        self.note_trouble(self._loop.time() - STARTED_AT)
        for pipe in (pipe for both in self._remote for pipe in both):
            pipe.silence(self._loop.time())

    # ---- making connections

    def connect(self, sock: PlayedSocket, place: Any) -> None:
        """Begin to connect; a path is reached at once and its connection lives for ever."""
        key = place[1] if isinstance(place, tuple) else place
        is_local = isinstance(key, str)
        now = self._loop.time()
        outage = None if is_local or self.is_calm else self._outage(now)
        seconds = 0.0 if is_local else self._random.random() * CONNECT_SECONDS_MAX
        is_refused = False
        if outage is not None:
            self.note_trouble(outage.ends)
            is_refused = outage.refuses
            if not is_refused:
                # The system asks again until somebody answers.
                seconds += outage.ends - (now - STARTED_AT)
        sock.connecting = self._loop.call_later(seconds, self._connected, sock, key, is_refused)

    def _outage(self, now: float) -> Outage | None:
        return next(
            (one for one in self.outages if one.begins <= now - STARTED_AT < one.ends), None
        )

    def _connected(self, sock: PlayedSocket, key: Any, is_refused: bool) -> None:
        accept = self._listeners.get(key)
        if accept is None or is_refused:
            sock.error = errno.ECONNREFUSED
            return
        is_local = isinstance(key, str)
        there, back = Pipe(self._capacity), Pipe(self._capacity)
        sock.outgoing, sock.incoming = there, back
        sock.peer = ("127.0.0.1", key if isinstance(key, int) else 0)
        sock.error = 0
        other = PlayedSocket(self, sock.peer)
        other.peer, other.error = sock.name, 0
        other.incoming, other.outgoing = there, back
        if not is_local:
            self._remote.append((there, back))
            self._spared.append((there, back))
            if not self.is_calm:
                self._strike_spared()
        accept(other)

    def _strike_spared(self) -> None:
        """Draw what happens to the connections to which nothing has happened yet."""
        spared, self._spared = self._spared, []
        for there, back in spared:
            if not (there.reader_open and back.reader_open):
                continue
            fate = self._draw_fate()
            if fate is not None:
                fated = FatedConnection(self, self._loop, self._random, there, back, fate)
                self._fated.append(fated)

    # ---- bytes

    def send(self, sock: PlayedSocket, data: Any) -> int:
        """Take what there is room for."""
        pipe = sock.outgoing
        assert pipe is not None, "not connected"
        if pipe.is_reset:
            raise ConnectionResetError(errno.ECONNRESET, os.strerror(errno.ECONNRESET))
        if not pipe.reader_open and not pipe.is_silent:
            raise BrokenPipeError(errno.EPIPE, os.strerror(errno.EPIPE))
        room = pipe.capacity - len(pipe.held)
        if room <= 0:
            raise BlockingIOError(errno.EAGAIN, "full")
        taken = min(room, len(data))
        if self._splits and taken > 1 and self._random.random() < 0.2:
            taken = self._random.randint(1, taken)
        now = self._loop.time()
        if not pipe.held and not pipe.is_silent:
            pipe.seen_at = now + self._random.random() * self._delay_seconds
        piece = bytes(data[:taken])
        self.checksum = crc32(piece, self.checksum)
        if pipe.is_silent and pipe.unacknowledged_since is None:
            pipe.unacknowledged_since = now
        pipe.held += piece
        pipe.passed += taken
        if pipe.on_passed is not None:
            pipe.on_passed()
        return taken

    def recv(self, sock: PlayedSocket, size: int) -> bytes:
        """What is there, or b"" at the end."""
        pipe = sock.incoming
        assert pipe is not None, "not connected"
        if pipe.held and not pipe.is_silent and pipe.seen_at <= self._loop.time():
            taken = min(size, len(pipe.held))
            if self._splits and taken > 1 and self._random.random() < 0.5:
                taken = self._random.randint(1, taken)
            data = bytes(pipe.held[:taken])
            del pipe.held[:taken]
            pipe.seen_at = self._loop.time() + self._random.random() * self._delay_seconds
            return data
        if pipe.is_reset:
            raise ConnectionResetError(errno.ECONNRESET, os.strerror(errno.ECONNRESET))
        if pipe.held or pipe.writer_open or pipe.is_silent:
            raise BlockingIOError(errno.EAGAIN, "empty")
        return b""

    def closed(self, sock: PlayedSocket) -> None:
        """The other side notices, unless nothing passes any more."""
        del self._sockets[sock.fd]
        if sock.connecting is not None:
            sock.connecting.cancel()
        if sock.incoming is not None:
            sock.incoming.reader_open = False
        if sock.outgoing is not None:
            sock.outgoing.writer_open = False

    def tcp_info(self, sock: PlayedSocket) -> bytes:
        """As Linux tells it: whether something is unacknowledged, and since when."""
        since = None if sock.outgoing is None else sock.outgoing.unacknowledged_since
        milliseconds = 0 if since is None else int((self._loop.time() - since) * 1000)
        info = bytearray(60)
        struct.pack_into("=I", info, 24, 0 if since is None else 1)
        struct.pack_into("=I", info, 56, milliseconds)
        return bytes(info)

    def note_trouble(self, until: float) -> None:
        """Something is done to a connection, until this moment."""
        self.troubles += 1
        self.trouble_until = max(self.trouble_until, STARTED_AT + until)

    def begin(self, *, is_calm: bool) -> None:
        """A new life begins."""
        self.is_calm = is_calm

    def start_trouble(self) -> None:
        """The client is connected: from now on things happen to it."""
        self.is_calm = False
        self._strike_spared()

    def calm(self) -> None:
        """Do nothing to anybody any more; what is half-open stays so."""
        self.is_calm = True
        for fated in self._fated:
            fated.spare()
        self._fated.clear()

    # ---- as a selector

    def ready(self, readers: dict[int, Any], writers: dict[int, Any], now: float) -> list[Any]:
        found = [handle for fd, handle in readers.items() if self._readable(fd, now)]
        found += [handle for fd, handle in writers.items() if self._writable(fd)]
        return found

    def _readable(self, fd: int, now: float) -> bool:
        pipe = self._sockets[fd].incoming
        if pipe is None:
            return False
        if pipe.held and not pipe.is_silent:
            return pipe.seen_at <= now
        return pipe.is_reset or (not pipe.writer_open and not pipe.is_silent)

    def _writable(self, fd: int) -> bool:
        sock = self._sockets[fd]
        pipe = sock.outgoing
        if pipe is None:
            return sock.error is not None
        is_broken = pipe.is_reset or (not pipe.reader_open and not pipe.is_silent)
        return is_broken or len(pipe.held) < pipe.capacity

    def next_at(self, readers: dict[int, Any], writers: dict[int, Any]) -> float | None:
        """When something can be read or written that cannot be now."""
        now = self._loop.time()
        moments = [NEVER]
        for fd in readers:
            pipe = self._sockets[fd].incoming
            if self._readable(fd, now):
                moments.append(now)
            elif pipe is not None and pipe.held and not pipe.is_silent:
                moments.append(pipe.seen_at)
        if any(self._writable(fd) for fd in writers):
            moments.append(now)
        soonest = min(moments)
        return None if soonest == NEVER else soonest


class FatedConnection:
    """Brings its fate over a connection."""

    def __init__(
        self,
        network: Network,
        loop: SeededLoop,
        random: Random,
        to_server: Pipe,
        to_client: Pipe,
        fate: Fate,
    ) -> None:
        self._network = network
        self._loop = loop
        self._random = random
        self._fate = fate
        self._to_server, self._to_client = to_server, to_client
        self._watched = to_server if fate.to_server else to_client
        self._begins_at = self._watched.passed
        self._watched.on_passed = self._passed
        self._timer = loop.call_later(fate.after_seconds, self._strike)
        self._is_over = False
        # What ends the fate that has begun.
        self._act: Callable[[], None] | None = None

    def _passed(self) -> None:
        over = self._watched.passed - self._begins_at - self._fate.after_bytes
        if over >= 0 and not self._is_over:
            if self._fate.kind in _FINAL and self._fate.loses:
                # Cut at this very byte: what follows is lost.
                kept = max(0, len(self._watched.held) - over)
                del self._watched.held[kept:]
            self._strike()

    def _strike(self) -> None:
        self._timer.cancel()
        if self._is_over or self._network.is_calm:
            return
        self._is_over = True
        fate, both = self._fate, (self._to_server, self._to_client)
        if any(not (pipe.writer_open and pipe.reader_open) for pipe in both):
            return
        self._network.note_trouble(self._loop.time() - STARTED_AT + fate.seconds)
        match fate.kind:
            case "reset" | "end":
                self._cut(is_reset=fate.kind == "reset")
            case "half_open":
                self._silence(both)
            case "answers_lost":
                self._silence((self._to_client,))
                self._then(fate.seconds, self._cut_after_silence)
            case "stall":
                self._silence(both)
                self._then(fate.seconds, self._thaw)

    def _then(self, seconds: float, act: Callable[[], None]) -> None:
        self._act = act
        self._timer = self._loop.call_later(seconds, self._finish)

    def _finish(self) -> None:
        act, self._act = self._act, None
        if act is not None:
            act()

    def spare(self) -> None:
        """Nothing more comes over it; what has begun ends now."""
        self._timer.cancel()
        self._is_over = True
        self._finish()

    def _silence(self, pipes: tuple[Pipe, ...]) -> None:
        for pipe in pipes:
            pipe.silence(self._loop.time())

    def _thaw(self) -> None:
        for pipe in (self._to_server, self._to_client):
            pipe.is_silent = False
            pipe.unacknowledged_since = None
            pipe.seen_at = self._loop.time()

    def _cut_after_silence(self) -> None:
        self._to_client.held.clear()
        self._to_client.is_silent = False
        self._cut(is_reset=True)

    def _cut(self, *, is_reset: bool) -> None:
        for pipe in (self._to_server, self._to_client):
            pipe.is_silent = False
            if self._fate.loses and pipe.held:
                del pipe.held[self._random.randint(0, len(pipe.held)) :]
            pipe.is_reset = is_reset
            pipe.writer_open = False
            if not is_reset:
                pipe.reader_open = False


__all__ = ["NEVER", "STARTED_AT", "Fate", "Network", "Outage", "PlayedSocket", "SocketModule"]
