"""Why a remote agent could not be reached, in words that say what to do.  Pure."""

import errno
import socket
import ssl
from typing import Final

from accord.errors import ConnectFailed
from accord.machine.console.control_characters import visible_line
from accord.transport.remote_address import RemoteAddress

_UNREACHABLE: Final = frozenset({errno.ENETUNREACH, errno.EHOSTUNREACH, errno.ENETDOWN})
# How much of a server's own words is shown.
WORDS_CHARS_MAX: Final = 200

_BY_STATUS: Final = {
    401: "it wants credentials (status 401); give a token: token=… or --token-env",
    403: "it refuses these credentials, or this client (status 403)",
    404: "there is no ACP endpoint at this path (status 404); the usual path is /acp",
    407: "a proxy on the way wants credentials (status 407)",
    410: "the server no longer has this connection (status 410)",
    421: "the server does not answer for this host name (status 421)",
    429: "it has too many requests (status 429); try again later",
    503: "it is not ready (status 503); try again later",
}


def connect_failed(address: RemoteAddress, error: BaseException) -> ConnectFailed:
    """Explain an error of the network or of TLS."""
    return ConnectFailed(f"cannot connect to {address}: {_reason(address, error)}")


def _reason(address: RemoteAddress, error: BaseException) -> str:
    place = f"port {address.port} of {address.host}"
    if isinstance(error, ssl.SSLCertVerificationError):
        return f"the certificate is not valid: {error.verify_message.rstrip('.')}"
    if isinstance(error, ssl.SSLError):
        words = (getattr(error, "reason", None) or "unknown error").replace("_", " ").lower()
        return f"TLS failed ({words}); does {place} speak TLS?"
    if isinstance(error, socket.gaierror):
        return f"the host name {address.host} cannot be resolved ({error.strerror})"
    if isinstance(error, ConnectionRefusedError):
        return f"nothing listens on {place} (connection refused)"
    if isinstance(error, TimeoutError):
        return f"{place} did not answer in time"
    if isinstance(error, ConnectionError | EOFError):
        return f"{place} closed the connection before it answered"
    if isinstance(error, OSError) and error.errno in _UNREACHABLE:
        return f"{address.host} is unreachable ({error.strerror})"
    if isinstance(error, OSError):
        return error.strerror or str(error)
    return str(error) or type(error).__name__


def status_refused(
    address: RemoteAddress, status: int, *, location: str | None = None, body: str = ""
) -> ConnectFailed:
    """Explain a status code with which a server refused to connect."""
    if status in _BY_STATUS:
        reason = _BY_STATUS[status]
    elif 300 <= status < 400:
        target = "" if location is None else f" to {_plain(location)}"
        reason = f"it redirects{target} (status {status}); use that URL if you trust it"
    elif status >= 500:
        reason = f"the server failed (status {status})"
    else:
        reason = f"this is not an ACP endpoint (status {status})"
    words = _plain(body)
    if words:
        reason += f"; it said: {words}"
    return ConnectFailed(f"cannot connect to {address}: {reason}", status=status)


def _plain(text: str) -> str:
    words = visible_line(" ".join(text.split()))
    return words if len(words) <= WORDS_CHARS_MAX else f"{words[:WORDS_CHARS_MAX]}…"


__all__ = ["connect_failed", "status_refused"]
