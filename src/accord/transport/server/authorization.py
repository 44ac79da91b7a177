"""The sender of a request, determined for every request and every upgrade.

A connection belongs to the principal that opened it.  To anybody else it does not exist.
"""

import asyncio
import hashlib
import hmac
import inspect
from collections.abc import Awaitable, Callable, Mapping
from typing import Final

from accord.errors import LocalProtocolError
from accord.machine.redacted_logs import logger, place_of
from accord.transport.request_headers import is_token
from accord.transport.server.requests import RemoteRequest

_log = logger("accord.transport")

AuthHook = Callable[[RemoteRequest], "Awaitable[str | None] | str | None"]
"""Returns the name of the user who sends a request, or None to refuse it."""

LOCAL_USER: Final = ""
"""The principal of everybody where no authorisation is asked for."""

UNAUTHORIZED = 401


async def principal_of(
    auth: AuthHook | None, request: RemoteRequest, seconds_max: float
) -> str | None:
    """Return who sends a request, or None if it must be refused."""
    if auth is None:
        return LOCAL_USER
    try:
        answer = auth(request)
        if not inspect.isawaitable(answer):
            return _name(answer)
    except (Exception, asyncio.CancelledError) as error:  # noqa: BLE001 - a check that fails refuses
        return _failed(error)
    check = asyncio.ensure_future(answer)
    try:
        await asyncio.wait({check}, timeout=seconds_max)
    finally:
        # One that goes on although it is cancelled is left behind.
        check.add_done_callback(_forget)
        check.cancel()
    if not check.done():
        _log.error(
            "the auth function did not answer within %g s (the limit auth_seconds); the request"
            " was refused",
            seconds_max,
        )
        return None
    # It may wait for the work of another request, which was cancelled with that one.
    problem = asyncio.CancelledError() if check.cancelled() else check.exception()
    return _name(check.result()) if problem is None else _failed(problem)


def _failed(error: BaseException) -> str | None:
    """Refuse: a check that fails must not end the server."""
    # Its text may quote the token, as a KeyError does.
    _log.error("the auth function failed (%s); the request was refused", place_of(error))
    return None


def _forget(check: asyncio.Future[str | None]) -> None:
    """Take the error of a check that nobody waits for, so that it is not logged with its text."""
    if not check.cancelled():
        check.exception()


def _name(answer: object) -> str | None:
    """Return a name, and nothing else: True and False say nothing about who it is."""
    if answer is None:
        return None
    if not isinstance(answer, str):
        wrong = f"a {type(answer).__name__}"
    elif answer == LOCAL_USER:
        wrong = "an empty name"
    elif not _is_text(answer):
        # As from JSON with an escape of one: no store could keep it.
        wrong = "a name with half of a surrogate pair"
    else:
        return answer
    _log.error(
        "the auth function must return the name of a user, or None to refuse; it returned %s, and"
        " the request was refused",
        wrong,
    )
    return None


def _is_text(name: str) -> bool:
    try:
        name.encode()
    except UnicodeEncodeError:
        return False
    return True


def bearer_tokens(tokens: Mapping[str, str]) -> AuthHook:
    """Return an `auth` function for fixed tokens: token -> name of its owner.

    Raises:
        LocalProtocolError: there is no token, a name is empty, or no client could send a token.
    """
    if not tokens or not all(tokens.values()):
        raise LocalProtocolError("bearer_tokens needs at least one token, and a name for each")
    if not all(map(is_token, tokens)):
        raise LocalProtocolError("a token is visible ASCII without spaces, and not empty")
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
