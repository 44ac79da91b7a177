"""The transport for a URL: WebSocket for ws and wss, Streamable HTTP for http and https.

What always holds: nothing is sent before the address and the headers have been checked, and an
unencrypted connection does not leave this machine unless the caller allows it.
"""

from collections.abc import Callable, Mapping

from accord.errors import ConfigError
from accord.transport.remote_address import RemoteAddress, parse_address, require_encryption
from accord.transport.remote_limits import RemoteLimits
from accord.transport.request_headers import request_headers
from accord.transport.transport import Transport


def remote_address(url: str, *, insecure: bool = False) -> RemoteAddress:
    """Read a URL and check that it may be used.

    Raises:
        LocalProtocolError: it is not the URL of an agent, or would send everything unencrypted to
            another machine.
    """
    address = parse_address(url)
    require_encryption(address, insecure=insecure)
    return address


def remote_transport(
    url: str,
    *,
    token: str | None = None,
    headers: Mapping[str, str] | None = None,
    insecure: bool = False,
    limits: RemoteLimits | None = None,
) -> Callable[[], Transport]:
    """Return a function that makes a transport to the agent at a URL.

    Raises:
        LocalProtocolError: the URL, the token or a header is not valid.
        ConfigError: the packages for remote agents are not installed.
    """
    address = remote_address(url, insecure=insecure)
    given = request_headers(token, headers)
    checked = (limits or RemoteLimits()).checked()
    make = _web_socket if address.is_web_socket else _http
    try:
        transport_class = make()
    except ImportError as error:
        raise ConfigError(
            f"remote agents need the package {error.name}; install accord[remote]"
        ) from None

    def transport() -> Transport:
        made: Transport = transport_class(address, headers=given, limits=checked)
        return made

    return transport


def _web_socket() -> Callable[..., Transport]:
    from accord.transport.websocket.client import WebSocketTransport

    return WebSocketTransport


def _http() -> Callable[..., Transport]:
    from accord.transport.http.client import HttpTransport

    return HttpTransport


__all__ = ["remote_address", "remote_transport"]
