"""The address of a remote agent: a URL, whether it may be used, and how it is shown.  Pure.

What always holds
    * Plain http and ws lead to this machine only, unless the caller allows more.
    * An address never contains credentials, and what is shown of it has no query.
"""

import re
from dataclasses import dataclass
from ipaddress import IPv6Address, ip_address
from typing import Final, Literal, cast
from urllib.parse import SplitResult, urlsplit

from accord.errors import LocalProtocolError
from accord.machine.console.control_characters import visible_line

Scheme = Literal["ws", "wss", "http", "https"]

SCHEMES: Final = ("https", "http", "wss", "ws")
URL_CHARS_MAX: Final = 8192
_PORTS: Final = {"ws": 80, "http": 80, "wss": 443, "https": 443}
_HOST: Final = re.compile(r"[A-Za-z0-9._-]+\Z|[0-9A-Fa-f:.]+\Z")
# Such as localhost:8000 or agents.example.com/acp, without a scheme.
_HOST_AND_PORT: Final = re.compile(r"[A-Za-z0-9.-]+(:[0-9]+(/|\Z)|\.[a-z]+/)|\[[0-9a-f:]+\]")
_SECURE: Final = {"ws": "wss", "http": "https"}


@dataclass(frozen=True, slots=True)
class RemoteAddress:
    """Where a remote agent is.  Made by `parse_address`."""

    scheme: Scheme
    # In ASCII and without the brackets of an IPv6 address.
    host: str
    port: int
    path: str
    query: str = ""

    @property
    def is_encrypted(self) -> bool:
        """Whether TLS is used."""
        return self.scheme in ("wss", "https")

    @property
    def is_web_socket(self) -> bool:
        """Whether this is a WebSocket; otherwise it is Streamable HTTP."""
        return self.scheme in ("ws", "wss")

    @property
    def is_loopback(self) -> bool:
        """Whether the host is this machine."""
        return is_loopback(self.host)

    @property
    def authority(self) -> str:
        """Host and port as in a `Host` header."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return host if self.port == _PORTS[self.scheme] else f"{host}:{self.port}"

    @property
    def target(self) -> str:
        """Path and query as in a request line."""
        return f"{self.path}?{self.query}" if self.query else self.path

    def __str__(self) -> str:
        """The address for people; the query may hold a secret, and is left out."""
        return f"{self.scheme}://{self.authority}{self.path}"


def is_url(text: str) -> bool:
    """Whether text is the URL of a remote agent rather than a command."""
    scheme, found, _ = text.partition("://")
    return bool(found) and scheme.lower() in SCHEMES


def url_advice(text: str) -> str:
    """Say how a URL begins, for text that looks like one with a mistake; empty for other text."""
    if is_url(text) or not (":/" in text or _HOST_AND_PORT.match(text)):
        return ""
    return "; the URL of an agent begins with https://, wss://, http:// or ws://"


def shown_url(text: str) -> str:
    """Return what may be shown of a text that looks like a URL: nothing that may be a secret."""
    text = re.split(r"[?#]", text, maxsplit=1)[0]
    return re.sub(r"//[^/]*@", "//", text)


def is_loopback(host: str) -> bool:
    """Whether a host is `localhost`, in 127.0.0.0/8, or ::1."""
    if host.lower().removesuffix(".") == "localhost":
        return True
    try:
        address = ip_address(host)
    except ValueError:
        return False
    if isinstance(address, IPv6Address) and address.ipv4_mapped is not None:
        return address.ipv4_mapped.is_loopback
    return address.is_loopback


def parse_address(url: str) -> RemoteAddress:
    """Read the URL of a remote agent.

    Raises:
        LocalProtocolError: it is not such a URL, or it contains credentials.
    """
    if len(url) > URL_CHARS_MAX:
        raise LocalProtocolError(f"the URL is longer than {URL_CHARS_MAX} characters")
    if visible_line(url) != url or any(sign in url for sign in ' \\"<>^`{|}'):
        raise LocalProtocolError("the URL contains characters that a URL cannot have")
    try:
        parts = urlsplit(url)
        host, port = parts.hostname, parts.port
    except ValueError:
        # The reason may quote a password that stands where a port should.
        raise LocalProtocolError(
            "this is not a valid URL; one looks like https://agents.example.com:8443/acp"
        ) from None
    if parts.scheme not in SCHEMES or not host:
        raise LocalProtocolError(
            "the URL of an agent begins with https://, wss://, http:// or ws:// and a host"
        )
    if "@" in parts.netloc:
        raise LocalProtocolError(
            "the URL contains a user name or password; give a token instead, by token or"
            " --token-env"
        )
    return _address(parts, _ascii_host(host), port)


def _address(parts: SplitResult, host: str, port: int | None) -> RemoteAddress:
    if port == 0:
        raise LocalProtocolError("0 is not a port that a server can have")
    path, query = parts.path or "/", parts.query
    if not (path + query).isascii():
        raise LocalProtocolError("letters beyond ASCII in a URL must be percent-encoded")
    return RemoteAddress(
        scheme=cast("Scheme", parts.scheme),
        host=host,
        port=_PORTS[parts.scheme] if port is None else port,
        path=path,
        query=query,
    )


def _ascii_host(host: str) -> str:
    try:
        name = host if host.isascii() else host.encode("idna").decode("ascii")
    except UnicodeError:
        name = ""
    if not _HOST.match(name):
        raise LocalProtocolError(f"{host!r} is not a valid host name")
    return name


def require_encryption(address: RemoteAddress, *, insecure: bool) -> None:
    """Refuse an unencrypted connection to another machine unless the caller allows it.

    Raises:
        LocalProtocolError: it is one, and `insecure` is not set.
    """
    if insecure or address.is_encrypted or address.is_loopback:
        return
    raise LocalProtocolError(
        f"{address} is not encrypted and not on this machine: anybody on the way could read and"
        f" change everything.  Use {_SECURE[address.scheme]}://, or allow it with insecure=True"
        " (--insecure)."
    )


__all__ = [
    "RemoteAddress",
    "Scheme",
    "is_loopback",
    "is_url",
    "parse_address",
    "require_encryption",
    "shown_url",
    "url_advice",
]
