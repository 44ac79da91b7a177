"""Logs in to an agent of the 2026-02 draft, which requires a credential that may expire.

The credential is the program's, or the user's, or in the environment of this process for an agent
that inherits that anyway.

What always holds
    * A secret is sent to the agent and goes nowhere else: it is in no text of any object here.
    * Logging in again before a login expires is tried once per login; when it fails that is logged,
      and the agent says itself what follows.
"""

from datetime import UTC, datetime
from typing import Any

import anyio

from accord.client.callbacks import call
from accord.client.connection.agent_connection import AgentLink
from accord.client.credential import Credential, from_environment
from accord.client.wire.draft.wire import kept_details
from accord.errors import AccordError, AuthenticationRequired, LocalProtocolError
from accord.machine import clock
from accord.machine.redacted_logs import logger
from accord.machine.redaction.redactor import Redactor
from accord.schema.codec import to_python
from accord.translate.draft.agent.initialize_and_login import LOGIN_REFUSED

_log = logger("accord.client")

# How long before its end a login is renewed; of a short one, after half of it.
RENEWAL_SECONDS = 60.0
# An agent whose logins end at once is not asked more often than this.
RENEWAL_SECONDS_MIN = 1.0
# Longer waits than this are not begun: the clock may be set meanwhile.
RENEWAL_SECONDS_MAX = 86_400.0


class LoginRefused(AccordError):
    """The agent did not take the credential; the message is its own."""


class DraftLogin:
    """The logins of one connection.  Guards: one is renewed at a time."""

    def __init__(self, link: AgentLink[Any], *, inherits: bool) -> None:
        """`inherits`: the agent is a program of ours and has our environment."""
        self._link = link
        self._inherits = inherits
        # Cancelled when another login has taken the place of the one that would be renewed.
        self._renewal: anyio.CancelScope | None = None

    async def log_in(self) -> bool:
        """Send a credential; False where there is none.

        Raises:
            LoginRefused: the agent did not take it.
        """
        credential = await self._credential()
        if credential is None:
            return False
        assert self._link.translation is not None, (
            "only agents of the draft are logged in to by a credential"
        )
        self._link.translation.keep(dict(credential.secrets))
        try:
            answer = await self._link.call(*self._link.wire.login(credential.method))
        except AuthenticationRequired as error:
            if error.reason != LOGIN_REFUSED["reason"]:
                raise
            # Some programs quote what they refuse.
            known = (one for one in credential.secrets.values() if isinstance(one, str))
            said = Redactor(known).line(error.message)
            raise LoginRefused(f"the agent refused the login: {said}") from None
        expires = kept_details(to_python(answer)).get("expiresAt")
        self._renew_before(expires if isinstance(expires, str) else None)
        return True

    async def _credential(self) -> Credential | None:
        chosen = self._link.options.draft.credential
        if chosen is None:
            return from_environment() if self._inherits else None
        if isinstance(chosen, Credential):
            return chosen
        found = await call(chosen)
        if found is not None and not isinstance(found, Credential):
            # Its text may be the secret itself.
            kind = type(found).__name__
            raise LocalProtocolError(f"`credential` returned a {kind}, not a Credential")
        return found

    def _renew_before(self, expires_at: str | None) -> None:
        if self._renewal is not None:
            self._renewal.cancel()
            self._renewal = None
        if expires_at is None:
            return
        seconds = seconds_to_renewal(expires_at, clock.now())
        if seconds is None:
            self._link.connection.tolerate(
                "AuthenticateResponse: expiresAt is not a date and time", kind="expiresAt"
            )
        elif seconds <= RENEWAL_SECONDS_MAX:
            scope = self._renewal = anyio.CancelScope()
            self._link.connection.run(lambda: self._renew(scope, seconds))

    async def _renew(self, scope: anyio.CancelScope, seconds: float) -> None:
        with scope:
            await anyio.sleep(max(seconds, RENEWAL_SECONDS_MIN))
            if self._renewal is scope:
                # From here on it is the login that counts, which may begin the next renewal.
                self._renewal = None
            try:
                await self.log_in()
            except AccordError as error:
                _log.warning("logging in again before the login expires failed: %s", error)


def seconds_to_renewal(expires_at: str, now: datetime) -> float | None:
    """How long to wait before a login is renewed; None where the time cannot be read."""
    try:
        end = datetime.fromisoformat(expires_at)
    except ValueError:
        return None
    if end.tzinfo is None:
        end = end.replace(tzinfo=UTC)
    left = (end - now).total_seconds()
    return max(left - RENEWAL_SECONDS, left / 2, 0.0)
