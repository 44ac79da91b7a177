"""Tickets: each logs one browser in, once and soon, instead of a token.

A browser that we open gets its URL as an argument, and other users of the machine can read command
lines.  A ticket that they find there is used already, or over.

What always holds: of a ticket only its hash is kept, and nothing but a login takes it.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable
from typing import Final

from accord.gateway.access.api_keys import digest_of

TICKET_SECONDS: Final = 60.0
"""A browser that is opened for the first time takes some of them."""
TICKETS_MAX: Final = 16
_VALUE_BYTES: Final = 32


class LoginTickets:
    """The tickets that were made and not used; the oldest of too many is forgotten."""

    def __init__(self, *, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._tickets: dict[bytes, tuple[str, float]] = {}

    def make(self, token: str) -> str:
        """Make a ticket that stands for a token."""
        while len(self._tickets) >= TICKETS_MAX:
            del self._tickets[next(iter(self._tickets))]
        ticket = secrets.token_urlsafe(_VALUE_BYTES)
        self._tickets[digest_of(ticket)] = (token, self._clock() + TICKET_SECONDS)
        return ticket

    def redeem(self, secret: str) -> str:
        """Return the token of a ticket, which is over with that; anything else as it is."""
        token, ends_at = self._tickets.pop(digest_of(secret), (secret, 0.0))
        return token if self._clock() < ends_at else secret


__all__ = ["TICKETS_MAX", "TICKET_SECONDS", "LoginTickets"]
