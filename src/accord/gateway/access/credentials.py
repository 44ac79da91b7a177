"""What a request or a login shows to prove who sends it.  Pure.

What always holds
    * A secret is in no `repr` and in no message.
    * A request without an unambiguous credential has none.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final, Literal

from accord.errors import AccordError, RequestError
from accord.transport.request_headers import is_token
from accord.transport.server.request_guard import is_own_origin
from accord.transport.server.requests import RemoteRequest

TOKEN_CHARS_MAX: Final = 8192
"""A longer token is refused unread.  Real ones have a tenth of it."""

Reason = Literal[
    "missing",
    "malformed",
    "too_long",
    "wrong_scheme",
    "unknown_key",
    "cross_site",
    "unknown_session",
    "not_a_jwt",
    "wrong_algorithm",
    "unknown_kid",
    "bad_signature",
    "expired",
    "not_yet_valid",
    "wrong_issuer",
    "wrong_audience",
    "bad_claims",
    "no_rights",
    "keys_unavailable",
    "another_principal",
]
"""Why credentials were refused: for the log.  The sender is told that they were, and no more."""

Kind = Literal["bearer", "cookie", "api_key", "oauth2"]

_COOKIE_END: Final = re.compile(r"[;,]")


class CredentialRefused(AccordError):
    """The credentials are missing or wrong; `reason` says how."""

    def __init__(self, reason: Reason) -> None:
        super().__init__(f"credentials refused: {reason}")
        self.reason: Reason = reason


@dataclass(frozen=True, slots=True)
class Credential:
    """A secret, and what it claims to be."""

    kind: Kind
    secret: str = field(repr=False)


def read_credential(request: RemoteRequest, cookie_name: str) -> Credential:
    """Return the credential of a request: its bearer token, or the cookie of a browser's session.

    Browsers add a cookie to every request, whoever caused it.  So a cookie counts only if the
    browser also says that a page of this very address sent the request.

    Raises:
        CredentialRefused: there is none, or none that can be used.
    """
    if "authorization" in request.headers:
        # A wrong one is not made up for by a cookie.
        return Credential("bearer", read_bearer(request.headers["authorization"]))
    found = cookie_values(request.headers.get("cookie", ""), cookie_name)
    if not found:
        raise CredentialRefused("missing")
    if len(found) > 1:
        # One of them was put there by somebody else, such as a page of another port.
        raise CredentialRefused("malformed")
    if not is_from_own_page(request):
        raise CredentialRefused("cross_site")
    return Credential("cookie", _checked(found.pop()))


def read_bearer(header: str) -> str:
    """Return the token of an `Authorization` header.

    Raises:
        CredentialRefused: it has another scheme, or no token that can be one.
    """
    scheme, _, token = header.partition(" ")
    if scheme.lower() != "bearer":
        raise CredentialRefused("wrong_scheme")
    # Two headers in one request are joined by a comma and a space, which no token has.
    return _checked(token.strip(" "))


def cookie_values(header: str, name: str) -> set[str]:
    """Return the different values that a `Cookie` header has for a name."""
    found = set()
    # Over HTTP/2 each may come in a header of its own; those are joined by commas here.
    for part in _COOKIE_END.split(header):
        key, equals, value = part.strip().partition("=")
        if equals and key == name:
            found.add(value)
    return found


def is_from_own_page(request: RemoteRequest) -> bool:
    """Whether a browser says that a page of this very address sent a request.

    `Origin` is on every request that changes something and on every upgrade to WebSocket,
    `Sec-Fetch-Site` on all requests of current browsers over TLS or on one computer.
    """
    site, origin = request.headers.get("sec-fetch-site"), request.headers.get("origin")
    if site is None and origin is None:
        return False
    host = request.headers.get("host", "").lower()
    return site in (None, "same-origin") and (
        origin is None or is_own_origin(origin, host, request)
    )


# What clients of the draft call a bearer token; its page names no member.
_MEMBERS: Final[Mapping[str, tuple[Kind, tuple[str, ...]]]] = {
    "api_key": ("api_key", ("apiKey", "api_key", "key")),
    "oauth2": ("oauth2", ("accessToken", "access_token", "token", "bearerToken")),
}

LOGIN_METHODS: Final = frozenset(_MEMBERS)
"""The methods of the draft that a gateway offers; `custom` has no meaning for it."""


def read_draft_login(params: object) -> Credential:
    """Return what `authenticate` of the draft proves.

    Raises:
        RequestError: the parameters are not valid (-32602).
        CredentialRefused: the secret cannot be one.
    """
    if not isinstance(params, Mapping):
        raise RequestError.invalid_params("must be an object")
    method, credentials = params.get("method"), params.get("credentials")
    if not isinstance(method, str):
        raise RequestError.invalid_params("must be a text", "$.method")
    if not isinstance(credentials, Mapping):
        raise RequestError.invalid_params("must be an object", "$.credentials")
    if method not in LOGIN_METHODS:
        raise RequestError.invalid_params("must be api_key or oauth2", "$.method")
    kind, names = _MEMBERS[method]
    given = [credentials[name] for name in names if name in credentials]
    if len(given) != 1 or not isinstance(given[0], str):
        reason = f"must have the member {names[0]}, a text"
        raise RequestError.invalid_params(reason, "$.credentials")
    return Credential(kind, _checked(given[0]))


def _checked(secret: Any) -> str:
    if not secret:
        raise CredentialRefused("missing")
    if len(secret) > TOKEN_CHARS_MAX:
        raise CredentialRefused("too_long")
    if not is_token(secret):
        raise CredentialRefused("malformed")
    return str(secret)


__all__ = [
    "LOGIN_METHODS",
    "Credential",
    "CredentialRefused",
    "Reason",
    "cookie_values",
    "is_from_own_page",
    "read_bearer",
    "read_credential",
    "read_draft_login",
]
