"""The address of a judged server, and the headers that the kit sends to it."""

from __future__ import annotations

import ssl
from collections.abc import Mapping
from dataclasses import dataclass, field
from ipaddress import ip_address
from typing import Literal
from urllib.parse import urlsplit

Transport = Literal["stdio", "http", "websocket"]
# By scheme: the transport, whether it has TLS, and its usual port.
SCHEMES: dict[str, tuple[Transport, bool, int]] = {
    "http": ("http", False, 80),
    "https": ("http", True, 443),
    "ws": ("websocket", False, 80),
    "wss": ("websocket", True, 443),
}


@dataclass(frozen=True, slots=True)
class Address:
    """A URL in its parts."""

    url: str
    transport: Transport
    tls: bool
    host: str
    port: int
    target: str

    @property
    def authority(self) -> str:
        """The value of the header `Host`."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        usual = self.port == SCHEMES["https" if self.tls else "http"][2]
        return host if usual else f"{host}:{self.port}"

    @property
    def is_loopback(self) -> bool:
        """Whether the address is on this machine."""
        if self.host == "localhost" or self.host.endswith(".localhost"):
            return True
        try:
            return ip_address(self.host).is_loopback
        except ValueError:
            return False

    def client_tls(self, *protocols: str) -> ssl.SSLContext | None:
        """Return the TLS context of a client that offers these protocols; None without TLS."""
        if not self.tls:
            return None
        context = ssl.create_default_context()
        context.minimum_version = ssl.TLSVersion.TLSv1_2
        context.set_alpn_protocols(list(protocols))
        return context


def read_address(url: str) -> Address:
    """Parse a URL.

    Raises:
        ValueError: it is not one of these schemes, or has no host.
    """
    parts = urlsplit(url)
    if parts.scheme not in SCHEMES or not parts.hostname:
        raise ValueError(f"{url!r} is not a URL of {', '.join(SCHEMES)}")
    transport, tls, usual = SCHEMES[parts.scheme]
    target = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
    port = usual if parts.port is None else parts.port
    return Address(url, transport, tls, parts.hostname, port, target)


@dataclass(frozen=True, slots=True)
class RemoteServer:
    """A judged server: its address, the user's headers, and those of another user, if known."""

    address: Address
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    other_headers: Mapping[str, str] | None = field(default=None, repr=False)

    @property
    def has_credentials(self) -> bool:
        return bool(self.headers)
