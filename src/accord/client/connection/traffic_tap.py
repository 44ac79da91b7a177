"""A transport that reports its bytes to a listener: the option `traffic` of a client.

Must not know frames.  It is used only where there is a listener, so that others pay nothing.

What always holds
    * The listener gets each chunk in the order of the wire, before the receiver does.
    * A listener that raises is called no more, and the connection goes on.
    * All other attributes (`stderr_tail` and the like) are those of the wrapped transport.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal, TypeAlias

from anyio.abc import TaskGroup

from accord.machine.redacted_logs import logger
from accord.transport.transport import Ended, Receiver, Transport

_log = logger("accord.client")

# Called with the direction and the bytes, in any split.  Empty bytes are received once, at the end
# of the connection; what comes later belongs to the next one, of a restarted agent.
Listener: TypeAlias = Callable[[Literal["sent", "received"], bytes], None]


class TrafficTap:
    """Wraps a transport and reports its bytes."""

    def __init__(self, transport: Transport, listener: Listener) -> None:
        self._transport = transport
        self._listener: Listener | None = listener
        # Functions that move no bytes are the transport's own.
        self.drain, self.pause, self.resume = transport.drain, transport.pause, transport.resume
        self.aclose = transport.aclose

    def __getattr__(self, name: str) -> Any:
        """Attributes of the wrapped transport."""
        return getattr(self._transport, name)

    @property
    def backlog(self) -> int:
        return self._transport.backlog

    async def start(self, receiver: Receiver, tasks: TaskGroup) -> None:
        await self._transport.start(_TappedReceiver(receiver, self.tell), tasks)

    def write(self, data: bytes) -> None:
        if data:
            self.tell("sent", data)
        self._transport.write(data)

    def tell(self, way: Literal["sent", "received"], data: bytes) -> None:
        """Call the listener, unless it has failed."""
        if self._listener is None:
            return
        try:
            self._listener(way, data)
        except Exception:  # noqa: BLE001 - a mistake of the listener must not end the connection
            self._listener = None
            _log.exception("the function for traffic= failed; it is no longer called")


class _TappedReceiver:
    """Calls the listener, then the receiver."""

    def __init__(self, receiver: Receiver, tell: Listener) -> None:
        self._receiver = receiver
        self._tell = tell

    def data_received(self, data: bytes) -> None:
        if data:
            self._tell("received", data)
        self._receiver.data_received(data)

    def ended(self, why: Ended) -> None:
        self._tell("received", b"")
        self._receiver.ended(why)
