"""Sessions of browsers: a cookie instead of a token, which a page cannot send with a WebSocket.

A page exchanges the token for the cookie once and forgets it.  Scripts cannot read the cookie, and
the browser sends it with requests of this site only.

What always holds
    * Of a cookie only its hash is kept.
    * A session ends after SESSION_SECONDS_MAX, with its token, at logout, and when it is the oldest
      of more than PER_PRINCIPAL_MAX.
"""

from __future__ import annotations

import secrets
import time
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from accord.gateway.access.api_keys import digest_of
from accord.gateway.access.principal import Principal

SESSION_SECONDS_MAX: Final = 12 * 3600.0
PER_PRINCIPAL_MAX: Final = 20
"""So many browsers of one principal; the oldest has to log in again."""
SESSIONS_MAX: Final = 10_000
_VALUE_BYTES: Final = 32


@dataclass(frozen=True, slots=True)
class BrowserSession:
    """A session; `key` is the digest of the API key that it was made with, if it was one."""

    principal: Principal
    key: bytes | None
    ends_at: float


class BrowserSessions:
    """The sessions of this process: after a restart, browsers log in again."""

    def __init__(
        self, *, is_secure: bool, port: int, clock: Callable[[], float] = time.monotonic
    ) -> None:
        # Browsers accept the name with the prefix only over TLS and for no other host.  Cookies do
        # not tell ports apart, so without TLS the name does, also where the port is chosen later.
        place = port or secrets.token_hex(4)
        self.cookie_name = "__Host-accord" if is_secure else f"accord-{place}"
        self._is_secure = is_secure
        self._clock = clock
        # The oldest first.
        self._sessions: OrderedDict[bytes, BrowserSession] = OrderedDict()

    def __len__(self) -> int:
        return len(self._sessions)

    def begin(self, principal: Principal, key: bytes | None, seconds: float | None) -> str:
        """Begin a session of at most this many seconds; return the header that sets its cookie."""
        self._forget_old()
        own = [
            digest
            for digest, session in self._sessions.items()
            if session.principal.name == principal.name
        ]
        for digest in own[: max(0, len(own) + 1 - PER_PRINCIPAL_MAX)]:
            del self._sessions[digest]
        while len(self._sessions) >= SESSIONS_MAX:
            self._sessions.popitem(last=False)
        lasts = SESSION_SECONDS_MAX if seconds is None else min(seconds, SESSION_SECONDS_MAX)
        value = secrets.token_urlsafe(_VALUE_BYTES)
        session = BrowserSession(principal, key, self._clock() + lasts)
        self._sessions[digest_of(value)] = session
        return self._cookie(value, int(lasts))

    def find(self, value: str) -> BrowserSession | None:
        """Return the session of a cookie; None if it is unknown or over."""
        session = self._sessions.get(digest_of(value))
        if session is None or session.ends_at <= self._clock():
            return None
        return session

    def end(self, value: str) -> None:
        """End the session of a cookie."""
        self._sessions.pop(digest_of(value), None)

    def end_those_of_tokens(self) -> None:
        """End all sessions that did not begin with an API key."""
        for digest in [digest for digest, one in self._sessions.items() if one.key is None]:
            del self._sessions[digest]

    def forgetting_cookie(self) -> str:
        """Return the header that removes the cookie from the browser."""
        return self._cookie("", 0)

    def _cookie(self, value: str, seconds: int) -> str:
        secure = "; Secure" if self._is_secure else ""
        return (
            f"{self.cookie_name}={value}; Path=/; Max-Age={seconds}; HttpOnly;"
            f" SameSite=Strict{secure}"
        )

    def _forget_old(self) -> None:
        now = self._clock()
        over = [digest for digest, one in self._sessions.items() if one.ends_at <= now]
        for digest in over:
            del self._sessions[digest]


__all__ = ["BrowserSession", "BrowserSessions"]
