"""A remote agent over WebSocket, as a transport; a connection that is cut is resumed automatically.

The server need not know of that.  One that does says so with its first frame (`resume/`); from then
on both sides number their frames, and a new socket continues where the old one ended.  With any
other server, the end of the socket is the end of the transport.

What always holds
    * With a server that resumes, no frame is lost, repeated or reordered, whatever happens to the
      network; where that is impossible, the transport ends and says so.
    * Frames are kept until they are acknowledged, within the bounds of `RemoteLimits`; senders wait
      before a bound is reached.
"""

import asyncio
import random
import ssl
from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Final

import anyio
import anyio.lowlevel
from anyio.abc import TaskGroup

from accord.errors import ConnectFailed, LocalProtocolError
from accord.jsonrpc.envelope import one_line
from accord.machine.redacted_logs import logger
from accord.transport.cookies import Cookies
from accord.transport.readiness import context_of_asyncio
from accord.transport.remote_address import RemoteAddress
from accord.transport.remote_limits import RemoteLimits
from accord.transport.resume.extension_messages import (
    CLOSE_CODE,
    GAP,
    TAKEN_OVER,
    UNKNOWN_CONNECTION,
    ConnectionSaid,
    ReceivedSaid,
    Said,
    read_extension_frame,
    received_frame,
    resume_query,
)
from accord.transport.resume.numbered_frames import ReceivedFrames, SentFrames
from accord.transport.resume.reconnection import (
    GO_ON,
    LOST_MESSAGES,
    RETRIED_STATUSES,
    Reconnection,
)
from accord.transport.transport import BACKLOG_BYTES_LOW, Ended, Receiver
from accord.transport.websocket.client_socket import (
    ABNORMAL_CLOSURE,
    NORMAL_CLOSURE,
    ClientSocket,
    SocketLost,
    open_socket,
)

_log = logger("accord.transport")

# Close codes after which it makes sense to come back: the server or the way to it failed.
_COME_BACK: Final = frozenset({1001, ABNORMAL_CLOSURE, 1011, 1012, 1013, 1014})
_CLEAN: Final = frozenset({NORMAL_CLOSURE, 1001, 1005})
# New connections that are tried when a server says nothing before it is lost.
SILENT_STARTS_MAX: Final = 5
_MARK: Final = b"_accord/"


