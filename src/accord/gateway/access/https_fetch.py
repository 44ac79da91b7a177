"""Fetches a small document of an identity provider over HTTPS.

What always holds
    * Plain HTTP leads to this computer only, and a redirect is not followed.
    * A document has at most DOCUMENT_BYTES_MAX, and fetching it takes at most FETCH_SECONDS_MAX.
"""

from __future__ import annotations

import ssl
from typing import Final

import anyio
from anyio.abc import ByteStream

from accord.errors import LocalProtocolError
from accord.transport.http.connections.h1_response import (
    BadResponse,
    ResponseEnd,
    ResponseHead,
    ResponseReader,
)
from accord.transport.remote_address import RemoteAddress, parse_address
from accord.version import __version__

DOCUMENT_BYTES_MAX: Final = 256 * 1024
HEADER_BYTES_MAX: Final = 16 * 1024
FETCH_SECONDS_MAX: Final = 10.0
OK: Final = 200


class FetchFailed(Exception):
    """The document could not be fetched; the message says why and quotes nothing of it."""


async def fetch(url: str, *, tls: ssl.SSLContext | None = None) -> bytes:
    """Return the document at a URL.  `tls` replaces the system's certificates.

    Raises:
        FetchFailed: it could not be fetched.
    """
    address = _address(url)
    context = None
    if address.is_encrypted:
        context = tls or ssl.create_default_context()
    try:
        with anyio.fail_after(FETCH_SECONDS_MAX):
            return await _fetch(address, context)
    except TimeoutError:
        raise FetchFailed(f"{address} took longer than {FETCH_SECONDS_MAX:g} s") from None
    except ssl.SSLError as error:
        raise FetchFailed(f"{address} has no valid certificate: {error.reason}") from None
    except OSError as error:
        raise FetchFailed(f"{address} cannot be reached: {error.strerror or error}") from None
    except (anyio.EndOfStream, anyio.BrokenResourceError):
        raise FetchFailed(f"{address} closed the connection") from None
    except BadResponse as error:
        raise FetchFailed(f"{address}: {error}") from None


def _address(url: str) -> RemoteAddress:
    try:
        address = parse_address(url)
    except LocalProtocolError as error:
        raise FetchFailed(str(error)) from None
    if address.scheme == "https" or (address.scheme == "http" and address.is_loopback):
        return address
    raise FetchFailed(f"{address} is not https://")


async def _fetch(address: RemoteAddress, tls: ssl.SSLContext | None) -> bytes:
    stream: ByteStream
    if tls is None:
        stream = await anyio.connect_tcp(address.host, address.port)
    else:
        # Servers of HTTP often close without a goodbye of TLS; the length of an answer is checked.
        stream = await anyio.connect_tcp(
            address.host, address.port, ssl_context=tls, tls_standard_compatible=False
        )
    async with stream:
        lines = (
            f"GET {address.target} HTTP/1.1",
            f"host: {address.authority}",
            "accept: application/json",
            "connection: close",
            f"user-agent: accord/{__version__}",
            *("", ""),
        )
        await stream.send("\r\n".join(lines).encode("latin-1"))
        return await _read(stream, address)


async def _read(stream: ByteStream, address: RemoteAddress) -> bytes:
    reader = ResponseReader(header_bytes_max=HEADER_BYTES_MAX)
    reader.expect()
    body = bytearray()
    while True:
        try:
            events = reader.feed(await stream.receive())
        except anyio.EndOfStream:
            events = reader.finish()
        for event in events:
            if isinstance(event, ResponseHead) and event.status != OK:
                raise FetchFailed(f"{address} answered with status {event.status}")
            if isinstance(event, bytes):
                body += event
                if len(body) > DOCUMENT_BYTES_MAX:
                    raise FetchFailed(f"{address} sends more than {DOCUMENT_BYTES_MAX} bytes")
            if isinstance(event, ResponseEnd):
                return bytes(body)


__all__ = ["FetchFailed", "fetch"]
