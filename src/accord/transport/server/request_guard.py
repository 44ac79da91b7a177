"""Which requests may come in at all, before anything of them is parsed.  Pure.

A web page may send requests to any address that its reader's computer can reach, and a name that
the page controls may suddenly mean that computer.  Neither can forge `Origin` and `Host`.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from ipaddress import ip_address
from typing import Final, NamedTuple

from accord.errors import LocalProtocolError
from accord.transport.server.requests import RemoteRequest

LOOPBACK_HOSTS: Final = ("localhost", "127.0.0.1", "[::1]")
ANY: Final = "*"
PROXY_HEADERS: Final = ("forwarded", "via", "x-forwarded-for", "x-real-ip")
"""Headers of requests that somebody else has sent on."""

# A name or an address of version 4, or one of version 6, and perhaps a port.  No client sends more.
_HOST: Final = re.compile(r"([a-z0-9._-]+|\[[0-9a-f:.]+(%[^]]+)?\])(:[0-9]{1,5})?\Z")

FORBIDDEN = 403
MISDIRECTED = 421


class Refusal(NamedTuple):
    """The status of a refused request, the reason for its sender, and perhaps more headers."""

    status: int
    reason: str
    headers: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class RequestGuard:
    """The names under which the application is served, and whose web pages may use it.

    An entry of `hosts` without a port stands for every port.  `loopback_only` serves clients on
    this computer alone.
    """

    hosts: frozenset[str]
    origins: frozenset[str]
    loopback_only: bool

    def refusal(self, request: RemoteRequest) -> Refusal | None:
        """Say why a request is refused; None if it is not."""
        if self.loopback_only and not _is_local(request):
            return Refusal(FORBIDDEN, "Only clients on this computer are served without auth")
        host = request.headers.get("host", "").lower()
        if not self._knows(host):
            return Refusal(MISDIRECTED, "This host name is not served here; see the option hosts")
        origin = request.headers.get("origin")
        if (
            origin is not None
            and not self.allows(origin)
            and not is_own_origin(origin, host, request)
        ):
            return Refusal(FORBIDDEN, "Web pages of this origin are refused; see origins")
        return None

    def allows(self, origin: str) -> bool:
        """Whether web pages of another origin may use the application."""
        return origin.lower() in self.origins

    def _knows(self, host: str) -> bool:
        return ANY in self.hosts or host in self.hosts or without_port(host) in self.hosts


def guard_of(
    hosts: Iterable[str] | None, origins: Iterable[str] | None, *, has_auth: bool
) -> RequestGuard:
    """Make a guard from what a program asks for.

    Raises:
        LocalProtocolError: a list is one string, a host or an origin is not one, or any host is
            allowed without authorisation.
    """
    named = _names(hosts, "hosts") or LOOPBACK_HOSTS
    for host in named:
        if host != ANY and not _HOST.match(host):
            raise LocalProtocolError(
                "a host is a name as in a URL, such as agents.example.com or [::1], perhaps with a"
                f" port: {host!r}"
            )
    if ANY in named and not has_auth:
        raise LocalProtocolError(
            "hosts may be '*' only with auth, since any web page could connect"
        )
    allowed = _names(origins, "origins")
    for origin in allowed:
        scheme, found, rest = origin.partition("://")
        if scheme not in ("http", "https") or not found or not rest or "/" in rest or "*" in rest:
            raise LocalProtocolError(
                f"an origin looks like https://example.com, with no path and no '*': {origin!r}"
            )
    return RequestGuard(frozenset(named), frozenset(allowed), not has_auth)


def _names(given: Iterable[str] | None, what: str) -> tuple[str, ...]:
    if isinstance(given, str):
        raise LocalProtocolError(f"{what} must be a list of strings: {given!r}")
    return tuple(name.lower() for name in given or ())


def without_port(host: str) -> str:
    """Return the name or address of a `Host` header, without its port."""
    name, found, port = host.rpartition(":")
    return name if found and port.isdecimal() and not name.endswith(":") else host


def is_loopback(address: str | None) -> bool:
    """Whether an address is this computer's own.  A Unix socket has no address."""
    if not address or address.startswith(("/", "unix:")):
        return True
    try:
        parsed = ip_address(address.partition("%")[0])
    except ValueError:
        return False
    mapped = getattr(parsed, "ipv4_mapped", None)
    return (mapped or parsed).is_loopback


def _is_local(request: RemoteRequest) -> bool:
    """Whether a request comes from this computer, and not through a proxy on it."""
    return is_loopback(request.client) and not any(
        name in request.headers for name in PROXY_HEADERS
    )


def is_own_origin(origin: str, host: str, request: RemoteRequest) -> bool:
    """Whether a page comes from the very address that it sends its request to.

    A page without TLS is not of a server with it: anybody on the way could have written it.  The
    other way round, a proxy in front of us may have the TLS.
    """
    scheme, _, rest = origin.lower().partition("://")
    allowed = ("https",) if request.is_encrypted else ("http", "https")
    return scheme in allowed and rest == host


__all__ = [
    "LOOPBACK_HOSTS",
    "Refusal",
    "RequestGuard",
    "guard_of",
    "is_loopback",
    "is_own_origin",
    "without_port",
]
