"""Why a remote agent could not be reached, in words that say what to do.  Pure."""

import errno
import socket
import ssl
from typing import Final

from accord.errors import ConnectFailed
from accord.machine.console.control_characters import visible_line
from accord.transport.remote_address import RemoteAddress, shown_url
from accord.transport.request_headers import HiddenValues

_UNREACHABLE: Final = frozenset({errno.ENETUNREACH, errno.EHOSTUNREACH, errno.ENETDOWN})
# What OpenSSL says of a certificate, and what helps: an unknown authority, another name, a time.
_OWN_AUTHORITY: Final = (
    "; for one of your own authority, the environment variable SSL_CERT_FILE names its file"
)
_BY_CERTIFICATE: Final = {
    **dict.fromkeys((18, 19, 20, 21), _OWN_AUTHORITY),
    **dict.fromkeys((62, 64), "; use a name that it is for"),
    **dict.fromkeys((9, 10), "; it must be renewed there, if this computer's clock is right"),
}
# How much of a server's own words is shown.
WORDS_CHARS_MAX: Final = 200
_UNAUTHORIZED: Final = 401

_NOT_ACP: Final = (
    "this is not an ACP endpoint (status {status}); check the host, the port and the path"
)
_BY_STATUS: Final = {
    401: "it requires credentials (status 401); give a token, by token or --token-env",
    403: (
        "it refuses this client (status 403); check the token, and the server's lists of origins"
        " and hosts"
    ),
    404: "there is no ACP endpoint at this path (status 404); the usual path is /acp",
    405: _NOT_ACP,
    407: "a proxy on the way requires credentials (status 407); connect without it",
    408: "the request reached it too slowly (status 408); try again",
    410: "the server no longer has this connection (status 410); connect again",
    421: (
        "the server does not answer for this host name (status 421); use the name that it has, or"
        " allow this one there: hosts=… or --allow-host"
    ),
    426: "the server offers no WebSocket here (status 426); use http:// or https://",
    429: "it has too many requests (status 429); try again later",
    501: _NOT_ACP,
    502: "a gateway cannot reach the agent (status 502); try again later",
    503: "it is not ready (status 503); try again later",
    504: "a gateway got no answer from the agent (status 504); try again later",
}
_REFUSED_TOKEN: Final = (
    "it refuses these credentials (status 401); the token may be wrong, revoked or expired"
)


def connect_failed(address: RemoteAddress, error: BaseException) -> ConnectFailed:
    """Return the error for an error of the network or of TLS."""
    return ConnectFailed(f"cannot connect to {address}: {connect_reason(address, error)}")


def connect_reason(address: RemoteAddress, error: BaseException) -> str:
    """Explain an error of the network or of TLS."""
    place = f"port {address.port} of {address.host}"
    plain = "ws" if address.is_web_socket else "http"
    if isinstance(error, ssl.SSLCertVerificationError):
        words = error.verify_message.rstrip(".")
        advice = _BY_CERTIFICATE.get(getattr(error, "verify_code", 0), "")
        return f"the certificate is not valid: {words}{advice}"
    if isinstance(error, ssl.SSLError):
        words = (getattr(error, "reason", None) or "unknown error").replace("_", " ").lower()
        return f"TLS failed ({words}); does {place} speak TLS?  If not, use {plain}://"
    if isinstance(error, socket.gaierror):
        return (
            f"the host name {address.host} cannot be resolved ({error.strerror}); check its"
            " spelling and the network"
        )
    if isinstance(error, ConnectionRefusedError):
        return f"nothing listens on {place} (connection refused); is the server running there?"
    if isinstance(error, TimeoutError):
        return (
            f"{place} did not answer in time (connect_seconds); check the address, and whether a"
            " firewall is in between"
        )
    is_closed = isinstance(error, OSError) and error.errno == errno.ENOTCONN
    if is_closed or isinstance(error, ConnectionError | EOFError):
        return closed_early(address)
    if isinstance(error, OSError) and error.errno in _UNREACHABLE:
        return f"{address.host} is unreachable ({error.strerror}); check the network"
    if isinstance(error, OSError):
        return error.strerror or str(error)
    return str(error) or type(error).__name__


def closed_early(address: RemoteAddress) -> str:
    """Explain a server that closes before it says anything that could be understood."""
    tls = "" if address.is_encrypted else f", and use {address.scheme}s:// if it has TLS"
    return (
        f"port {address.port} of {address.host} closed the connection before it answered; check"
        f" that an ACP server is there{tls}"
    )


def status_refused(address: RemoteAddress, status: int, reason: str) -> ConnectFailed:
    """Return the error for a status code, with the reason of `status_reason`."""
    return ConnectFailed(f"cannot connect to {address}: {reason}", status=status)


def status_reason(
    status: int, hidden: HiddenValues, *, location: str | None = None, body: str = ""
) -> str:
    """Explain a status code with which a server refused; `hidden` is kept out of its words."""
    if status == _UNAUTHORIZED and hidden.has_credentials:
        reason = _REFUSED_TOKEN
    elif status in _BY_STATUS:
        reason = _BY_STATUS[status].format(status=status)
    elif 300 <= status < 400:
        target = "" if location is None else f" to {_plain(hidden.hide(shown_url(location)))}"
        reason = f"it redirects{target} (status {status}); use that URL if you trust it"
    elif status >= 500:
        reason = f"the server failed (status {status}); try again later"
    else:
        reason = _NOT_ACP.format(status=status)
    words = _plain(hidden.hide(body))
    # Pages for people say nothing here.
    if words and not words.startswith("<"):
        reason += f"; it said: {words}"
    return reason


def _plain(text: str) -> str:
    words = visible_line(" ".join(text.split()))
    return words if len(words) <= WORDS_CHARS_MAX else f"{words[:WORDS_CHARS_MAX]}…"


__all__ = ["closed_early", "connect_failed", "connect_reason", "status_reason", "status_refused"]
