"""The current keys of the issuer: fetched when they are needed, and kept for a while.

What always holds
    * Keys are used for at most KEPT_SECONDS_MAX after they were fetched.
    * There is one fetch at a time, and none within ATTEMPT_SECONDS_MIN of the last one: tokens with
      invented key ids cannot make this gateway flood the issuer.
    * A failure is logged and refuses tokens; it never raises anything else.
"""

from __future__ import annotations

import json
import time
from collections.abc import Awaitable, Callable
from typing import Final

import anyio

from accord.errors import LocalProtocolError
from accord.gateway.access.credentials import CredentialRefused
from accord.gateway.access.https_fetch import FetchFailed, fetch
from accord.gateway.access.jwks import BadKeys, KeySet, PublicKey, read_key_set
from accord.gateway.configuration.oauth import DISCOVERY_PATH, OauthSettings
from accord.machine.redacted_logs import logger
from accord.transport.remote_address import parse_address

FRESH_SECONDS: Final = 600.0
"""After this the keys are fetched again, so that a key that was withdrawn is soon unknown here."""
KEPT_SECONDS_MAX: Final = 3600.0
"""How long keys are used if the issuer cannot be reached."""
ATTEMPT_SECONDS_MIN: Final = 30.0
# After a fetch that was cancelled, as by a client that left: the next request tries again soon.
_CANCELLED_SECONDS_MIN: Final = 1.0

Fetch = Callable[[str], Awaitable[bytes]]

_log = logger("accord.gateway")


class IssuerKeys:
    """Guards: the keys and the time at which they were fetched belong together."""

    def __init__(
        self,
        settings: OauthSettings,
        fetch_document: Fetch = fetch,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._settings = settings
        self._fetch = fetch_document
        self._clock = clock
        self._lock = anyio.Lock()
        self._keys = KeySet()
        self._fetched_at: float | None = None
        self._next_attempt: float | None = None

    async def key_for(self, kid: str | None, algorithm: str) -> PublicKey:
        """Return the key for a token.

        Raises:
            CredentialRefused: there is none, or the keys cannot be fetched.
        """
        # While another request fetches them, keys that are not too old will do.
        if self._is_too_old() or (self._age() > FRESH_SECONDS and not self._lock.locked()):
            await self._refresh(older_than=self._fetched_at)
        found = self._usable().choose(kid, algorithm)
        if found is None:
            # The issuer may have a new key.
            await self._refresh(older_than=self._fetched_at)
            found = self._usable().choose(kid, algorithm)
        if found is not None:
            return found
        raise CredentialRefused("keys_unavailable" if self._is_too_old() else "unknown_kid")

    def _age(self) -> float:
        return float("inf") if self._fetched_at is None else self._clock() - self._fetched_at

    def _is_too_old(self) -> bool:
        return self._age() > KEPT_SECONDS_MAX

    def _usable(self) -> KeySet:
        return KeySet() if self._is_too_old() else self._keys

    async def _refresh(self, *, older_than: float | None) -> None:
        """Fetch the keys, unless another request has just done so."""
        async with self._lock:
            if self._fetched_at != older_than:
                return
            if self._next_attempt is not None and self._clock() < self._next_attempt:
                return
            self._next_attempt = self._clock() + _CANCELLED_SECONDS_MIN
            try:
                document = await self._fetch(await self._jwks_url())
                self._keys = read_key_set(document, self._settings.algorithms)
                self._fetched_at = self._clock()
                if not self._keys.keys:
                    _log.warning("the issuer has no key that can be used; see oauth.algorithms")
            except (FetchFailed, BadKeys) as error:
                _log.warning("the keys of the issuer cannot be fetched: %s", error)
            self._next_attempt = self._clock() + ATTEMPT_SECONDS_MIN

    async def _jwks_url(self) -> str:
        settings = self._settings
        if settings.jwks_url is not None:
            return settings.jwks_url
        document = await self._fetch(settings.issuer.removesuffix("/") + DISCOVERY_PATH)
        try:
            found = json.loads(document)
        except (ValueError, RecursionError):
            found = None
        if not isinstance(found, dict) or found.get("issuer") != settings.issuer:
            raise BadKeys("the issuer's own description does not have its name")
        url = found.get("jwks_uri")
        if not isinstance(url, str) or not _is_as_safe(url, settings.issuer):
            raise BadKeys("the issuer's description has no jwks_uri with https://")
        return url


def _is_as_safe(url: str, issuer: str) -> bool:
    """Whether a URL that the issuer names is encrypted, as far as the issuer's own is."""
    try:
        return parse_address(url).scheme == "https" or not parse_address(issuer).is_encrypted
    except LocalProtocolError:
        return False


__all__ = ["Fetch", "IssuerKeys"]
