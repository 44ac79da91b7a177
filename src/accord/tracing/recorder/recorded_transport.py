"""A transport to a client whose messages are recorded."""

from __future__ import annotations

from collections.abc import Callable

from anyio.abc import TaskGroup

from accord.transport.transport import Ended, Receiver, Transport

Observe = Callable[[str, bytes], None]


class RecordedTransport:
    """A transport to a client; `observe` sees what each side says, before it is passed on."""

    def __init__(self, inner: Transport, observe: Observe) -> None:
        self._inner = inner
        self._observe = observe

    @property
    def backlog(self) -> int:
        return self._inner.backlog

    async def start(self, receiver: Receiver, tasks: TaskGroup) -> None:
        await self._inner.start(_ObservedReceiver(receiver, self._observe), tasks)

    def write(self, data: bytes) -> None:
        self._observe("agent", data)
        self._inner.write(data)

    async def drain(self) -> None:
        await self._inner.drain()

    def pause(self) -> None:
        self._inner.pause()

    def resume(self) -> None:
        self._inner.resume()

    async def aclose(self) -> None:
        await self._inner.aclose()


class _ObservedReceiver:
    def __init__(self, receiver: Receiver, observe: Observe) -> None:
        self._receiver = receiver
        self._observe = observe

    def data_received(self, data: bytes) -> None:
        self._observe("client", data)
        self._receiver.data_received(data)

    def ended(self, why: Ended) -> None:
        self._receiver.ended(why)
