"""Opens a TCP connection to a server that may have several addresses.

One address is tried after the other: asyncio's own race between them loses a socket when it is
cancelled, and trio has another.
"""

import errno
import os
import socket
from typing import Final

import anyio

from accord.transport.remote_address import RemoteAddress

# How long one of several addresses of a host may take.
ADDRESS_SECONDS_MAX: Final = 5.0


async def connect_socket(address: RemoteAddress) -> socket.socket:
    """Connect to the first address of the host that answers.

    Raises:
        OSError: no address answered; the problem of the last one.
    """
    try:
        found = await anyio.getaddrinfo(address.host, address.port, type=socket.SOCK_STREAM)
    except UnicodeError as error:
        raise socket.gaierror(socket.EAI_NONAME, "not a valid name") from error
    problem: OSError = socket.gaierror(socket.EAI_NONAME, "it has no address")
    for family, _, _, _, place in found:
        sock = socket.socket(family, socket.SOCK_STREAM)
        try:
            _prepare(sock)
            with anyio.move_on_after(ADDRESS_SECONDS_MAX if len(found) > 1 else None):
                await _connect(sock, place)
                return sock
            problem = TimeoutError()
        except OSError as error:
            problem = error
        except BaseException:
            sock.close()
            raise
        sock.close()
    raise problem


def _prepare(sock: socket.socket) -> None:
    sock.setblocking(False)
    sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    # A dead peer is found by the system too: after 30 s without a sign of life.
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
    for name, value in (("TCP_KEEPIDLE", 15), ("TCP_KEEPINTVL", 5), ("TCP_KEEPCNT", 3)):
        if hasattr(socket, name):
            sock.setsockopt(socket.IPPROTO_TCP, getattr(socket, name), value)


async def _connect(sock: socket.socket, place: object) -> None:
    code = sock.connect_ex(place)  # type: ignore[arg-type]
    if code in (errno.EINPROGRESS, errno.EWOULDBLOCK):
        await anyio.wait_writable(sock)
        code = sock.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR)
    if code:
        raise OSError(code, os.strerror(code))


__all__ = ["connect_socket"]
