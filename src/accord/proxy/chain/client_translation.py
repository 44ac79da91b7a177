"""The client's end of a chain, where the client may speak the 2026-02 draft.

Proxies read v1 and v2.  So a client that speaks the draft meets a translator at its own end, in
this process, and every proxy behind it sees v1.  Any other client is passed on byte for byte.

What always holds
    * A client is judged by its first message, and never again.
    * What it says before the translator is ready waits, and none of it is lost.
"""

from __future__ import annotations

from typing import Any, Final

import anyio
from anyio.abc import TaskGroup

from accord.jsonrpc.framing import FRAME_BYTES_MAX, FrameTooLong, splitter_for
from accord.machine.logs import logger
from accord.protocol.negotiation import Chosen, judge_request
from accord.proxy.hop import ENVELOPE_BYTES
from accord.schema.codec import to_python
from accord.schema.invalid import Invalid
from accord.transport.memory import MemoryTransport, memory_pair
from accord.transport.transport import Ended, Receiver, Transport

_log = logger("accord.proxy")

INITIALIZE: Final = "initialize"
LAST_BYTES_SECONDS_MAX: Final = 2.0
"""How long the last messages may take through the translator when a chain closes."""


class OfficialClient:
    """A client's transport as its chain sees it: in v1 or v2, whatever the client speaks."""

    def __init__(self, client: Transport) -> None:
        self._client = client
        # Whom the chain speaks to: the client, or the translator before it.
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
        """Begin to deliver what the client says."""
        self._owner, self._tasks = receiver, tasks
        await self._client.start(self, tasks)

    def write(self, data: bytes) -> None:
        """Send the client something."""
        self._to.write(data)

    async def drain(self) -> None:
        """Wait until the client has taken most of it."""
        await self._to.drain()

    def pause(self) -> None:
        """Deliver nothing until `resume`."""
        self._to.pause()

    def resume(self) -> None:
        """Deliver again."""
        self._to.resume()

    async def aclose(self) -> None:
        """End it."""
        await self._to.aclose()
        if self._carried is not None:
            with anyio.move_on_after(LAST_BYTES_SECONDS_MAX):
                await self._carried.wait()
        await self._client.aclose()

    # ---- from the client

    def data_received(self, data: bytes) -> None:
        """The next bytes of the client."""
        if self._target is not None:
            self._target.data_received(data)
            return
        self._head += data
        if self._carried is None:
            self._judge(data)

    def ended(self, why: Ended) -> None:
        """The client has said its last."""
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
            # The chain says what is wrong with it.
            self._pass_on()
            return
        if not frames:
            return
        first = _read(frames[0])
        chosen = judge_request(_object(first.get("params")), (1, 2))
        is_draft = isinstance(chosen, Chosen) and chosen.dialect == "draft"
        if first.get("method") == INITIALIZE and is_draft:
            _log.info("the client speaks the 2026-02 draft; it is translated")
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
        """Deliver what has come so far, and what comes, to this receiver."""
        self._target = receiver
        head, self._head = self._head, b""
        receiver.data_received(head)
        if self._over is not None:
            receiver.ended(self._over)

    @property
    def is_translated(self) -> bool:
        """Whether the client speaks the draft, and its chain v1."""
        return self._carried is not None

    @property
    def transport(self) -> Transport:
        """The wire to the client itself."""
        return self._client


class _Begun:
    """The wire to a client that has begun to speak already, as a transport to start."""

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


__all__ = ["OfficialClient"]
