"""The login status that a program reports: whether a login is required, and for whom (unstable)."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from accord.errors import LocalProtocolError

STATES = ("authenticated", "unauthenticated", "not_required", "unknown")


@dataclass(frozen=True, slots=True)
class Account:
    """An account to show to the user.  Several may be active at once."""

    label: str
    active: bool | None = None
    name: str | None = None
    email: str | None = None
    organization: str | None = None


@dataclass(frozen=True, slots=True)
class AuthStatus:
    """The state that clients act on, and the accounts that they may show."""

    state: str
    accounts: tuple[Account, ...] = ()

    def __post_init__(self) -> None:
        if self.state not in STATES and not self.state.startswith("_"):
            raise LocalProtocolError(f"not a state of a login: {self.state!r}")


StatusHook = Callable[[], Awaitable[AuthStatus]]