class WebSocketTransport:
    """Connects in `start`.

    Guards: frames go out in order and once each, over whichever socket there is.
    """

    def __init__(
        self,
        address: RemoteAddress,
        *,
        headers: Iterable[tuple[str, str]] = (),
        tls: ssl.SSLContext | None = None,
        limits: RemoteLimits | None = None,
        cookies: Cookies | None = None,
        chance: Callable[[], float] = random.random,
    ) -> None:
        """`headers` are those of the caller, checked; `cookies` may outlive the connection."""
        self._address = address
        self._headers = tuple(headers)
        self._limits = limits = limits or RemoteLimits()
        self._tls = tls
        self._chance = chance
        self._cookies = cookies if cookies is not None else Cookies()
        self._receiver: Receiver | None = None
        self._tasks: TaskGroup | None = None
        self._socket: ClientSocket | None = None
        # The beginning of a frame that is written in parts.
        self._part: list[bytes] = []
        self._sent = SentFrames(limits.kept_bytes)
        self._received = ReceivedFrames(limits)
        # None until the first frame of the server shows whether it can resume.
        self._resumes: bool | None = None
        self._connection_id: str | None = None
        # Whether the first frame of the current socket has come.
        self._is_greeted = False
        self._silent_starts = 0
        self._reconnection = Reconnection(limits)
        self._timer: asyncio.TimerHandle | None = None
        self._reconnecting: anyio.CancelScope | None = None
        self._drained: anyio.Event | None = None
        self._gone = anyio.Event()
        self._is_paused = False
        self._is_closing = False
        self._has_ended = False

    @property
    def address(self) -> RemoteAddress:
        """Where the agent is."""
        return self._address

    @property
    def resumes(self) -> bool:
        """Whether the server can continue a connection that was cut."""
        return bool(self._resumes)

    # ---- lifetime

    async def start(self, receiver: Receiver, tasks: TaskGroup) -> None:
        """Connect to the server.

        Raises:
            ConnectFailed: it could not be reached, or refused; the message says why.
        """
        try:
            asyncio.get_running_loop()
        except RuntimeError:
            plain = {"ws": "http", "wss": "https"}[self._address.scheme]
            raise LocalProtocolError(
                f"a WebSocket needs asyncio as the event loop; on this one, use {plain}://"
            ) from None
        self._receiver, self._tasks = receiver, tasks
        if self._address.is_encrypted and self._tls is None:
            self._tls = tls_context()
        await self._connect()

    async def _connect(self) -> None:
        """Open a socket, for a new connection or to come back to ours."""
        resume = resume_query(self._connection_id, self._received.count)
        query = self._address.query
        address = replace(self._address, query=f"{query}&{resume}" if query else resume)
        own = "; ".join(value for name, value in self._headers if name.lower() == "cookie")
        headers = [one for one in self._headers if one[0].lower() != "cookie"]
        if cookies := self._cookies.header(own):
            headers.append(("Cookie", cookies))
        socket, response = await open_socket(address, headers, self._limits, self, self._tls)
        for cookie in response.headers.get_all("Set-Cookie"):
            self._cookies.store(cookie, is_secure=self._address.is_encrypted)
        self._socket = socket
        self._is_greeted = False
        if self._is_paused:
            socket.pause()
        socket.start()
        if self._connection_id is None:
            # A server that does not resume says nothing before it has our first frame.
            if not self._sent.rewind(0):
                self._fail(LOST_MESSAGES)
            self._flush()

    async def aclose(self) -> None:
        """Close the connection, also at the server, and free everything."""
        if self._is_closing:
            return
        self._is_closing = True
        if self._reconnecting is not None:
            self._reconnecting.cancel()
        if self._socket is not None:
            self._socket.close()
            with anyio.CancelScope(shield=True):
                await self._gone.wait()
        self._end(Ended("closed here", clean=True))
        # A socket that was aborted is closed when the event loop comes round.
        await anyio.lowlevel.cancel_shielded_checkpoint()

    def _end(self, why: Ended) -> None:
        if self._has_ended:
            return
        self._has_ended = True
        self._gone.set()
        if self._timer is not None:
            self._timer.cancel()
        self._wake_senders()
        if self._receiver is not None:
            self._receiver.ended(why)

    # ---- writing

    @property
    def backlog(self) -> int:
        """Bytes that wait: for the socket, for a new one, or for a late acknowledgement."""
        on_socket = 0 if self._socket is None else self._socket.backlog
        late = self._sent.kept_bytes - self._limits.kept_bytes // 2 if self._resumes else 0
        return on_socket + self._sent.unsent_bytes + max(0, late)

    def write(self, data: bytes) -> None:
        """Send whole lines as frames; the beginning of a line waits for its end."""
        if self._has_ended:
            return
        lines = data.split(b"\n")
        if self._part or lines[-1]:
            self._part.append(lines[0])
            if len(lines) == 1:
                return
            lines[0] = b"".join(self._part)
            self._part = [lines[-1]] if lines[-1] else []
        lines.pop()
        self._send(lines)

    def _send(self, frames: list[bytes]) -> None:
        socket, sent = self._socket, self._sent
        if self._resumes is False:
            if socket is not None:
                socket.send(frames)
            return
        if socket is not None and self._may_send and not sent.has_unsent:
            for frame in frames:
                sent.append_sent(frame)
            socket.send(frames)
            return
        for frame in frames:
            sent.append(frame)
        # The last one may be over the limit: a single message always has room.
        if frames and sent.unsent_bytes - len(frames[-1]) > self._limits.backlog_bytes:
            loop = asyncio.get_running_loop()
            loop.call_soon(self._fail, _FULL_BACKLOG, context=context_of_asyncio())

    @property
    def _may_send(self) -> bool:
        """Whether frames may go out; a server that we come back to says first what it has."""
        return self._is_greeted or self._connection_id is None

    def _flush(self) -> None:
        """Send what waits, as far as the socket takes it without a large backlog."""
        socket, sent = self._socket, self._sent
        while socket is not None and sent.has_unsent and socket.backlog <= BACKLOG_BYTES_LOW:
            frames: list[bytes] = []
            size = 0
            while size < BACKLOG_BYTES_LOW and (frame := sent.take()) is not None:
                frames.append(frame)
                size += len(frame)
            socket.send(frames)
        self._wake_senders()

    async def drain(self) -> None:
        """Wait until the backlog is small or the transport has ended."""
        while self.backlog > BACKLOG_BYTES_LOW and not self._has_ended:
            if self._drained is None or self._drained.is_set():
                self._drained = anyio.Event()
            await self._drained.wait()

    def _wake_senders(self) -> None:
        if self._drained is not None:
            self._drained.set()

    def pause(self) -> None:
        """Deliver nothing until `resume`."""
        self._is_paused = True
        if self._socket is not None:
            self._socket.pause()

    def resume(self) -> None:
        self._is_paused = False
        if self._socket is not None:
            self._socket.resume()

    # ---- what the socket tells

    def messages_received(self, messages: list[bytes]) -> None:
        """Deliver messages, and note what is said about resuming."""
        if not self._is_greeted:
            self._is_greeted = True
            self._reconnection.restored()
            messages = self._first_frame(messages)
        data = b"\n".join(messages)
        if self._resumes and _MARK in data:
            messages = [one for one in messages if not self._is_extension_frame(one)]
            data = b"\n".join(messages)
        if not messages or self._has_ended or self._is_closing:
            return
        self._reconnection.progressed()
        if data.count(b"\n") >= len(messages):
            # Line breaks between the tokens of a message.
            data = b"\n".join(map(one_line, messages))
        assert self._receiver is not None
        self._receiver.data_received(data + b"\n")
        if self._resumes:
            self._count(len(data), len(messages))

    def _first_frame(self, messages: list[bytes]) -> list[bytes]:
        """Find out whether the server resumes, and where it continues."""
        said = read_extension_frame(messages[0])
        if self._connection_id is None:
            self._resumes = isinstance(said, ConnectionSaid)
            if isinstance(said, ConnectionSaid):
                self._connection_id = said.connection_id
                self._silent_starts = 0
                return messages[1:]
            # Nothing will be asked for again.
            while (frame := self._sent.take()) is not None:
                self._send([frame])
            self._sent = SentFrames(0)
            return messages
        if not isinstance(said, ConnectionSaid) or said.connection_id != self._connection_id:
            self._fail("the server does not continue the connection")
            return []
        if not self._sent.rewind(said.received):
            self._fail(LOST_MESSAGES)
            return []
        self._flush()
        return messages[1:]

    def _is_extension_frame(self, message: bytes) -> bool:
        said: Said | None = read_extension_frame(message)
        if isinstance(said, ReceivedSaid):
            self._reconnection.progressed()
            if not self._sent.acknowledge(said.count):
                self._fail(f"the server acknowledged a frame that was never sent: {said.count}")
            self._flush()
        return said is not None

    def _count(self, size: int, frames: int) -> None:
        if self._received.add(size, frames):
            self._acknowledge()
        elif self._timer is None:
            seconds = self._limits.acknowledge_seconds
            self._timer = asyncio.get_running_loop().call_later(seconds, self._acknowledge)

    def _acknowledge(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        if self._socket is not None and self._received.is_owing:
            self._socket.send([received_frame(self._received.acknowledged())])

    def socket_drained(self) -> None:
        """Send more of what waits."""
        self._flush()

    def socket_lost(self, socket: ClientSocket, lost: SocketLost) -> None:
        """End, or come back with a new socket."""
        if socket is not self._socket:
            return
        self._socket = None
        if self._is_closing:
            self._gone.set()
            return
        if self._has_ended:
            return
        if lost.code == CLOSE_CODE and lost.reason in _REFUSALS:
            self._end(Ended(self._lost_text(_REFUSALS[lost.reason])))
        elif self._may_come_back(lost):
            _log.info("%s: %s; reconnecting", self._address, lost.reason)
            assert self._tasks is not None
            self._tasks.start_soon(self._reconnect, lost.reason, name="reconnect")
        else:
            said = f": {lost.reason}" if lost.reason else ""
            reason = f"the server closed the connection (code {lost.code}{said})"
            if lost.code == ABNORMAL_CLOSURE:
                reason = lost.reason
            self._end(Ended(self._lost_text(reason), clean=lost.code in _CLEAN))

    def _may_come_back(self, lost: SocketLost) -> bool:
        # An earlier attempt of ours that reached the server late takes the place of a later one.
        is_taken_over = lost.code == CLOSE_CODE and lost.reason == TAKEN_OVER
        if lost.code not in _COME_BACK and not is_taken_over:
            return False
        if self._resumes is not None:
            return self._resumes
        # The server has said nothing yet: another start cannot lose or repeat anything.
        self._silent_starts += 1
        return lost.code == ABNORMAL_CLOSURE and self._silent_starts < SILENT_STARTS_MAX

    def _fail(self, reason: str) -> None:
        if self._socket is not None:
            socket, self._socket = self._socket, None
            socket.abort(reason)
        self._end(Ended(self._lost_text(reason)))

    def _lost_text(self, reason: str) -> str:
        return f"the connection to {self._address} ended: {reason}"

    # ---- reconnecting

    async def _reconnect(self, reason: str) -> None:
        """Try at once, then after growing delays, while the server keeps the connection."""
        if self._is_closing:
            # Closed in the same round of the event loop in which the socket was lost.
            return
        last = reason
        with anyio.CancelScope() as self._reconnecting:
            while (delay := self._next_delay(reason)) is not None:
                if (notice := self._reconnection.notice(self._address)) is not None:
                    _log.warning("%s", notice)
                if delay:
                    await anyio.sleep(delay)
                left = self._reconnection.seconds_left(anyio.current_time())
                try:
                    with anyio.fail_after(left):
                        await self._connect()
                    return
                except TimeoutError:
                    break
                except ConnectFailed as error:
                    last = error.message
                    if error.status is not None and error.status not in RETRIED_STATUSES:
                        break
            why = last if last == reason else f"{reason}; {last}"
            why += "" if why.endswith("?") else "."
            self._end(Ended(self._lost_text(f"{why}  {GO_ON}")))

    def _next_delay(self, reason: str) -> float | None:
        return self._reconnection.delay(anyio.current_time(), self._chance(), reason)


def tls_context() -> ssl.SSLContext:
    """Return a context that checks certificates and speaks TLS 1.2 or newer."""
    context = ssl.create_default_context()
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    context.set_alpn_protocols(["http/1.1"])
    return context


_FULL_BACKLOG: Final = "too much waits to be sent (limit backlog_bytes)"
_REFUSALS: Final = {
    GAP: LOST_MESSAGES,
    UNKNOWN_CONNECTION: f"the server no longer has this connection.  {GO_ON}",
}


__all__ = ["WebSocketTransport", "tls_context"]
