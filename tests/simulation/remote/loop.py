"""The simulator's event loop with a played network: asyncio's own transports on played sockets."""

import asyncio
import socket
from asyncio.selector_events import _SelectorSocketTransport  # type: ignore[attr-defined]
from collections.abc import Callable
from random import Random
from typing import Any

from tests.simulation.remote.network import Network, PlayedSocket
from tests.simulation.runtime.loop import Policy, SeededLoop

ProtocolFactory = Callable[[], asyncio.BaseProtocol]


class NumberedTransport(_SelectorSocketTransport):  # type: ignore[misc]
    """A transport whose place in a set does not depend on its address."""

    _sock: Any

    def __init__(self, loop: "NetworkLoop", *given: Any) -> None:
        super().__init__(loop, *given)
        loop.made.append(self)

    def __hash__(self) -> int:
        return hash(self._sock_fd)

    def drop(self) -> None:
        """Close the socket of a world that is over."""
        sock, self._sock = self._sock, None
        if sock is not None:
            sock.close()


class Listener:
    """What `create_server` returns."""

    def __init__(self, network: Network, place: Any) -> None:
        self._network = network
        self._place = place

    def close(self) -> None:
        """Take no more connections."""
        self._network.stop_listening(self._place)


class NetworkLoop(SeededLoop):
    """Guards: everything that is connected here is connected by the played network."""

    network: Network

    def __init__(self, random: Random, policy: Policy) -> None:
        super().__init__(random, policy)
        self.made: list[NumberedTransport] = []

    def drop_transports(self) -> None:
        """Close what a broken world has left open, so that the next one does not hear of it."""
        for transport in self.made:
            transport.drop()
        self.made.clear()

    def _add_reader(self, fd: int, callback: Any, *args: Any) -> None:
        self.add_reader(fd, callback, *args)

    def _remove_reader(self, fd: int) -> bool:
        return self.remove_reader(fd)

    def _add_writer(self, fd: int, callback: Any, *args: Any) -> None:
        self.add_writer(fd, callback, *args)

    def _remove_writer(self, fd: int) -> bool:
        return self.remove_writer(fd)

    @property
    def _transports(self) -> dict[int, Any]:
        return {}

    async def getaddrinfo(self, host: Any, port: Any, **more: Any) -> list[Any]:
        """Every name is this machine."""
        return [(socket.AF_INET, socket.SOCK_STREAM, 0, "", ("127.0.0.1", port))]

    async def create_connection(  # type: ignore[override]
        self,
        factory: ProtocolFactory,
        host: str = "",
        port: int = 0,
        *,
        sock: PlayedSocket | None = None,
        **more: Any,
    ) -> tuple[Any, Any]:
        """Connect to a port, or use a socket that is connected."""
        if sock is None:
            return await self._connect(factory, (host, port))
        return await self._take_over(factory, sock)

    async def create_unix_connection(  # type: ignore[override]
        self, factory: ProtocolFactory, path: str, **more: Any
    ) -> tuple[Any, Any]:
        """Connect to a path."""
        return await self._connect(factory, path)

    async def create_server(  # type: ignore[override]
        self, factory: ProtocolFactory, host: str, port: int, **more: Any
    ) -> Listener:
        """Listen on a port."""
        return self.listen(factory, port)

    def listen(self, factory: ProtocolFactory, place: Any) -> Listener:
        """Listen on a port or on a path."""

        def accept(sock: PlayedSocket) -> None:
            NumberedTransport(self, sock, factory())

        self.network.listen(place, accept)
        return Listener(self.network, place)

    async def _connect(self, factory: ProtocolFactory, place: Any) -> tuple[Any, Any]:
        sock = self.network.socket()
        try:
            sock.connect_ex(place)
            connected = self.create_future()
            self.add_writer(sock.fd, _resolve, connected)
            try:
                await connected
            finally:
                self.remove_writer(sock.fd)
            if sock.error:
                raise ConnectionRefusedError(sock.error, "Connection refused")
        except BaseException:
            sock.close()
            raise
        return await self._take_over(factory, sock)

    async def _take_over(self, factory: ProtocolFactory, sock: PlayedSocket) -> tuple[Any, Any]:
        protocol = factory()
        made = self.create_future()
        transport = NumberedTransport(self, sock, protocol, made)
        try:
            await made
        except BaseException:
            transport.close()
            raise
        return transport, protocol


def _resolve(future: "asyncio.Future[None]") -> None:
    if not future.done():
        future.set_result(None)


__all__ = ["Listener", "NetworkLoop"]
