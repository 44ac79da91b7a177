"""Translates for a client of a chain that speaks the 2026-02 draft.

Proxies read v1 and v2.  A client that speaks the draft gets a translator in this process, and every
proxy sees v1.  The bytes of any other client are forwarded unchanged.

What always holds
    * The first message of a client decides, and nothing later does.
    * Messages that arrive before the translator is ready wait, and none is lost.
"""

from __future__ import annotations

from typing import Any, Final

import anyio
from anyio.abc import TaskGroup

from accord.jsonrpc.framing import FRAME_BYTES_MAX, FrameTooLong, splitter_for
from accord.machine.redacted_logs import logger
from accord.protocol.negotiation import Chosen, judge_request
from accord.proxy.hop import ENVELOPE_BYTES
from accord.schema.codec import to_python
from accord.schema.invalid import Invalid
from accord.transport.memory import MemoryTransport, memory_pair
from accord.transport.transport import Ended, Receiver, Transport

_log = logger("accord.proxy")

INITIALIZE: Final = "initialize"
OFFICIAL: Final = frozenset(("v1", "v2"))
LAST_BYTES_SECONDS_MAX: Final = 2.0
"""How long the translator may take for the last messages when a chain closes."""


class OfficialClient:
    """A client's transport as the chain sees it: v1 or v2, whatever the client speaks."""

    def __init__(self, client: Transport) -> None:
        self._client = client
        # Where the chain writes: the client, or the translator before it.
        self._to: Transport = client
        self._owner: Receiver | None = None
        self._tasks: TaskGroup | None = None
        self._splitter = splitter_for(None, frame_bytes_max=FRAME_BYTES_MAX + ENVELOPE_BYTES)
        self._head = b""
        self._target: Receiver | None = None
        self._over: Ended | None = None
        self._carried: anyio.Event | None = None

    # ---- for the chain

    @property
    def backlog(self) -> int:
        """Bytes that the client has not taken yet."""
        return self._to.backlog

    async def start(self, receiver: Receiver, tasks: TaskGroup) -> None:
        """Start to deliver the client's messages."""
        self._owner, self._tasks = receiver, tasks
        await self._client.start(self, tasks)

    def write(self, data: bytes) -> None:
        """Write to the client."""
        self._to.write(data)

    async def drain(self) -> None:
        """Wait until the client has taken most of it."""
        await self._to.drain()

    def pause(self) -> None:
        """Deliver nothing until `resume`."""
        self._to.pause()

    def resume(self) -> None:
        self._to.resume()

    async def aclose(self) -> None:
        """Close the transport after the last translated bytes are written."""
        await self._to.aclose()
        if self._carried is not None:
            with anyio.move_on_after(LAST_BYTES_SECONDS_MAX):
                await self._carried.wait()
        await self._client.aclose()

    # ---- from the client

    def data_received(self, data: bytes) -> None:
        """Take the next bytes of the client."""
        if self._target is not None:
            self._target.data_received(data)
            return
        self._head += data
        if self._carried is None:
            self._judge(data)

    def ended(self, why: Ended) -> None:
        """Take notice that the client has disconnected."""
        if self._target is None and self._carried is None:
            self._pass_on()
        if self._target is None:
            self._over = why
        else:
            self._target.ended(why)

    def _judge(self, data: bytes) -> None:
        try:
            frames = self._splitter.feed(data)
        except FrameTooLong:
            # The chain reports the error.
            self._pass_on()
            return
        if not frames:
            return
        first = _read(frames[0])
        chosen = judge_request(_object(first.get("params")), (1, 2))
        is_draft = isinstance(chosen, Chosen) and chosen.dialect not in OFFICIAL
        if first.get("method") == INITIALIZE and is_draft:
            _log.info("the client speaks the 2026-02 draft; adding a translator")
            assert self._tasks is not None
            self._carried = anyio.Event()
            ours, theirs = memory_pair()
            self._to = theirs
            self._tasks.start_soon(self._translate, ours, theirs, name="translated client")
        else:
            self._pass_on()

    def _pass_on(self) -> None:
        assert self._owner is not None
        self._target = self._owner
        head, self._head = self._head, b""
        if head:
            self._owner.data_received(head)

    async def _translate(self, ours: MemoryTransport, theirs: MemoryTransport) -> None:
        from accord.proxy.relay.translated_transport import Translated, carry

        assert self._owner is not None
        assert self._tasks is not None
        assert self._carried is not None
        await theirs.start(self._owner, self._tasks)
        try:
            await carry(_Begun(self), Translated(ours, to="draft", speaks="v1"))
        finally:
            self._carried.set()

    def take_over(self, receiver: Receiver) -> None:
        """Deliver all bytes, those received so far too, to this receiver."""
        self._target = receiver
        head, self._head = self._head, b""
        receiver.data_received(head)
        if self._over is not None:
            receiver.ended(self._over)

    @property
    def is_translated(self) -> bool:
        """Whether the client speaks the draft and the chain v1."""
        return self._carried is not None

    @property
    def transport(self) -> Transport:
        """The transport of the client itself."""
        return self._client


class _Begun:
    """The transport of a client that has already sent something, as one that can be started."""

    def __init__(self, end: OfficialClient) -> None:
        self._end = end
        self._wire = end.transport

    @property
    def backlog(self) -> int:
        return self._wire.backlog

    async def start(self, receiver: Receiver, tasks: TaskGroup) -> None:
        del tasks
        self._end.take_over(receiver)

    def write(self, data: bytes) -> None:
        self._wire.write(data)

    async def drain(self) -> None:
        await self._wire.drain()

    def pause(self) -> None:
        self._wire.pause()

    def resume(self) -> None:
        self._wire.resume()

    async def aclose(self) -> None:
        await self._wire.aclose()


def _read(frame: bytes) -> dict[str, Any]:
    try:
        return _object(to_python(frame))
    except Invalid:
        return {}


def _object(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}
