"""The headers that a caller adds to the requests of a remote connection.  Pure.

What always holds: headers that come out are valid, and none of them changes how the connection
works.
"""

import re
from collections.abc import Mapping, Sequence
from typing import Final

from accord.errors import LocalProtocolError

_NAME: Final = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]+\Z")
# Visible ASCII, and spaces and tabs inside.
_VALUE: Final = re.compile(r"(?:[!-~](?:[ \t!-~]*[!-~])?)?\Z")
_PLAIN_VALUE: Final = re.compile(r"[!-~](?:[ !-~]*[!-~])?\Z")
_TOKEN: Final = re.compile(r"[!-~]+\Z")
# Headers that belong to the transports.
_OWN: Final = frozenset(
    {
        *("accept", "accept-encoding", "connection", "content-length", "content-type", "expect"),
        *("host", "keep-alive", "last-event-id", "te", "trailer", "transfer-encoding", "upgrade"),
    }
)
_NOT_SECRET: Final = frozenset({"user-agent", "origin", "accept-language"})
_SECRET_CHARS_MIN: Final = 4
_OWN_PREFIXES: Final = ("acp-", "accord-", "sec-websocket-", "proxy-")


def fits_header(text: str) -> bool:
    """Whether a text can be a value that both sides read alike: visible ASCII, spaces inside."""
    return _PLAIN_VALUE.match(text) is not None


def is_token(text: object) -> bool:
    """Whether a text can be a bearer token: visible ASCII without spaces."""
    return isinstance(text, str) and _TOKEN.match(text) is not None


def request_headers(
    token: str | None = None, headers: Mapping[str, str] | None = None
) -> tuple[tuple[str, str], ...]:
    """Return the headers to send: those of the caller, and a bearer token.

    Raises:
        LocalProtocolError: a header is not valid, belongs to the transport, or comes twice.
    """
    found: dict[str, tuple[str, str]] = {}
    for name, value in (headers or {}).items():
        _check(name, value)
        if name.lower() in found:
            raise LocalProtocolError(f"the header {name} is given twice")
        found[name.lower()] = (name, value)
    if token is not None:
        _check_token(token)
        if "authorization" in found:
            raise LocalProtocolError("a token and the header Authorization cannot be used together")
        found["authorization"] = ("Authorization", f"Bearer {token}")
    return tuple(found.values())


class HiddenValues:
    """The values of the caller's headers, kept out of texts that quote a server.

    A server may repeat what it was sent.
    """

    def __init__(self, headers: Sequence[tuple[str, str]]) -> None:
        values = {value for name, value in headers if name.lower() not in _NOT_SECRET}
        values |= {value.rpartition(" ")[2] for value in values}
        # Shorter ones would hide ordinary words.
        self._values = sorted(filter(lambda one: len(one) >= _SECRET_CHARS_MIN, values), key=len)
        self._values.reverse()
        self.has_credentials = any(name.lower() == "authorization" for name, _ in headers)

    def hide(self, text: str) -> str:
        """Return a text without them."""
        # Loaded only when something failed: its patterns take a while to compile.
        from accord.machine.redaction.secret_patterns import MARK

        for value in self._values:
            text = text.replace(value, MARK)
        return text


def _check_token(token: object) -> None:
    if not is_token(token):
        raise LocalProtocolError("a token is visible ASCII without spaces, and not empty")


def _check(name: object, value: object) -> None:
    if not isinstance(name, str) or not _NAME.match(name):
        raise LocalProtocolError(f"{name!r} is not the name of a header")
    # The value may be a secret, and is not shown.
    if not isinstance(value, str) or not _VALUE.match(value):
        raise LocalProtocolError(f"the value of the header {name} is not plain ASCII text")
    if name.lower() in _OWN or name.lower().startswith(_OWN_PREFIXES):
        raise LocalProtocolError(f"the header {name} belongs to the transport")


__all__ = ["HiddenValues", "is_token", "request_headers"]
