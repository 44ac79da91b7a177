"""A transport that lets somebody listen: the option `traffic` of a client.

Must not know frames.  It is there only where somebody listens; without it nothing costs anything.

What always holds
    * The listener is told each chunk in the order of the wire, before whoever it is meant for.
    * Whatever the listener does, the conversation goes on: one that fails is told nothing more.
    * All other words of the transport (`stderr_tail` and the like) are its own.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal, TypeAlias

from anyio.abc import TaskGroup

from accord.machine.logs import logger
from accord.transport.transport import Ended, Receiver, Transport

_log = logger("accord.client")

# Which way, and the bytes, in any split.  No bytes are received once: when the conversation is
# over.  What comes later belongs to the next one, with an agent that was started again.
Listener: TypeAlias = Callable[[Literal["sent", "received"], bytes], None]


class TrafficTap:
    """Bytes both ways, told to a listener as well."""

    def __init__(self, transport: Transport, listener: Listener) -> None:
        self._transport = transport
        self._listener: Listener | None = listener
        # Where nothing is to be heard, the transport's own function is called.
        self.drain, self.pause, self.resume = transport.drain, transport.pause, transport.resume
        self.aclose = transport.aclose

    def __getattr__(self, name: str) -> Any:
        """What this transport has beyond the promise of all."""
        return getattr(self._transport, name)

    @property
    def backlog(self) -> int:
        """See `Transport`."""
        return self._transport.backlog

    async def start(self, receiver: Receiver, tasks: TaskGroup) -> None:
        """See `Transport`."""
        await self._transport.start(_Listening(receiver, self.tell), tasks)

    def write(self, data: bytes) -> None:
        """See `Transport`."""
        if data:
            self.tell("sent", data)
        self._transport.write(data)

    def tell(self, way: Literal["sent", "received"], data: bytes) -> None:
        """Let the listener hear it, if there still is one."""
        if self._listener is None:
            return
        try:
            self._listener(way, data)
        except Exception:  # noqa: BLE001 - the listener's fault must not end the conversation
            self._listener = None
            _log.exception("the function for traffic= failed; it is not called any more")


class _Listening:
    """The receiver, and the listener before it."""

    def __init__(self, receiver: Receiver, tell: Listener) -> None:
        self._receiver = receiver
        self._tell = tell

    def data_received(self, data: bytes) -> None:
        """See `Receiver`."""
        if data:
            self._tell("received", data)
        self._receiver.data_received(data)

    def ended(self, why: Ended) -> None:
        """See `Receiver`."""
        self._tell("received", b"")
        self._receiver.ended(why)


__all__ = ["Listener", "TrafficTap"]
