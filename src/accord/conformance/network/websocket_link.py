"""A connection to a judged server over WebSocket, as a stream of lines: one text frame each.

The frames are those of the `websockets` library without its input and output, so that a check can
send what no client would.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import asynccontextmanager
from typing import Any

import anyio
from anyio.abc import ByteStream

from accord.conformance.frames.raw_peer import Unanswered
from accord.conformance.network.address import RemoteServer
from accord.conformance.network.http_caller import connect
from accord.conformance.network.line_stream import LineStream
from accord.conformance.time_limits import ANSWER_SECONDS

MESSAGE_BYTES_MAX = 64 * 1024 * 1024
READ_BYTES = 65_536
NORMAL_CLOSURE = 1000


class UpgradeRefused(Unanswered):
    """The server did not answer the upgrade with 101; the message has its answer.

    `answer` has its status, its headers and its body, if it answered in HTTP.
    """

    def __init__(self, message: str, answer: Any = None) -> None:
        super().__init__(message)
        self.answer = answer


class WebSocketLink(LineStream):
    """One WebSocket.  `run` sends messages, `read` receives them."""

    def __init__(self, stream: ByteStream, protocol: Any) -> None:
        super().__init__()
        self.stream = stream
        self.protocol = protocol
        # The headers of the response to the upgrade.
        self.opened: Mapping[str, str] = {}
        self.binary_frames: list[bytes] = []
        # Frames that arrived with that response.
        self.early: list[Any] = []
        self.over = anyio.Event()
        self._writing = anyio.Lock()
        self._parts: list[bytes] = []
        self._is_text = True

    @property
    def close_code(self) -> int | None:
        """The code with which the server closed, if it has."""
        received = self.protocol.close_rcvd
        return None if received is None else int(received.code)

    async def run(self) -> None:
        while (line := await self.outgoing()) is not None:
            # A text frame must be UTF-8: other bytes stay noise, but become text.
            await self.say(self.protocol.send_text, line.decode("utf-8", "replace").encode())
        await self.leave()

    async def send_binary(self, data: bytes) -> None:
        await self.say(self.protocol.send_binary, data)

    async def say(self, send: Callable[[Any], None], data: Any) -> None:
        """Send by a method of the protocol; nothing is sent once the socket is closing."""
        from websockets.exceptions import InvalidState

        try:
            send(data)
        except InvalidState:
            pass
        await self.flush()

    async def read(self) -> None:
        """Pass on every message until the server closes."""
        try:
            for frame in self.early:
                await self._take(frame)
            while not self.over.is_set():
                for event in self.protocol.events_received():
                    await self._take(event)
                await self.flush()
                if self.protocol.close_expected() and self.protocol.close_rcvd is not None:
                    break
                self.protocol.receive_data(await self.stream.receive(READ_BYTES))
        except (anyio.EndOfStream, anyio.BrokenResourceError, anyio.ClosedResourceError):
            self.protocol.receive_eof()
            for event in self.protocol.events_received():
                await self._take(event)
        finally:
            self.over.set()
            self.ended()

    async def _take(self, frame: Any) -> None:
        from websockets.frames import Opcode

        if frame.opcode in (Opcode.TEXT, Opcode.BINARY):
            self._is_text = frame.opcode is Opcode.TEXT
        if frame.opcode not in (Opcode.TEXT, Opcode.BINARY, Opcode.CONT):
            return
        self._parts.append(bytes(frame.data))
        if not frame.fin:
            return
        whole = b"".join(self._parts)
        self._parts = []
        if self._is_text:
            await self.arrived(whole)
        else:
            self.binary_frames.append(whole)

    async def flush(self) -> None:
        """Write the output of the protocol."""
        async with self._writing:
            try:
                for data in self.protocol.data_to_send():
                    if data:
                        await self.stream.send(data)
            except (anyio.BrokenResourceError, anyio.ClosedResourceError):
                self.over.set()

    async def leave(self) -> None:
        """Close, and wait briefly for the server's close."""
        await self.say(self.protocol.send_close, NORMAL_CLOSURE)
        with anyio.move_on_after(1):
            await self.over.wait()
        self.ended()


@asynccontextmanager
async def websocket_link(
    server: RemoteServer, headers: Mapping[str, str] | None = None
) -> AsyncGenerator[WebSocketLink]:
    """Upgrade, and close on leaving.

    Raises:
        NotReached: nobody listens.
        UpgradeRefused: the server does not upgrade.
    """
    from websockets.client import ClientProtocol
    from websockets.uri import parse_uri

    stream = await connect(server.address, "http/1.1")
    url = server.address.url.replace("http", "ws", 1)
    link = WebSocketLink(stream, ClientProtocol(parse_uri(url), max_size=MESSAGE_BYTES_MAX))
    try:
        await _upgrade(link, {**server.headers, **(headers or {})})
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(link.run)
            tasks.start_soon(link.read)
            try:
                yield link
            finally:
                with anyio.CancelScope(shield=True):
                    await link.leave()
                tasks.cancel_scope.cancel()
    finally:
        await anyio.aclose_forcefully(stream)
        link.ended()


async def _upgrade(link: WebSocketLink, headers: Mapping[str, str]) -> None:
    from websockets.exceptions import InvalidHandshake
    from websockets.protocol import State

    protocol = link.protocol
    request = protocol.connect()
    for name, value in headers.items():
        if name.lower() in request.headers:
            del request.headers[name]
        request.headers[name] = value
    protocol.send_request(request)
    await link.flush()
    with anyio.move_on_after(ANSWER_SECONDS):
        while protocol.state is State.CONNECTING and protocol.handshake_exc is None:
            try:
                protocol.receive_data(await link.stream.receive(READ_BYTES))
            except (anyio.EndOfStream, anyio.BrokenResourceError):
                protocol.receive_eof()
    error = protocol.handshake_exc
    if isinstance(error, (InvalidHandshake, EOFError)):
        answer = getattr(error, "response", None)
        raise UpgradeRefused(f"the upgrade to WebSocket was refused: {error}", answer)
    if protocol.state is State.CONNECTING:
        raise UpgradeRefused(f"the upgrade was not answered within {ANSWER_SECONDS:g} s")
    # The response is the first event; frames may follow it.
    first, *link.early = protocol.events_received()
    link.opened = {name.lower(): value for name, value in first.headers.raw_items()}
