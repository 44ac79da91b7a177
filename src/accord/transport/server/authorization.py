"""Who sends a request: asked for every request, and for every upgrade.

A connection belongs to the principal that opened it.  To anybody else it does not exist.
"""

import hashlib
import hmac
import inspect
from collections.abc import Awaitable, Callable, Mapping
from typing import Final

from accord.errors import LocalProtocolError
from accord.machine.redacted_logs import logger
from accord.transport.server.requests import RemoteRequest

_log = logger("accord.transport")

AuthHook = Callable[[RemoteRequest], "Awaitable[str | None] | str | None"]
"""Returns the name of the user who sends a request, or None to refuse it."""

LOCAL_USER: Final = ""
"""The principal of everybody where no authorisation is asked for."""

UNAUTHORIZED = 401


async def principal_of(auth: AuthHook | None, request: RemoteRequest) -> str | None:
    """Return who sends a request, or None if it must be refused."""
    if auth is None:
        return LOCAL_USER
    try:
        answer = auth(request)
        principal = await answer if inspect.isawaitable(answer) else answer
    except Exception:  # noqa: BLE001 - a failing check must refuse, and must not end the server
        _log.exception("the auth function failed; the request was refused")
        return None
    if principal == LOCAL_USER:
        _log.error("the auth function returned an empty name; the request was refused")
        return None
    return principal


def bearer_tokens(tokens: Mapping[str, str]) -> AuthHook:
    """Return an `auth` function for fixed tokens: token -> name of its owner.

    Raises:
        LocalProtocolError: there is no token, or a token or a name is empty.
    """
    if not tokens or not all(token and name for token, name in tokens.items()):
        raise LocalProtocolError("bearer_tokens needs at least one token, and a name for each")
    # Digests have equal lengths, so that comparing them takes the same time for every token.
    owners = {_digest(token): name for token, name in tokens.items()}

    def auth(request: RemoteRequest) -> str | None:
        given = request.bearer_token
        if given is None:
            return None
        digest, found = _digest(given), None
        for known, name in owners.items():
            if hmac.compare_digest(known, digest):
                found = name
        return found

    return auth


def _digest(token: str) -> bytes:
    return hashlib.sha256(token.encode("utf-8", "surrogateescape")).digest()


__all__ = ["LOCAL_USER", "AuthHook", "bearer_tokens", "principal_of"]
