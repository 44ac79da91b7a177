"""Logins of the 2026-02 draft: a method, its credentials, and the time at which the login expires.

What always holds
    * Credentials go to the program's own function and nowhere else: no log, no trace, no error
      and no `repr` has them.
    * A wrong secret is an answer, `success: false`; an error is for what cannot be asked.
    * A login that has expired is none: the next session or prompt is refused with -32001.
"""

from __future__ import annotations

import sys
import traceback
from collections.abc import Iterator, Mapping
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

from accord.agent.login import Credentials, Login
from accord.errors import AccordError, LocalProtocolError, RequestError
from accord.jsonrpc.error_codes import AUTH_REQUIRED
from accord.machine import clock
from accord.machine.redaction.redactor import Redactor
from accord.schema.codec import encode
from accord.translate.meta_store import DRAFT

if TYPE_CHECKING:
    from accord.agent.callbacks import Guard
    from accord.agent.serving.login_state import LoginState
    from accord.connection import IncomingRequest
    from accord.connection.connection import Work

METHODS = frozenset({"api_key", "oauth2", "custom"})
# A shorter text could be part of any sentence.
SECRET_CHARACTERS_MIN = 4


class Logins:
    """The login of one connection."""

    def __init__(self, state: LoginState, guard: Guard) -> None:
        self._state = state
        self._guard = guard
        self._agent = state.agent

    def authenticate(
        self, request: IncomingRequest, method: str, secrets: Mapping[str, Any]
    ) -> Work:
        """The work of `authenticate`; a login that fails is refused with the reason."""
        self._check(method)
        credentials, state = Credentials(secrets), self._state

        async def work() -> bytes:
            try:
                expires = await self._log_in(request, method, credentials)
            except Exception as error:  # noqa: BLE001 - whatever it was, the login did not work
                state.authenticated = False
                text = _hidden(_said(error, credentials), credentials)
                raise RequestError(AUTH_REQUIRED, text) from None
            state.authenticated, state.expires = True, expires
            if expires is None:
                return b"{}"
            return encode({"_meta": {DRAFT: {"expiresAt": _said_time(expires)}}})

        return work

    def _check(self, method: str) -> None:
        """The draft's three, where the program reads credentials; else the program's own."""
        known = self._agent.auth_methods.get(method)
        if known is not None and not known.is_terminal:
            return
        if self._agent.reads_credentials and method in METHODS:
            return
        if not self._agent.reads_credentials and not self._agent.auth_methods:
            raise RequestError(
                -32601, "this agent has no logins", {"reason": "capability_not_supported"}
            )
        raise RequestError.invalid_params(f"unknown auth method {method!r}", "$.method")

    async def _log_in(
        self, request: IncomingRequest, method: str, credentials: Credentials
    ) -> datetime | None:
        hook = self._agent.authenticate_hook
        if hook is None:
            return None
        login = Login(self._state.connection, self._state.wire, request, method)
        try:
            return expiry(await self._guard.run(hook(method, login, credentials)))
        finally:
            login.finish()


def expiry(value: Any) -> datetime | None:
    """When a login ends, from what the program's function returned.

    Raises:
        LocalProtocolError: it is not a time.
    """
    if value is None:
        return None
    if isinstance(value, timedelta):
        return clock.now() + value
    if isinstance(value, str):
        try:
            value = datetime.fromisoformat(value)
        except ValueError:
            raise LocalProtocolError(f"{value!r} is not a time in ISO 8601") from None
    if not isinstance(value, datetime):
        raise LocalProtocolError(
            "a login function returns the time at which the login expires: a datetime, a timedelta,"
            " a text in ISO 8601, or None"
        )
    return value.replace(tzinfo=UTC) if value.tzinfo is None else value.astimezone(UTC)


def _said_time(when: datetime) -> str:
    return when.isoformat(timespec="seconds").replace("+00:00", "Z")


def _said(error: Exception, credentials: Mapping[str, Any]) -> str:
    """Return the error for the client; an unexpected one goes to stderr, for its author."""
    from accord.machine.console.control_characters import visible

    if isinstance(error, RequestError):
        return error.message
    if isinstance(error, AccordError | ValueError | PermissionError) and str(error):
        return str(error)
    text = visible(_hidden("".join(traceback.format_exception(error)), credentials))
    with suppress(OSError, ValueError, AttributeError):
        sys.stderr.write(f"accord: while logging in\n{text}")
        sys.stderr.flush()
    return "the login failed because of an error in the agent"


def _hidden(text: str, credentials: Mapping[str, Any]) -> str:
    """The text without any of the secrets."""
    return Redactor(_texts(credentials)).line(text)


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        if len(value) >= SECRET_CHARACTERS_MIN:
            yield value
    elif isinstance(value, Mapping):
        for one in value.values():
            yield from _texts(one)
    elif isinstance(value, list):
        for one in value:
            yield from _texts(one)
